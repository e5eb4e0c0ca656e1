// Package prospects holds the operations on outreach and contacts. One file per operation; what
// the rows of a prospect add up to is computed in package outreach.
package prospects

import (
	"strings"
	"time"
	"unicode/utf8"

	"vitrine/library"
	"vitrine/op"
	"vitrine/op/indextoken"
	"vitrine/outreach"
	"vitrine/query/run"
	"vitrine/store"
)

// Service is what the operations of this package work with.
type Service struct {
	Store    *store.Store
	Searcher *run.Searcher
	Await    indextoken.Shown // nil: nothing is ever shown
}

// Operations lists this package's operations.
func (s *Service) Operations() []op.Operation {
	return []op.Operation{s.registerProspect(), s.setProspectOwner(), s.logOutreachTouch(), s.getProspectState(), s.searchProspects(), s.suppressProspect(),
		s.logReply(), s.searchContacts(), s.setContactStage(), s.eraseProspect()}
}

// What stands for a prospect, a row of one and a source in examples.
const (
	exampleProspect = "3f9a1c7e5b2d4860917a3c5e7f9b1d2f4a6c8e0b"
	exampleRow      = exampleProspect + "/1042"
	exampleSource   = "spring fair"
)

// OfProspect is embedded by inputs that name a prospect.
type OfProspect struct {
	ProspectH string `json:"prospect_h" id:"prospect"`
}

func (in OfProspect) hash() library.ProspectHash {
	return library.ProspectHash(strings.ToLower(in.ProspectH))
}

// Recorded is embedded by inputs of writes: every row says where it comes from.
type Recorded struct {
	RecordSource string `json:"record_source" minLength:"1" maxLength:"200" doc:"Where this comes from, such as the name of an import or agent."`
}

func (in Recorded) source() string { return strings.TrimSpace(in.RecordSource) }

// Suppression is a suppression as it is shown.
type Suppression struct {
	Reason     string  `json:"reason"`
	Until      *string `json:"suppressed_until" required:"true" nullable:"true" doc:"The first day without it, UTC; null: for good."`
	RecordedAt string  `json:"recorded_at,omitempty" doc:"Of those that SuppressProspect made."`
}

func describeSuppression(x *outreach.Suppression) *Suppression {
	if x == nil {
		return nil
	}
	out := &Suppression{Reason: x.Reason}
	if x.Until != "" {
		out.Until = &x.Until
	}
	return out
}

// Sequence is where outreach to a prospect stands.
type Sequence struct {
	Status      string       `json:"status" enum:"not_started,active,replied,exhausted,suppressed"`
	Step        int          `json:"step" doc:"The last step that was sent."`
	Length      int          `json:"sequence_length"`
	LastTouchAt *time.Time   `json:"last_touch_at" required:"true" nullable:"true"`
	LastReplyAt *time.Time   `json:"last_reply_at" required:"true" nullable:"true"`
	NextDueAt   *time.Time   `json:"next_due_at" required:"true" nullable:"true" doc:"When the next step is due; null: none is."`
	Suppression *Suppression `json:"suppression" required:"true" nullable:"true" doc:"The one in force; null: none."`
}

func describeSequence(s *outreach.State, now time.Time) Sequence {
	return Sequence{Status: string(s.Status(now)), Step: s.Step, Length: s.Length, LastTouchAt: utc(s.LastTouch), LastReplyAt: utc(s.LastReply), NextDueAt: utc(s.NextDue()),
		Suppression: describeSuppression(s.Suppressed(now))}
}

func utc(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	u := t.UTC()
	return &u
}

// Warnings say what a write met that its caller should know.
type Warnings struct {
	Warnings []Warning `json:"warnings" doc:"PROSPECT_SUPPRESSED: do not write to this person. PROSPECTS_MERGED: records were found to be one person."`
}

// Warning is one thing that a caller should know.
type Warning struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// suppressedWarning warns of a prospect that must not be written to.
func suppressedWarning(s *outreach.State, now time.Time) []Warning {
	switch x := s.Suppressed(now); {
	case x == nil:
		return []Warning{}
	case x.Until == "":
		return []Warning{{"PROSPECT_SUPPRESSED", "The prospect is suppressed for good (" + x.Reason + "). Do not write to this person."}}
	default:
		return []Warning{{"PROSPECT_SUPPRESSED", "The prospect is suppressed until " + x.Until + " (" + x.Reason + "). Do not write to this person before."}}
	}
}

// Written is embedded by outputs of writes.
type Written struct {
	ProspectH library.ProspectHash `json:"prospect_h"`
	State     Sequence             `json:"state"`
	Warnings
	op.Undoable
	op.Indexed
}

func describeWrite(done store.ProspectChange) Written {
	now := time.Now()
	return Written{done.Hash, describeSequence(&done.State, now), Warnings{suppressedWarning(&done.State, now)}, op.Undoable{OperationID: done.OperationID}, op.Indexed{IndexToken: done.OperationID}}
}

// clean trims texts in place.
func clean(texts ...*string) {
	for _, t := range texts {
		*t = strings.TrimSpace(*t)
	}
}

// cleanList trims the texts of a list and leaves out those that are empty.
func cleanList(list []string) []string {
	var out []string
	for _, s := range list {
		if s = strings.TrimSpace(s); s != "" {
			out = append(out, s)
		}
	}
	return out
}

// checkDate refuses what is no day.
func checkDate(field, date string) []library.FieldError {
	if date == "" {
		return nil
	}
	if t, err := time.Parse(outreach.DateForm, date); err != nil || t.Year() < 1900 || t.Year() > 9999 {
		return []library.FieldError{{Field: field, Code: "format", Message: "Expected a day as YYYY-MM-DD."}}
	}
	return nil
}

// checkFuture refuses a day that is over: a suppression until then would do nothing.
func checkFuture(field, date string) []library.FieldError {
	if errs := checkDate(field, date); errs != nil || date == "" {
		return errs
	}
	if date <= time.Now().UTC().Format(outreach.DateForm) {
		return []library.FieldError{{Field: field, Code: "range", Message: "The day must be in the future.", Hint: "To end a suppression, undo the operation that made it with UndoOperation."}}
	}
	return nil
}

// maxAhead is how far ahead of us a clock may be that says when something happened.
const maxAhead = 24 * time.Hour

// checkHappened refuses a time that is still to come.
func checkHappened(field string, at *time.Time) []library.FieldError {
	if at == nil || at.Before(time.Now().Add(maxAhead)) && at.Year() >= 1970 {
		return nil
	}
	return []library.FieldError{{Field: field, Code: "range", Message: "Expected a time in the past, since 1970."}}
}

func at(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.UTC()
}

// checkLengths refuses texts of a list that are too long.
func checkLengths(field string, list []string, most int) (errs []library.FieldError) {
	for _, s := range list {
		if utf8.RuneCountInString(s) > most {
			return []library.FieldError{{Field: field, Code: "length", Message: "One of the texts is too long."}}
		}
	}
	return nil
}
