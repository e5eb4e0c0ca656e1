package outreach

// Sequence is how far outreach to a prospect has come, suppression aside.
type Sequence string

// The states of a sequence. Suppressed is what is shown of any of them while a suppression is in
// force; when it lapses, the state below is there again.
const (
	NotStarted Sequence = "not_started"
	Active     Sequence = "active"
	Replied    Sequence = "replied"
	Exhausted  Sequence = "exhausted"
	Suppressed Sequence = "suppressed"
)

// States lists what is shown of sequences.
var States = []Sequence{NotStarted, Active, Replied, Exhausted, Suppressed}

// Trigger is what moves a sequence.
type Trigger string

// The triggers.
const (
	Sent      Trigger = "sent"       // an outbound touch with further steps to come
	SentLast  Trigger = "sent_last"  // the outbound touch of the last step
	Received  Trigger = "received"   // an inbound touch: what it says is for a reply
	Agreed    Trigger = "agreed"     // a positive reply
	Declined  Trigger = "declined"   // a reply that refuses, or a message that came back
	Away      Trigger = "away"       // an automatic reply
	Withdrawn Trigger = "suppressed" // SuppressProspect
)

// Effect is what a trigger does to suppressions.
type Effect int

// The effects.
const (
	Keep     Effect = iota
	Suppress        // adds one
	Lift            // ends those that have a date
)

// transition is where a trigger leads.
type transition struct {
	Next Sequence
	Effect
}

// transitions is the state machine. A touch while suppressed counts as a step, and does not
// end the suppression. A positive reply ends suppressions with a date, because the person took the
// conversation up; those for good end only when the row that made them is taken back.
var transitions = map[Sequence]map[Trigger]transition{
	NotStarted: {Sent: {Active, Keep}, SentLast: {Exhausted, Keep}, Received: {NotStarted, Keep}, Agreed: {Replied, Lift}, Declined: {NotStarted, Suppress}, Away: {NotStarted, Keep}, Withdrawn: {NotStarted, Suppress}},
	Active:     {Sent: {Active, Keep}, SentLast: {Exhausted, Keep}, Received: {Active, Keep}, Agreed: {Replied, Lift}, Declined: {Active, Suppress}, Away: {Active, Keep}, Withdrawn: {Active, Suppress}},
	Exhausted:  {Sent: {Active, Keep}, SentLast: {Exhausted, Keep}, Received: {Exhausted, Keep}, Agreed: {Replied, Lift}, Declined: {Exhausted, Suppress}, Away: {Exhausted, Keep}, Withdrawn: {Exhausted, Suppress}},
	Replied:    {Sent: {Replied, Keep}, SentLast: {Replied, Keep}, Received: {Replied, Keep}, Agreed: {Replied, Lift}, Declined: {Replied, Suppress}, Away: {Replied, Keep}, Withdrawn: {Replied, Suppress}},
}

// NotNowDays is how long not_now suppresses without a date.
const NotNowDays = 90

// DefaultLength is how many steps a sequence has that says nothing of it.
const DefaultLength = 5

// waits is how many days after each step the next one is due; the last counts for all that follow.
var waits = []int{3, 4, 7, 7, 14}
