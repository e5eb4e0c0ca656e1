package store

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"vitrine/library"
)

// Everything that is recorded is an event, so a new noun has its events without a word.

// EventOperationUndone is the type of the event of an undo.
const EventOperationUndone = "operation.undone"

// EventTypes lists the types of all events that writes emit, each once.
func EventTypes() []string {
	list := []string{EventOperationUndone}
	for _, n := range nouns() {
		list = append(list, n.eventTypes()...)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

func (n *Noun) eventTypes() []string {
	if n.event != nil {
		return n.events
	}
	return []string{n.name + ".created", n.name + ".updated", n.name + ".deleted"}
}

func (n *Noun) eventType(before, after json.RawMessage) string {
	switch {
	case n.event != nil:
		return n.event(before, after)
	case before == nil:
		return n.name + ".created"
	case after == nil:
		return n.name + ".deleted"
	}
	return n.name + ".updated"
}

// emitChange emits the event of a journal entry.
func (t *Tx) emitChange(ctx context.Context, e entry) error {
	fields := map[string]json.RawMessage{}
	if e.before != nil && e.after != nil {
		if err := json.Unmarshal(e.after, &fields); err != nil {
			return err
		}
	}
	return t.Emit(ctx, library.Event{Type: e.noun.eventType(e.before, e.after), Key: e.noun.name + "/" + e.key, Payload: library.ChangeEvent{
		Noun: e.noun.name, ID: e.key, Changed: slices.AppendSeq([]string{}, maps.Keys(fields)), Cause: t.cause()}})
}

func (t *Tx) cause() library.Cause {
	return library.Cause{OperationID: t.operation, Tool: t.call.Tool, ActorID: t.actor.ID, ActorKind: string(t.actor.Kind)}
}

// emitUndone emits the event of an undo that changed something.
func (t *Tx) emitUndone(ctx context.Context, undone string) error {
	return t.Emit(ctx, library.Event{Type: EventOperationUndone, Key: "operation/" + undone,
		Payload: library.UndoneEvent{UndoneID: undone, Cause: t.cause()}})
}

// trashEvent is the type of a change of something that is moved to the trash rather
// than deleted: field is non-false and not null in what is there.
func trashEvent(name, field string, before, after json.RawMessage) string {
	inTrash := func(state json.RawMessage) (known, trashed bool) {
		var fields map[string]json.RawMessage
		if json.Unmarshal(state, &fields) != nil {
			return false, false
		}
		v, known := fields[field]
		return known, known && string(v) != "null" && string(v) != "false"
	}
	if before == nil {
		return name + ".created"
	}
	switch known, trashed := inTrash(after); {
	case known && trashed:
		return name + ".trashed"
	case known:
		return name + ".restored"
	}
	return name + ".updated"
}

// trashed gives a noun the events of something that has a trash; verbs are what can
// happen to it.
func (n *Noun) trashed(field string, verbs ...string) *Noun {
	n.event = func(before, after json.RawMessage) string { return trashEvent(n.name, field, before, after) }
	for _, v := range verbs {
		n.events = append(n.events, n.name+"."+v)
	}
	return n
}
