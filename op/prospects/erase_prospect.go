package prospects

import (
	"context"

	"vitrine/library"
	"vitrine/op"
)

type eraseInput struct {
	op.TenantInput
	OfProspect
}

type eraseOutput struct {
	Erased  bool  `json:"erased"`
	Records int   `json:"records" doc:"Of the person, merged ones included."`
	Rows    int64 `json:"rows"`
}

func (s *Service) eraseProspect() op.Operation {
	return op.Define(op.Meta{
		Name: "EraseProspect", Title: "Erase a prospect", Domain: op.Outreach,
		Doc: "Removes for good all that is known of a person: every row of all records, keys, documents of the index and kept responses. Nothing brings it back.",
		More: "Salted hashes of the personal keys stay, so that the person is suppressed for good when registered again. The journal, the audit trail and events never had the values. " +
			"Backups that were made before still have them until their retention is over.",
		Method: "DELETE", Path: "/api/v1/prospects/{prospect_h}", Permission: library.PermAdmin, Destructive: true, RESTOnly: true,
		Example: map[string]any{"prospect_h": exampleProspect},
	}, func(ctx context.Context, actor library.Actor, in eraseInput) (eraseOutput, error) {
		done, err := s.Store.Prospects.Erase(ctx, actor, in.hash())
		if err != nil {
			return eraseOutput{}, err
		}
		return eraseOutput{Erased: true, Records: len(done.Records), Rows: done.Rows}, nil
	})
}
