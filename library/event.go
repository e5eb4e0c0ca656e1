package library

// Event is something that happened, for subscribers outside of the write. It is
// delivered at least once, and in order among the events with the same key.
type Event struct {
	Type    string // for example asset.approved
	Key     string // what it happened to
	Payload any    // JSON-encodable, an object
}
