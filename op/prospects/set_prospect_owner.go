package prospects

import (
	"context"
	"strings"

	"vitrine/library"
	"vitrine/op"
	"vitrine/outreach"
	"vitrine/store"
)

type ownerInput struct {
	op.TenantInput
	OfProspect
	Owner string `json:"owner" id:"none" maxLength:"200" doc:"Empty: nobody."`
	Recorded
}

type ownerOutput struct {
	Written
	Owner *string `json:"owner" required:"true" nullable:"true"`
}

func (s *Service) setProspectOwner() op.Operation {
	return op.Define(op.Meta{
		Name: "SetProspectOwner", Title: "Set a prospect's owner", Domain: op.Outreach,
		Doc:    "Records who looks after a prospect from now on. Touches stay as they are.",
		Method: "PUT", Path: "/api/v1/prospects/{prospect_h}/owner", Permission: library.PermWrite, Idempotent: true,
		Example: map[string]any{"prospect_h": exampleProspect, "owner": "grace", "record_source": exampleSource},
	}, func(ctx context.Context, actor library.Actor, in ownerInput) (ownerOutput, error) {
		owner := strings.TrimSpace(in.Owner)
		done, err := s.Store.Prospects.Add(ctx, actor, in.hash(), store.NewProspectRow{Source: in.source(), Body: outreach.Body{Owner: &owner}}, nil)
		if err != nil {
			return ownerOutput{}, err
		}
		return ownerOutput{describeWrite(done), ownerOf(&done.State)}, nil
	})
}

func ownerOf(s *outreach.State) *string {
	if s.Owner == "" {
		return nil
	}
	return &s.Owner
}
