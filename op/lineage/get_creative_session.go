package lineage

import (
	"context"
	"time"

	"vitrine/library"
	"vitrine/op"
	"vitrine/op/assets"
	"vitrine/store"
)

type sessionInput struct {
	op.TenantInput
	op.FormatInput
	AssetID    string `json:"asset_id" id:"asset" pattern:"^[0-9a-fA-F]{40}$" patternDescription:"a SHA-1 of 40 hex digits" doc:"The asset."`
	TimeWindow string `json:"time_window,omitempty" maxLength:"100" doc:"Before and after it, for example 2 hours or 90m. By default the session ends at the first long pause."`
	Limit      int    `json:"limit,omitempty" minimum:"1" maximum:"200" default:"100" tool:"plain" doc:"Assets nearest in time."`

	window time.Duration
}

// Validate implements op.Validator.
func (in *sessionInput) Validate() []library.FieldError {
	if in.TimeWindow == "" {
		return nil
	}
	window, message := parseDuration(in.TimeWindow)
	if message != "" {
		return []library.FieldError{{Field: "time_window", Code: "format", Message: message}}
	}
	in.window = window
	return nil
}

type sessionOutput struct {
	AssetID    library.AssetHash `json:"asset_id"`
	Tool       string            `json:"tool" doc:"The program that generated the assets; empty if unknown."`
	Sessions   []session         `json:"sessions" doc:"The asset's session and, with time_window, those near it; oldest first."`
	GapSeconds int64             `json:"gap_seconds" doc:"A pause longer than this ends a session. It is computed from the pauses between nearby assets."`
	Total      int               `json:"total" doc:"Assets in all sessions together."`
	Truncated  bool              `json:"truncated" doc:"Whether there are more assets than limit."`
}

type session struct {
	StartedAt time.Time      `json:"started_at"`
	EndedAt   time.Time      `json:"ended_at"`
	Count     int            `json:"asset_count"`
	Current   bool           `json:"contains_asset" doc:"Whether the requested asset is in it."`
	Assets    []sessionAsset `json:"assets" doc:"Oldest first."`
}

type sessionAsset struct {
	assets.Summary
	CreatedAt time.Time `json:"created_at"`
	Pause     int64     `json:"seconds_since_previous" doc:"0 for the first of a session."`
	Prompt    *string   `json:"prompt" required:"true" nullable:"true"`
	Negative  *string   `json:"negative" required:"true" nullable:"true"`
	Command   string    `json:"command" doc:"The image tool's command; empty for other tools or if unknown."`
	JobID     string    `json:"job_id"`
	JobType   string    `json:"job_type"`
	Version   string    `json:"version" doc:"The image tool's model version."`
}

func (s *Service) getCreativeSession() op.Operation {
	return op.Define(op.Meta{
		Name: "GetCreativeSession", Title: "Get a creative session", Domain: op.Search,
		Doc:    "Returns the assets that the image-generation tool made around the time of an asset, grouped into sessions by pauses, with prompt and command.",
		Method: "GET", Path: "/api/v1/assets/{asset_id}/session", Permission: library.PermRead, ReadOnly: true, Idempotent: true,
		Example: map[string]any{"asset_id": "da39a3ee5e6b4b0d3255bfef95601890afd80709", "time_window": "2 hours"},
	}, s.session)
}

// sessionReach is how far a session without a time window is looked for, each way.
const sessionReach = 7 * 24 * time.Hour

func (s *Service) session(ctx context.Context, actor library.Actor, in sessionInput) (sessionOutput, error) {
	out := sessionOutput{AssetID: lowerHash(in.AssetID), Sessions: []session{}}
	asked, err := s.Store.Lineage.Get(ctx, actor, out.AssetID)
	if err != nil {
		return out, err
	}
	reach := in.window
	if reach == 0 {
		reach = sessionReach
	}
	list, err := s.Store.Lineage.CreatedAround(ctx, actor, asked, asked.CreatedAt.Add(-reach), asked.CreatedAt.Add(reach), in.Limit)
	if err != nil {
		return out, err
	}
	gap := sessionGap(list)
	groups := splitSessions(list, gap)
	if in.window == 0 {
		groups = sessionOf(groups, asked.Hash)
	}
	groups, out.Truncated = limitToNearest(groups, asked, in.Limit)
	out.Tool, out.GapSeconds = asked.Tool, int64(gap/time.Second)
	for _, g := range groups {
		out.Total += len(g)
		out.Sessions = append(out.Sessions, s.describe(s.Links.For(actor).In(in.FormatInput), g, asked.Hash))
	}
	return out, nil
}

func (s *Service) describe(links assets.ActorLinks, group []store.AssetWithLineage, asked library.AssetHash) session {
	out := session{StartedAt: group[0].CreatedAt.UTC(), EndedAt: group[len(group)-1].CreatedAt.UTC(), Count: len(group), Assets: []sessionAsset{}}
	for i, m := range group {
		a := sessionAsset{Summary: links.Summary(m.Asset), CreatedAt: m.CreatedAt.UTC(), Prompt: m.Prompt, Negative: m.Negative}
		if i > 0 {
			a.Pause = int64(m.CreatedAt.Sub(group[i-1].CreatedAt) / time.Second)
		}
		if t := m.ImageTool; t != nil {
			a.Command, a.JobID, a.JobType, a.Version = t.Command, t.JobID, t.JobType, t.Version
		}
		out.Current = out.Current || m.Hash == asked
		out.Assets = append(out.Assets, a)
	}
	return out
}
