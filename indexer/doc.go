// Package indexer keeps the search index a true copy of the library.
//
// In come outbox rows that PostgreSQL writes in the transaction of every change.
// The relay publishes them to Kafka; the consumer reads the current rows of the
// assets they name, builds one document per asset and writes it to OpenSearch
// under the asset's version. Out comes an index that may be late and is never
// wrong: events say only "look again", versions decide every race, and offsets
// are committed only after the index has answered for each document.
//
// Beside that stream stand the whole-library works: building the index anew
// behind its alias, comparing it with the library and repairing differences,
// purging tombstones, and waiting until a caller's own writes can be found.
//
// The package never changes an asset, never decides who may see what, and never
// deletes a document because an event says so: what PostgreSQL holds decides.
package indexer
