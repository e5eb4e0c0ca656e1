// Package events carries what happened in the library to whoever subscribes.
//
// A write puts its events into the outbox in its own transaction. The relay moves them
// to a log in PostgreSQL, where each gets a position in the order of commits, and
// publishes the log to Kafka. A subscriber gets events from Kafka, handles those of one
// key in order, each at least once, and keeps its positions in PostgreSQL. Each event
// names the one before it in its shard, so a subscriber sees when one is missing and
// reads it from the log: losing Kafka, or what Kafka held, delays events and loses none.
// Clients read the log of their tenant as a stream of server-sent events.
//
// What may be late and is read again anyway, such as the documents of the index, goes
// through the indexer's own topic and is not logged.
package events
