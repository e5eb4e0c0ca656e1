package library

import "time"

// Operation is one executed write.
type Operation struct {
	ID         string
	Tool       string
	Permission Permission // what it needed; its undo needs the same
	ActorKind  ActorKind
	ActorID    string
	RequestID  string // empty where there was no request
	At         time.Time
	UndoneBy   string           // the operation that undid it; empty when it stands
	Undoes     string           // the operation that it undid; empty when it is no undo
	Changes    map[string]int64 // how many things it changed, per noun
}

// The outcomes of an undo for one thing.
const (
	OutcomeReverted = "reverted" // all is as it was before
	OutcomePartial  = "partial"  // some fields were changed again since and stay
	OutcomeKept     = "kept"     // it was changed again since and stays
	OutcomeGone     = "gone"     // it, or what it belongs to, does not exist any more
	OutcomeConflict = "conflict" // as it was it cannot be: its name is taken, for example
)

// Outcome is what an undo did to one thing.
type Outcome struct {
	Noun    string `json:"noun"`
	Key     string `json:"key"`
	Name    string `json:"name,omitempty"` // what people call it, where it has a name
	Outcome string `json:"outcome"`
	Reason  string `json:"reason,omitempty"` // why it is not, or not all, as before
}
