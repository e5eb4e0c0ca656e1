package prospects

import (
	"context"
	"time"

	"vitrine/library"
	"vitrine/op"
	"vitrine/outreach"
	"vitrine/store"
)

type suppressInput struct {
	op.TenantInput
	OfProspect
	Reason string `json:"reason" enum:"unsubscribe,wrong_person,not_now,not_interested"`
	Until  string `json:"suppressed_until,omitempty" maxLength:"10" doc:"YYYY-MM-DD, the first day without it. Default: 90 days of not_now, else for good."`
	Recorded
}

// Validate implements op.Validator.
func (in *suppressInput) Validate() []library.FieldError {
	clean(&in.Until)
	return checkFuture("suppressed_until", in.Until)
}

func (s *Service) suppressProspect() op.Operation {
	return op.Define(op.Meta{
		Name: "SuppressProspect", Title: "Suppress a prospect", Domain: op.Outreach,
		Doc:    "Keeps outreach from a prospect until a day, or for good. Of several suppressions the one that lasts longest counts; UndoOperation takes one back.",
		Method: "POST", Path: "/api/v1/prospects/{prospect_h}/suppressions", Permission: library.PermWrite, Idempotent: true,
		Example: map[string]any{"prospect_h": exampleProspect, "reason": "not_now", "suppressed_until": "2999-01-01", "record_source": exampleSource},
	}, func(ctx context.Context, actor library.Actor, in suppressInput) (Written, error) {
		now := time.Now()
		x := outreach.Refusal(outreach.Reply{Classification: outreach.Classification(in.Reason), SuppressedUntil: in.Until}, now)
		done, err := s.Store.Prospects.Add(ctx, actor, in.hash(), store.NewProspectRow{Source: in.source(), Body: outreach.Body{Suppression: &x}}, nil)
		if err != nil {
			return Written{}, err
		}
		out := describeWrite(done)
		out.Warnings.Warnings = []Warning{} // that it is suppressed is what was asked for
		return out, nil
	})
}
