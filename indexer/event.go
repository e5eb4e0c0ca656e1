package indexer

import (
	"encoding/json"
	"errors"
	"time"

	"vitrine/internal/kafkaclient"
	"vitrine/library"
	"vitrine/mappings"
	"vitrine/store"
)

// Event is a request to look at an asset again. It is all that travels
// through Kafka: whoever reads it reads the rows too, so an event may come late,
// twice or out of order.
type Event struct {
	Tenant     library.TenantID  `json:"tenant"`
	Hash       library.AssetHash `json:"asset_h"`
	DocVersion int64             `json:"doc_version"` // when the event was written
	Reason     string            `json:"reason"`
	At         time.Time         `json:"at"` // when the change was committed, or nearly
}

// Reasons of events that are not changes of an asset.
const (
	ReasonRepair = "index_repair" // the reconciler found a difference
	ReasonReplay = "index_replay" // a refused document is tried again

	// A file told something new of a model that the asset uses; the store writes it.
	ReasonModelUpdated = "model_updated"
)

// forcesRewrite reports whether the document must be written although the index may
// have this very version already.
func (e *Event) forcesRewrite() bool {
	return e.Reason == ReasonRepair || e.Reason == ReasonReplay || e.Reason == ReasonModelUpdated
}

func (e *Event) key() store.AssetKey { return store.AssetKey{Tenant: e.Tenant, Hash: e.Hash} }

func newMessage(r *store.OutboxRow) (kafkaclient.Message, error) {
	value, err := json.Marshal(Event{Tenant: r.Tenant, Hash: r.Hash, DocVersion: r.DocVersion, Reason: r.Reason, At: r.CreatedAt.UTC()})
	return kafkaclient.Message{Key: []byte(mappings.DocID(r.Tenant, r.Hash)), Value: value}, err
}

var errNotAnEvent = errors.New("the message is not an event of this topic")

// parseEvent reads a message. It gives errNotAnEvent for anything that no relay
// of ours has written.
func parseEvent(value []byte) (Event, error) {
	var e Event
	if err := json.Unmarshal(value, &e); err != nil || !e.Tenant.Valid() || !e.Hash.Valid() || e.DocVersion < 0 {
		return Event{}, errNotAnEvent
	}
	return e, nil
}
