package service

import (
	"net/http"
	"regexp"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"vitrine/api"
	"vitrine/library"
	"vitrine/op"
)

// eventRoute is the stream of events.
func (s *Service) eventRoute() api.ExtraRoute {
	return api.ExtraRoute{Method: http.MethodGet, Path: "/api/v1/events", Name: "StreamEvents", Tag: "events", Produces: "text/event-stream",
		NeedsKey: true, Permission: library.PermRead, Summary: "Stream the tenant's events as server-sent events.",
		Doc: "The header Last-Event-ID, with the id of the last message, resumes a stream. The event types are listed under webhooks.",
		Query: []api.QueryParameter{{Name: "types", Doc: "Event types, separated by commas. All when left out.", Schema: eventTypes(s.Catalog)},
			{Name: "after", Doc: "The position behind which the stream begins; 0: with the oldest event that is kept. With the next event when left out.", Schema: &huma.Schema{Type: huma.TypeInteger, Minimum: new(float64)}}},
		Serve: s.Streams.Serve}
}

// eventTypes is the form of a list of event types: their names, with commas between them.
func eventTypes(c op.Catalog) *huma.Schema {
	var names []string
	for _, e := range c.Events {
		if !e.Direct {
			names = append(names, regexp.QuoteMeta(e.Name))
		}
	}
	one := "(" + strings.Join(names, "|") + ")"
	return &huma.Schema{Type: huma.TypeString, Pattern: "^(" + one + "(," + one + ")*)?$"}
}
