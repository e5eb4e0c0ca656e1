package events

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"vitrine/library"
)

// followedEnd is the id of the last message about a thing: there is nothing behind it.
const followedEnd = "ended"

// Follow answers a request with the states of one thing: the present one, and each that differs from the
// one before, until it has ended, the client goes or does not read, or the stream is old. look returns
// the state as the actor may see it. What Serve promises of credentials, numbers and times holds here
// too. A client that has seen the end is answered with 204, at which an EventSource connects no more.
func (s *Streams) Follow(w http.ResponseWriter, r *http.Request, actor library.Actor, look func(context.Context, library.Actor) (state any, ended bool, err error)) error {
	if _, _, err := look(r.Context(), actor); err != nil {
		return err
	}
	if r.Header.Get("Last-Event-ID") == followedEnd {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	if err := s.enter(actor.Tenant); err != nil {
		return err
	}
	defer s.leave(actor.Tenant)
	ctx, cancel := context.WithTimeout(r.Context(), s.cfg.MaxAge)
	defer cancel()
	t := &stream{s: s, r: r, w: w, control: http.NewResponseController(w), actor: actor}
	if t.begin() == nil {
		t.follow(ctx, look)
	}
	return nil
}

// follow sends states until the last one.
func (t *stream) follow(ctx context.Context, look func(context.Context, library.Actor) (any, bool, error)) {
	poll, beat := time.NewTicker(t.s.cfg.Poll), time.NewTicker(t.s.cfg.Heartbeat)
	defer poll.Stop()
	defer beat.Stop()
	var sent []byte
	for {
		state, ended, err := look(ctx, t.actor)
		if err != nil {
			return // the client connects again and is told why
		}
		data, err := json.Marshal(state)
		if err != nil {
			return
		}
		switch {
		case ended:
			_ = t.send(fmt.Sprintf("id: %s\ndata: %s\n\n", followedEnd, data)) // nothing comes behind it
			return
		case !bytes.Equal(data, sent):
			if t.send(fmt.Sprintf("data: %s\n\n", data)) != nil {
				return
			}
			sent = data
		}
		select {
		case <-ctx.Done():
			return
		case <-poll.C:
		case <-beat.C:
			if !t.stillMay() || t.send(": nothing new\n\n") != nil {
				return
			}
		}
	}
}
