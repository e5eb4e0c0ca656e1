package library

import (
	"crypto/rand"
	"encoding/hex"
)

// ProspectHash is a prospect's identity inside its tenant: 40 lower-case hex digits. It is
// random, so that it says nothing of the person; see NewProspectHash.
type ProspectHash string

// The limits of outreach.
const (
	MaxProspects    = 1_000_000 // per tenant, merged and erased ones included
	MaxProspectRows = 5_000     // per person
)

// NewProspectHash returns the identity of a new prospect.
func NewProspectHash() ProspectHash {
	b := make([]byte, 20)
	rand.Read(b) // never fails
	return ProspectHash(hex.EncodeToString(b))
}

// NewContactHash derives the identity of a prospect's contact in a pipeline.
func NewContactHash(prospect ProspectHash, pipeline string) string {
	return hashOf("contact", string(prospect), pipeline)
}
