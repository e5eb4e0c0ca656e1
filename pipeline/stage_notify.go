package pipeline

import (
	"fmt"

	"vitrine/library"
	"vitrine/op"
	"vitrine/store"
)

// notify emits an event.
type notify struct {
	EventType  string         `json:"event_type,omitempty" enum:"pipeline.notified,pipeline.completed,pipeline.failed" default:"pipeline.notified" doc:"The type of the event; webhooks subscribe to types."`
	Data       map[string]any `json:"data,omitempty" doc:"What to send along."`
	WebhookIDs []string       `json:"webhook_ids,omitempty" maxItems:"20" doc:"Only these webhooks."`
	Confirm    bool           `json:"confirm,omitempty" doc:"Must be true in a real run."`
}

var kindNotify = newKind[notify](Kind{Type: "notify", Category: Output, Doc: "Emits an event with the run's counts, which webhooks deliver.", Args: []string{"event_type"}, confirm: true,
	Example: map[string]any{"event_type": "pipeline.notified", "data": map[string]any{"channel": "reviews"}, "confirm": true}})

func (s *notify) check(c *checking) (errs []library.FieldError) {
	for i, id := range s.WebhookIDs {
		if len(id) > 100 {
			errs = append(errs, library.FieldError{Field: fmt.Sprintf("%s.webhook_ids[%d]", c.at, i), Code: "length", Message: "Expected at most 100 characters."})
		}
	}
	return append(errs, op.CheckObject(c.at+".data", s.Data, op.ObjectLimits{Bytes: 8 << 10, Depth: 8, Keys: 200})...)
}

func (s *notify) once() {}

// output emits the event and marks the stage as through in one transaction, so it is emitted once.
func (s *notify) output(x *exec, t *store.Tx) error {
	r := x.claim.PipelineRun
	r.Progress.Assets = x.inputCount()
	if err := t.Notify(x.ctx, s.EventType, r, s.Data, s.WebhookIDs); err != nil {
		return err
	}
	x.trace().Effects = []library.StageEffect{{Kind: s.EventType, Count: 1}}
	return nil
}
