package op

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"vitrine/library"
)

// EventType is a type of events that writes emit, declared in the package of the
// operations that emit it.
type EventType struct {
	Name    string       // for example asset.created
	Doc     string       // when it is emitted, one sentence
	Payload *huma.Schema // of the event's data: a flat object, no references
	Example any          // a payload
	Direct  bool         // sent to one webhook when somebody asks for it, and no part of the log
}

// DefineEvent makes an event type out of an example of its payload, a struct.
func DefineEvent[T any](name, doc string, example T) EventType {
	e := EventType{Name: name, Doc: doc, Payload: schemaOf[T](), Example: example}
	if name == "" || doc == "" || e.Payload.Type != huma.TypeObject {
		panic(fmt.Sprintf("event %q: name, doc and a payload that is a struct are all needed", name))
	}
	return e
}

// What can happen to a thing, in the words of an event type.
var changes = map[string]string{
	"created":  "was created",
	"updated":  "was changed",
	"deleted":  "was deleted",
	"trashed":  "was moved to the trash",
	"restored": "was brought back from the trash",
}

// ChangeEvents declares the events of the changes of a noun: what is its name in a
// sentence, with an article; id and changed are for the example.
func ChangeEvents(noun, what, id string, changed []string, verbs ...string) []EventType {
	var list []EventType
	for _, v := range verbs {
		words, known := changes[v]
		if !known {
			panic("there is no change " + v)
		}
		example := library.ChangeEvent{Noun: noun, ID: id, Changed: []string{}, Cause: ExampleCause}
		if v == "updated" {
			example.Changed = changed
		}
		list = append(list, DefineEvent(noun+"."+v, what+" "+words+".", example))
	}
	return list
}

// ExampleCause is the cause in examples of events.
var ExampleCause = library.Cause{OperationID: "019a7e3c-5d2f-7b61-9c40-2f1f6b0c8e11", Tool: "UpdateAsset", ActorID: "key_7f3a", ActorKind: "key"}

// CheckPayload reports where an encoded payload breaks the type's schema.
func (e EventType) CheckPayload(encoded []byte) []library.FieldError {
	return Operation{Output: e.Payload, out: reflect.TypeOf(e.Example)}.CheckOutput(encoded)
}

// EventType returns the declared type with this name.
func (c Catalog) EventType(name string) (EventType, bool) {
	i := slices.IndexFunc(c.Events, func(e EventType) bool { return e.Name == name })
	if i < 0 {
		return EventType{}, false
	}
	return c.Events[i], true
}

// EventMessage is an event as clients get it.
type EventMessage struct {
	Position  int64           `json:"position" doc:"The event's place in the order of all changes. Positions of one tenant grow, with gaps."`
	Type      string          `json:"type" doc:"The event type."`
	Timestamp string          `json:"timestamp" format:"date-time" doc:"When the change was made."`
	Key       string          `json:"key" doc:"What it happened to. Events with the same key come in order."`
	Data      json.RawMessage `json:"data" doc:"What the event type says."`
}

// EventSchema returns the schema of a message with events of this type.
func (e EventType) EventSchema() *huma.Schema {
	s := schemaOf[EventMessage]()
	s.Properties["data"] = e.Payload
	s.Properties["type"].Enum = []any{e.Name}
	return s
}

func eventsPage(list []EventType) []byte {
	var b bytes.Buffer
	b.WriteString(generated + `# Events

Everything that changes in the library is an event. ` + "`GET /api/v1/events`" + ` streams the events of a tenant as server-sent events, with the permission ` + "`read`" + `:

` + "```sh\ncurl -N -H \"Authorization: Bearer $VITRINE_KEY\" \"$VITRINE_URL/api/v1/events?types=asset.created,asset.updated\"\n```" + `

Each message has an ` + "`id`" + ` and a line of ` + "`data`" + `, a JSON object. Send the last id back in the header ` + "`Last-Event-ID`" + ` (a browser's EventSource does so by itself)
and the stream goes on behind it; without one it begins with the next event. ` + "`after=0`" + ` begins with the oldest event that is kept. Events are kept for 30 days; an id that is older, or
of a database that was restored since, is answered with 410: read again what you need, then begin without an id. The server ends a stream after ten minutes at the latest, and one whose key
was revoked; clients connect again. A tenant may have 20 streams at once.

Events are delivered at least once, and those with the same ` + "`key`" + ` in order. ` + "`data`" + ` names what changed and holds no values: read the thing to see it as it is now.

`)
	table(&b, "Field", schemaOf[EventMessage](), false)
	b.WriteString("## Event types\n\n| Type | When |\n|---|---|\n")
	for _, e := range list {
		fmt.Fprintf(&b, "| `%s` | %s |\n", e.Name, tableCell(e.Doc))
	}
	b.WriteString("\n")
	for _, e := range list {
		fmt.Fprintf(&b, "### %s\n\n%s\n\n", e.Name, e.Doc)
		table(&b, "`data`", e.Payload, false)
		if example, err := json.MarshalIndent(e.Example, "", "  "); err == nil {
			fmt.Fprintf(&b, "```json\n%s\n```\n\n", example)
		}
	}
	return b.Bytes()
}
