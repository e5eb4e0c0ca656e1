package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"strings"

	"github.com/google/uuid"
	"github.com/mark3labs/mcp-go/server"

	"vitrine/library"
)

// Sessions of the older protocol hold nothing that a call needs, but they do
// carry notifications. Their ids are therefore bound to the credential that
// opened them: an id is a UUID and a digest of it with the actor's id. Any
// replica can check that, and a stolen id is of no use with another key.
const sessionPrefix = "vitrine-"

func newSession(actor library.Actor) string {
	id := uuid.NewString()
	return sessionPrefix + id + "-" + sessionDigest(id, actor)
}

func ownsSession(session string, actor library.Actor) bool {
	rest, ok := strings.CutPrefix(session, sessionPrefix)
	if !ok || len(rest) <= 37 || rest[36] != '-' {
		return false
	}
	return rest[37:] == sessionDigest(rest[:36], actor)
}

func sessionDigest(id string, actor library.Actor) string {
	sum := sha256.Sum256([]byte(id + "\x00" + string(actor.Kind) + "\x00" + actor.ID))
	return hex.EncodeToString(sum[:8])
}

// sessions hands mcp-go a manager that knows who is calling.
type sessions struct{}

// ResolveSessionIdManager returns the manager for one request, or the one for
// housekeeping when there is none.
func (sessions) ResolveSessionIdManager(r *http.Request) server.SessionIdManager {
	if r != nil {
		if v := stateOf(r.Context()); v != nil {
			return actorSessions{v.actor}
		}
	}
	return actorSessions{}
}

type actorSessions struct{ actor library.Actor }

// Generate makes an id for the caller.
func (s actorSessions) Generate() string { return newSession(s.actor) }

// Validate accepts the caller's own ids; nothing is remembered, so none is ever
// known to be terminated.
func (s actorSessions) Validate(id string) (terminated bool, err error) {
	if !ownsSession(id, s.actor) {
		return false, errors.New("no such session")
	}
	return false, nil
}

// Terminate has nothing to forget.
func (s actorSessions) Terminate(string) (notAllowed bool, err error) { return false, nil }
