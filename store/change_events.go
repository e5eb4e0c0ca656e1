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

// Types of events that come beside the change that they are a part of.
const (
	EventStatusChanged    = "asset.status_changed"
	EventTagged           = "asset.tagged"
	EventLineageExtracted = "asset.lineage_extracted"
	EventModelDetected    = "model.detected"
)

// EventTypes lists the types of all events that writes emit, each once.
func EventTypes() []string {
	list := []string{EventOperationUndone, EventStatusChanged, EventTagged, EventLineageExtracted, EventModelDetected,
		EventPipelineStarted, EventPipelineCompleted, EventPipelineFailed, EventPipelineNotified, EventPipelineExport, EventRuleFired, EventRuleRateLimited, EventRulePaused, EventImportCompleted}
	for _, n := range registered {
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
	names := slices.Sorted(maps.Keys(fields))
	if names == nil {
		names = []string{}
	}
	key, change := e.noun.name+"/"+e.key, library.ChangeEvent{Noun: e.noun.name, ID: e.key, Changed: names, Cause: t.cause()}
	if err := t.Emit(ctx, library.Event{Type: e.noun.eventType(e.before, e.after), Key: key, Payload: change}); err != nil {
		return err
	}
	if e.noun.name != assetNoun.name {
		return nil
	}
	if fields["tags"] != nil {
		if err := t.Emit(ctx, library.Event{Type: EventTagged, Key: key, Payload: change}); err != nil {
			return err
		}
	}
	if fields["status"] == nil {
		return nil
	}
	from, to, err := statusesOf(e)
	if err != nil {
		return err
	}
	return t.Emit(ctx, library.Event{Type: EventStatusChanged, Key: key, Payload: library.StatusEvent{ChangeEvent: change, From: from, To: to}})
}

// statusesOf reads the status of an asset on both sides of a change.
func statusesOf(e entry) (from, to library.Status, err error) {
	var before, after struct{ Status library.Status }
	if err := json.Unmarshal(e.before, &before); err != nil {
		return "", "", err
	}
	err = json.Unmarshal(e.after, &after)
	return before.Status, after.Status, err
}

// emitExtracted emits the event that generation data was read out of an asset's file.
func (t *Tx) emitExtracted(ctx context.Context, hash library.AssetHash, l library.Lineage) error {
	if !l.HasGenerationData() {
		return nil
	}
	return t.Emit(ctx, library.Event{Type: EventLineageExtracted, Key: assetNoun.name + "/" + string(hash),
		Payload: library.ChangeEvent{Noun: assetNoun.name, ID: string(hash), Changed: []string{}, Cause: t.cause()}})
}

func (t *Tx) cause() library.Cause {
	return library.Cause{OperationID: t.operation, Tool: t.call.Tool, ActorID: t.actor.ID, ActorKind: string(t.actor.Kind), CausationDepth: t.call.Depth}
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

// trashed declares a noun's events as those of something that has a trash; verbs are what can
// happen to it.
func (n *Noun) trashed(field string, verbs ...string) *Noun {
	n.event = func(before, after json.RawMessage) string { return trashEvent(n.name, field, before, after) }
	for _, v := range verbs {
		n.events = append(n.events, n.name+"."+v)
	}
	return n
}

// softDeleted declares the events of a noun whose deleted rows are kept, with the column
// deleted_at, as those of something that is deleted and restored.
func softDeleted(n *Noun) *Noun {
	n.events = []string{n.name + ".created", n.name + ".updated", n.name + ".deleted", n.name + ".restored"}
	n.event = func(before, after json.RawMessage) string {
		if kind := trashEvent(n.name, "deleted_at", before, after); kind != n.name+".trashed" {
			return kind
		}
		return n.name + ".deleted"
	}
	return n
}
