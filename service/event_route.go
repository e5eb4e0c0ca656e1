package service

import (
	"net/http"

	"vitrine/api"
	"vitrine/library"
)

// eventRoute is the stream of events.
func (s *Service) eventRoute() api.ExtraRoute {
	return api.ExtraRoute{Method: http.MethodGet, Path: "/api/v1/events", Name: "StreamEvents", Tag: "events", Produces: "text/event-stream",
		NeedsKey: true, Permission: library.PermRead, Summary: "Stream the tenant's events as server-sent events.",
		Doc: "The header Last-Event-ID, with the id of the last message, resumes a stream. The event types are listed under webhooks.",
		Query: []api.QueryParameter{{Name: "types", Doc: "Event types, separated by commas. All when left out."},
			{Name: "after", Doc: "The position behind which the stream begins; 0: with the oldest event that is kept. With the next event when left out."}},
		Serve: s.Streams.Serve}
}
