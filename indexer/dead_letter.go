package indexer

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"vitrine/internal/kafkaclient"
	"vitrine/mappings"
	"vitrine/store"
)

// newDeadLetter is the message about a document that the index takes in no form.
func newDeadLetter(it *item) kafkaclient.Message {
	k := it.row.AssetKey
	value, _ := json.Marshal(Event{Tenant: k.Tenant, Hash: k.Hash, DocVersion: it.version, Reason: "refused", At: time.Now().UTC()})
	return kafkaclient.Message{Key: []byte(mappings.DocID(k.Tenant, k.Hash)), Value: value, Reason: it.reason}
}

// publishDeadLetters publishes dead letters. Their topic is made where a rebuild, which
// does not read from Kafka, is the first to need it.
func (x *Indexer) publishDeadLetters(ctx context.Context, letters []kafkaclient.Message) error {
	err := x.deadLetters.Publish(ctx, letters)
	if err != nil {
		return errors.Join(err, ensureTopics(ctx, x.store, x.kafka, x.cfg))
	}
	return nil
}

// replayBatch is how many failures are put back into the outbox at once.
const replayBatch = 500

// ReplayFailures puts every asset with a refused document back into the outbox
// and reports how many there were. Each is read from PostgreSQL again, so what
// was mended since is indexed as it is now; what is refused again stays listed.
func ReplayFailures(ctx context.Context, st *store.Store) (int, error) {
	total := 0
	var after store.AssetKey
	for {
		page, err := st.IndexFailures.List(ctx, after, replayBatch)
		if err != nil || len(page) == 0 {
			return total, err
		}
		assets := make([]store.AssetVersion, len(page))
		for i, f := range page {
			assets[i] = f.AssetVersion
		}
		if err := st.Outbox.EnqueueReindex(ctx, ReasonReplay, assets); err != nil {
			return total, err
		}
		total += len(page)
		after = page[len(page)-1].AssetKey
	}
}
