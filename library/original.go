package library

// OriginalState is what became of a file that is referenced in place.
type OriginalState string

// The states of originals. An asset with several has the best of them.
const (
	OriginalIntact  OriginalState = "intact"  // it is what was imported, as far as the last look showed
	OriginalChanged OriginalState = "changed" // other bytes are in its place
	OriginalMissing OriginalState = "missing" // there is nothing in its place
)
