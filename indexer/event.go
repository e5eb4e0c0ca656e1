package indexer

import (
	"encoding/json"
	"errors"
	"strings"
	"time"

	"vitrine/internal/kafkaclient"
	"vitrine/library"
	"vitrine/mappings"
	"vitrine/store"
	"vitrine/store/indexstate"
)

// Event is a request to look at what a document shows again. It is all that travels
// through Kafka: whoever reads it reads the rows too, so an event may come late,
// twice or out of order.
type Event struct {
	Index      string           `json:"index,omitempty"`
	Tenant     library.TenantID `json:"tenant"`
	Key        string           `json:"key,omitempty"`
	DocVersion int64            `json:"doc_version"` // when the event was written
	Reason     string           `json:"reason"`
	At         time.Time        `json:"at"` // when the change was committed, or nearly

	// Hash is the key in events of an earlier release, which knew assets alone.
	Hash library.AssetHash `json:"asset_h,omitempty"`
}

// Reasons of events that are not changes of an asset.
const (
	ReasonRepair = "index_repair" // the reconciler found a difference
	ReasonReplay = "index_replay" // a refused document is tried again

	// A file says something new of a model that the asset uses; the store writes it.
	ReasonModelUpdated = "model_updated"
)

// forcesRewrite reports whether the document must be written although the index may
// have this very version already.
func (e *Event) forcesRewrite() bool {
	return e.Reason == ReasonRepair || e.Reason == ReasonReplay || e.Reason == ReasonModelUpdated
}

func (e *Event) key() indexstate.DocumentKey {
	return indexstate.DocumentKey{Tenant: e.Tenant, Key: e.Key}
}

func newMessage(r *store.OutboxRow) (kafkaclient.Message, error) {
	value, err := json.Marshal(Event{Index: r.Index, Tenant: r.Tenant, Key: r.Key, DocVersion: r.DocVersion, Reason: r.Reason, At: r.CreatedAt.UTC()})
	return kafkaclient.Message{Key: messageKey(r.Index, r.DocumentKey), Value: value}, err
}

// messageKey is what decides the partition: the events of one document are in order.
func messageKey(index string, k indexstate.DocumentKey) []byte {
	id := mappings.DocumentID(k.Tenant, k.Key)
	if index != indexstate.AssetIndex {
		id = index + ":" + id
	}
	return []byte(id)
}

var errNotAnEvent = errors.New("the message is not an event of this topic")

// parseEvent reads a message. It returns errNotAnEvent for anything that no relay
// of ours has written.
func parseEvent(value []byte) (Event, error) {
	var e Event
	if err := json.Unmarshal(value, &e); err != nil {
		return Event{}, errNotAnEvent
	}
	if e.Index == "" {
		e.Index, e.Key, e.Hash = indexstate.AssetIndex, string(e.Hash), ""
	}
	if !e.Tenant.Valid() || !validKey(e.Index, e.Key) || e.DocVersion < 0 {
		return Event{}, errNotAnEvent
	}
	return e, nil
}

// maxKey is the longest key of a document.
const maxKey = 128

// validKey reports whether a key can be one of an index. No character of one needs
// escaping, in JSON or in an address.
func validKey(index, key string) bool {
	if index == indexstate.AssetIndex {
		return library.AssetHash(key).Valid()
	}
	return key != "" && len(key) <= maxKey && strings.Trim(key, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == ""
}
