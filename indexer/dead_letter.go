package indexer

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"vitrine/internal/kafkaclient"
	"vitrine/store"
	"vitrine/store/indexstate"
)

// newDeadLetter is the message about a document that the index takes in no form.
func newDeadLetter(index string, it *item) kafkaclient.Message {
	k := it.row.DocumentKey
	value, _ := json.Marshal(Event{Index: index, Tenant: k.Tenant, Key: k.Key, DocVersion: it.version, Reason: "refused", At: time.Now().UTC()})
	return kafkaclient.Message{Key: messageKey(index, k), Value: value, Reason: it.reason}
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

// ReplayFailures puts every refused document, of any index, back into the outbox
// and reports how many there were. Each is read from PostgreSQL again, so what
// was mended since is indexed as it is now; what is refused again stays listed.
func (x *Indexer) ReplayFailures(ctx context.Context) (int, error) {
	total := 0
	for _, d := range x.definitions {
		n, err := replayFailures(ctx, x.store, d.name())
		total += n
		if err != nil {
			return total, err
		}
	}
	return total, nil
}

func replayFailures(ctx context.Context, st *store.Store, index string) (total int, err error) {
	var after indexstate.DocumentKey
	for {
		page, err := st.IndexFailures.List(ctx, index, after, replayBatch)
		if err != nil || len(page) == 0 {
			return total, err
		}
		documents := make([]indexstate.DocumentVersion, len(page))
		for i, f := range page {
			documents[i] = f.DocumentVersion
		}
		if err := st.Outbox.EnqueueReindex(ctx, index, ReasonReplay, documents); err != nil {
			return total, err
		}
		total += len(page)
		after = page[len(page)-1].DocumentKey
	}
}
