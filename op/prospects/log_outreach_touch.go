package prospects

import (
	"context"
	"time"

	"vitrine/library"
	"vitrine/op"
	"vitrine/outreach"
	"vitrine/store"
)

type touchFields struct {
	Channel        string     `json:"channel" enum:"email,linkedin,discord,github,contact_form,other"`
	Direction      string     `json:"direction,omitempty" enum:"outbound,inbound" default:"outbound"`
	Subject        string     `json:"subject,omitempty" maxLength:"1000"`
	Body           string     `json:"body,omitempty" maxLength:"10000"`
	TemplateID     string     `json:"template_id,omitempty" id:"none" maxLength:"200"`
	SentAt         *time.Time `json:"sent_at,omitempty" doc:"Default: now."`
	Step           int        `json:"step,omitempty" minimum:"1" maximum:"1000" doc:"Default: the next one."`
	SequenceLength int        `json:"sequence_length,omitempty" minimum:"1" maximum:"1000" doc:"Steps in all. Default: as before, at first 5."`
	NextDueAt      *time.Time `json:"next_due_at,omitempty" doc:"Default: some days later."`
	ExternalID     string     `json:"external_id,omitempty" id:"none" maxLength:"500" doc:"The message's id: a second touch with it is not logged."`
}

type touchInput struct {
	op.TenantInput
	OfProspect
	Touch touchFields `json:"touch" tool:"open" doc:"channel (email, linkedin, discord, github, contact_form, other); direction, subject, body, template_id, sent_at, step, sequence_length, next_due_at, external_id (a second touch with it is not logged)."`
	Recorded
}

// Validate implements op.Validator.
func (in *touchInput) Validate() []library.FieldError {
	clean(&in.Touch.ExternalID, &in.Touch.TemplateID)
	errs := checkHappened("touch.sent_at", in.Touch.SentAt)
	if due := in.Touch.NextDueAt; due != nil && (due.Year() < 1970 || due.Year() > 9998) {
		errs = append(errs, library.FieldError{Field: "touch.next_due_at", Code: "range", Message: "Expected a time since 1970."})
	}
	return errs
}

type touchOutput struct {
	Written
	TouchID int64 `json:"touch_id"`
	Exists  bool  `json:"already_logged" doc:"A touch with this external_id is there. Nothing was written."`
}

func (s *Service) logOutreachTouch() op.Operation {
	return op.Define(op.Meta{
		Name: "LogOutreachTouch", Title: "Log a touch", Domain: op.Outreach,
		Doc: "Appends a message to a prospect's log. An outbound one advances the sequence by a step. A suppressed prospect stays suppressed, with the warning PROSPECT_SUPPRESSED.",
		More: "The sequence is exhausted with the touch of its last step. The next step is due 3, 4, 7, 7 and then 14 days after the one before, unless next_due_at says otherwise. " +
			"Touches count in the order of sent_at, however late they are logged.",
		Method: "POST", Path: "/api/v1/prospects/{prospect_h}/touches", Permission: library.PermWrite, Chained: true,
		Example: map[string]any{"prospect_h": exampleProspect, "touch": map[string]any{"channel": "email", "subject": "Your renders", "external_id": "<1@mail.example.com>"}, "record_source": exampleSource},
	}, func(ctx context.Context, actor library.Actor, in touchInput) (touchOutput, error) {
		t := in.Touch
		touch := &outreach.Touch{Channel: t.Channel, Direction: t.Direction, Subject: t.Subject, Body: t.Body, TemplateID: t.TemplateID, Step: t.Step, SequenceLength: t.SequenceLength, NextDueAt: utc(t.NextDueAt)}
		done, err := s.Store.Prospects.Add(ctx, actor, in.hash(), store.NewProspectRow{At: at(t.SentAt), Source: in.source(), ExternalID: t.ExternalID, Body: outreach.Body{Touch: touch}}, nil)
		if err != nil {
			return touchOutput{}, err
		}
		return touchOutput{describeWrite(done), done.Row.ID, done.Existing}, nil
	})
}
