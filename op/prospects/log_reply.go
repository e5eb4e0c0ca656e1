package prospects

import (
	"context"
	"time"

	"vitrine/library"
	"vitrine/op"
	"vitrine/outreach"
	"vitrine/store"
)

type replyFields struct {
	Classification  string     `json:"classification" enum:"positive,not_now,wrong_person,unsubscribe,not_interested,bounced,ooo"`
	Text            string     `json:"text,omitempty" maxLength:"10000"`
	ReceivedAt      *time.Time `json:"received_at,omitempty" doc:"Default: now."`
	Channel         string     `json:"channel,omitempty" enum:"email,linkedin,discord,github,contact_form,other"`
	RefusalClass    string     `json:"refusal_class,omitempty" enum:"T,P" doc:"T: timing, P: problem. Only of a refusal."`
	SuppressedUntil string     `json:"suppressed_until,omitempty" maxLength:"10" doc:"YYYY-MM-DD, of not_now and not_interested."`
	Pipeline        string     `json:"pipeline,omitempty" enum:"community,enterprise,investor" doc:"Where a positive reply leads. Default: enterprise."`
	ExternalID      string     `json:"external_id,omitempty" id:"none" maxLength:"500" doc:"The message's id: a second reply with it is not logged."`
}

type replyInput struct {
	op.TenantInput
	OfProspect
	Reply replyFields `json:"reply" tool:"open" doc:"classification (positive, not_now, wrong_person, unsubscribe, not_interested, bounced, ooo); text, received_at, channel, refusal_class (T timing, P problem), suppressed_until, pipeline, external_id."`
	Recorded
}

// Validate implements op.Validator.
func (in *replyInput) Validate() []library.FieldError {
	r := &in.Reply
	clean(&r.ExternalID, &r.SuppressedUntil)
	class := outreach.Classification(r.Classification)
	errs := append(checkHappened("reply.received_at", r.ReceivedAt), checkFuture("reply.suppressed_until", r.SuppressedUntil)...)
	if r.RefusalClass != "" && !class.Refuses() {
		errs = append(errs, library.FieldError{Field: "reply.refusal_class", Code: "conflict", Message: "It is allowed with a refusal only: not_now, wrong_person, unsubscribe or not_interested.", Hint: "Leave it out, or correct the classification."})
	}
	if r.SuppressedUntil != "" && class != outreach.NotNow && class != outreach.NotInterested {
		errs = append(errs, library.FieldError{Field: "reply.suppressed_until", Code: "conflict", Message: "It is allowed with not_now and not_interested only; other refusals suppress for good."})
	}
	if r.Pipeline != "" && class != outreach.Positive {
		errs = append(errs, library.FieldError{Field: "reply.pipeline", Code: "conflict", Message: "It is allowed with a positive reply only."})
	}
	return errs
}

type replyOutput struct {
	Written
	ReplyID int64        `json:"reply_id"`
	Exists  bool         `json:"already_logged" doc:"A reply with this external_id is there. Nothing was written."`
	Contact *ContactLink `json:"contact_link" required:"true" nullable:"true" doc:"The contact that a positive reply made of the prospect."`
}

func (s *Service) logReply() op.Operation {
	return op.Define(op.Meta{
		Name: "LogReply", Title: "Log a reply", Domain: op.Outreach,
		Doc: "Appends a prospect's reply. positive makes the prospect a contact of a pipeline; not_now suppresses for 90 days, other refusals and bounced for good; ooo changes nothing.",
		More: "A positive reply ends suppressions that have a date, because the person took the conversation up; one for good ends only when the operation that made it is undone. " +
			"In the order of received_at, however late replies are logged.",
		Method: "POST", Path: "/api/v1/prospects/{prospect_h}/replies", Permission: library.PermWrite, Chained: true,
		Example: map[string]any{"prospect_h": exampleProspect, "reply": map[string]any{"classification": "positive", "text": "Tell me more.", "pipeline": "enterprise", "external_id": "<2@mail.example.com>"}, "record_source": exampleSource},
	}, func(ctx context.Context, actor library.Actor, in replyInput) (replyOutput, error) {
		r := in.Reply
		reply := &outreach.Reply{Classification: outreach.Classification(r.Classification), Text: r.Text, Channel: r.Channel, RefusalClass: r.RefusalClass, SuppressedUntil: r.SuppressedUntil}
		done, err := s.Store.Prospects.Add(ctx, actor, in.hash(), store.NewProspectRow{At: at(r.ReceivedAt), Source: in.source(), ExternalID: r.ExternalID, Body: outreach.Body{Reply: reply}},
			func(now store.ProspectState) []store.NewProspectRow { return handOff(now, r, in.source()) })
		if err != nil {
			return replyOutput{}, err
		}
		return replyOutput{describeWrite(done), done.Row.ID, done.Existing, linkOf(&done.State)}, nil
	})
}

// handOff returns the row that makes a prospect who said yes a contact, unless it is one of
// that pipeline already.
func handOff(now store.ProspectState, r replyFields, source string) []store.NewProspectRow {
	pipeline := r.Pipeline
	if pipeline == "" {
		pipeline = outreach.DefaultPipeline
	}
	if r.Classification != string(outreach.Positive) || now.ContactIn(pipeline) != nil {
		return nil
	}
	return []store.NewProspectRow{{Source: source, Body: outreach.Body{Contact: &outreach.Contact{ContactH: library.NewContactHash(now.Hash, pipeline), Pipeline: pipeline, Stage: outreach.FirstStage(pipeline)}}}}
}
