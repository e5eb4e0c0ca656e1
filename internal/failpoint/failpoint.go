// Package error holds the named places at which a test may make the product
// fail: be killed, be slow, or be told that something went wrong.
//
// In comes the environment variable VITRINE_FAILPOINTS; out goes a process that ends
// with status 137, a pause, or an error. Without the build tag "failpoint" the
// package is empty: Point always gives nil, is inlined and costs nothing, and
// the variable is never read. A released binary therefore has no such places.
//
//	if err := failpoint.Inject("indexer.before_bulk"); err != nil {
//		return err
//	}
//
// VITRINE_FAILPOINTS is a comma-separated list of
//
//	name               end the process with status 137 at the first pass
//	name:3             … at the third pass
//	name=delay:500ms   pause at every pass; name:3=delay:500ms only at the third
//	name=error         give ErrInjected at every pass; name:3=error only at the third
//	name=full:PATH     give ErrInjected and ENOSPC while there is a file at PATH
//
// Every effect first writes "failpoint: hit NAME" to standard error, so that a test
// can tell a place that was survived from a place that was never reached.
package failpoint

import "errors"

// ErrInjected is what Point gives where VITRINE_FAILPOINTS asks for an error.
var ErrInjected = errors.New("injected error")

// Names lists the places with what has and has not happened when they are
// passed. A place that is in the code and not in this list fails this package's
// test, and so does the reverse.
var Names = map[string]string{
	"blob.written":           "an upload's bytes are written to a temporary file, nothing is on disk for sure",
	"blob.synced":            "the temporary file is on disk, its name is not for sure",
	"blob.staged":            "the temporary file and its name are on disk",
	"blob.before_rename":     "the metadata is read, the bytes still bear their temporary name",
	"blob.renamed":           "the bytes bear their hash's name, not on disk for sure",
	"upload.part_staged":     "a part of an upload is durable, no row speaks of it",
	"upload.assembled":       "an upload's file is made of its parts, the row does not say that the last one has come",
	"upload.noted":           "a part is durable and noted, the client has no answer yet",
	"store.row_committed":    "bytes and rows are durable, the client has no answer yet",
	"blob.committed":         "the bytes are durable under their hash, no row speaks of them",
	"relay.before_publish":   "outbox rows are claimed, Kafka has none of them",
	"relay.after_publish":    "Kafka has the claimed rows, they are still in the outbox",
	"events.before_publish":  "events have their positions in the log, Kafka has none of them",
	"events.after_publish":   "Kafka has the events, the log does not know it",
	"indexer.before_bulk":    "a batch is read from Kafka and PostgreSQL, OpenSearch has none of it",
	"indexer.after_bulk":     "OpenSearch has answered for the batch, its offsets are not committed",
	"indexer.before_commit":  "every item of a batch is delivered, its offsets are not committed",
	"indexer.after_commit":   "the offsets of a batch are committed",
	"rules.firing":           "a firing of a rule and its run are written, and not committed",
	"rules.fired":            "a rule has fired, whoever made it fire does not know it",
	"runs.part_written":      "a part of a pipeline run and how far the run is are written, and not committed",
	"runs.part_committed":    "a part of a pipeline run is committed, the process has not gone on",
	"webhooks.delivery_made": "an event has its deliveries, the subscriber's position is still before it",
	"webhooks.claimed":       "a delivery is claimed, the endpoint has not got it",
	"webhooks.sent":          "the endpoint has answered, the delivery is still pending",
}
