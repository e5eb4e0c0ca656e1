package prospects

import (
	"context"

	"vitrine/library"
	"vitrine/op"
	"vitrine/outreach"
	"vitrine/store"
)

type stageInput struct {
	op.TenantInput
	OfProspect
	Pipeline         string   `json:"pipeline" enum:"community,enterprise,investor"`
	Stage            string   `json:"stage,omitempty" maxLength:"100" doc:"Free text. Default: as it is, at first the pipeline's first stage."`
	NextFollowUp     string   `json:"next_follow_up,omitempty" maxLength:"10" doc:"YYYY-MM-DD."`
	FirmName         string   `json:"firm_name,omitempty" maxLength:"200"`
	InvestorType     string   `json:"investor_type,omitempty" maxLength:"100" doc:"Such as angel, vc or family_office."`
	InvestmentAmount *float64 `json:"investment_amount,omitempty" minimum:"0" maximum:"1000000000000"`
	Round            string   `json:"round,omitempty" maxLength:"100" doc:"Such as seed."`
	SEISEISStatus    string   `json:"seis_eis_status,omitempty" maxLength:"100" doc:"Such as advance_assurance."`
	Recorded
}

// Validate implements op.Validator.
func (in *stageInput) Validate() []library.FieldError {
	clean(&in.Stage, &in.NextFollowUp, &in.FirmName, &in.InvestorType, &in.Round, &in.SEISEISStatus)
	errs := checkDate("next_follow_up", in.NextFollowUp)
	if in.Pipeline != "investor" && (in.FirmName+in.InvestorType+in.Round+in.SEISEISStatus != "" || in.InvestmentAmount != nil) {
		errs = append(errs, library.FieldError{Field: "pipeline", Code: "conflict", Message: "firm_name, investor_type, investment_amount, round and seis_eis_status are of the pipeline investor."})
	}
	return errs
}

type stageOutput struct {
	Written
	Contact Contact `json:"contact"`
}

func (s *Service) setContactStage() op.Operation {
	return op.Define(op.Meta{
		Name: "SetContactStage", Title: "Set a contact's stage", Domain: op.Outreach,
		Doc:    "Records where a prospect stands in a pipeline of contacts, and makes it a contact of that pipeline if it is none. Fields that are left out stay as they are.",
		Method: "PUT", Path: "/api/v1/prospects/{prospect_h}/contact", Permission: library.PermWrite, Idempotent: true, RESTOnly: true,
		Example: map[string]any{"prospect_h": exampleProspect, "pipeline": "investor", "stage": "meeting", "firm_name": "Example Ventures", "next_follow_up": "2027-03-01", "record_source": exampleSource},
	}, func(ctx context.Context, actor library.Actor, in stageInput) (stageOutput, error) {
		now, err := s.Store.Prospects.State(ctx, actor, in.hash())
		if err != nil {
			return stageOutput{}, err
		}
		c := &outreach.Contact{ContactH: library.NewContactHash(now.Hash, in.Pipeline), Pipeline: in.Pipeline, Stage: in.Stage, NextFollowUp: in.NextFollowUp,
			FirmName: in.FirmName, InvestorType: in.InvestorType, InvestmentAmount: in.InvestmentAmount, Round: in.Round, SEISEISStatus: in.SEISEISStatus}
		if c.Stage == "" && now.ContactIn(in.Pipeline) == nil {
			c.Stage = outreach.FirstStage(in.Pipeline)
		}
		done, err := s.Store.Prospects.Add(ctx, actor, in.hash(), store.NewProspectRow{Source: in.source(), Body: outreach.Body{Contact: c}}, nil)
		if err != nil {
			return stageOutput{}, err
		}
		return stageOutput{describeWrite(done), describeContact(done.ContactIn(in.Pipeline).Contact)}, nil
	})
}
