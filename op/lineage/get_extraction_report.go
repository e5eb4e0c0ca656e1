package lineage

import (
	"context"

	"vitrine/library"
	"vitrine/media/extract"
	"vitrine/op"
	"vitrine/store"
)

type reportInput struct {
	op.InTenant
}

type reportOutput struct {
	Assets      int64          `json:"assets" doc:"Assets outside the trash."`
	Full        int64          `json:"full" doc:"Their files tell a prompt and settings."`
	Partial     int64          `json:"partial" doc:"Their files tell part of it."`
	None        int64          `json:"none" doc:"Their files tell nothing of their making."`
	NotRecorded int64          `json:"not_recorded" doc:"Stored before reports were kept; vitrine reextract --all makes up for it."`
	Reasons     []reportReason `json:"reasons" doc:"Why files tell less than they could, the most frequent reason first."`
}

type reportReason struct {
	Reason   string              `json:"reason" enum:"no_metadata,stripped,unknown_writer,unknown_nodes,unreadable"`
	Meaning  string              `json:"meaning" doc:"The reason in a sentence."`
	Count    int64               `json:"count"`
	Examples []library.AssetHash `json:"examples" doc:"Up to 5 assets."`
	Details  []reportDetail      `json:"details" doc:"Up to 50 of what the reason is about, the most frequent first: programs that stripped files, keys that no reader knows, node classes without a rule."`
}

type reportDetail struct {
	Name     string              `json:"name"`
	Count    int64               `json:"count"`
	Examples []library.AssetHash `json:"examples" doc:"Up to 5 assets."`
}

// meanings explain the reasons.
var meanings = map[extract.Reason]string{
	extract.ReasonNoMetadata:    "The files carry no generation data: their writer put none in, or it was removed on the way.",
	extract.ReasonStripped:      "A program that drops generation data saved the files; details name it.",
	extract.ReasonUnknownWriter: "The files carry text that no known writer of generation data writes; details name the keys.",
	extract.ReasonUnknownNodes:  "The files carry a node graph with classes that no rule reads; details name them.",
	extract.ReasonUnreadable:    "The files are damaged, or of a kind that carries no generation data that can be read.",
}

func (s *Service) getExtractionReport() op.Operation {
	return op.Define(op.Meta{
		Name: "GetExtractionReport", Title: "Get the extraction report", Domain: op.Lineage,
		Doc: "Tells over the whole library why files have no prompt: how many carry no metadata, were stripped and by which program, come from an unknown writer, " +
			"use unknown nodes, or cannot be read, each with examples.",
		Method: "GET", Path: "/api/v1/lineage/report", Permission: library.PermRead, ReadOnly: true, Idempotent: true, RESTOnly: true,
		Spec:    "open points §9",
		Example: map[string]any{},
	}, func(ctx context.Context, actor library.Actor, _ reportInput) (reportOutput, error) {
		r, err := s.Store.ExtractionReport(ctx, actor.Tenant)
		if err != nil {
			return reportOutput{}, err
		}
		return describeReport(r), nil
	})
}

func describeReport(r store.ExtractionReport) reportOutput {
	out := reportOutput{Assets: r.Assets, Full: r.States[string(extract.StateFull)], Partial: r.States[string(extract.StatePartial)],
		None: r.States[string(extract.StateNone)], NotRecorded: r.States[""], Reasons: []reportReason{}}
	for _, c := range r.Reasons {
		reason := reportReason{Reason: c.Reason, Meaning: meanings[extract.Reason(c.Reason)], Count: c.Count, Examples: orEmpty(c.Examples), Details: []reportDetail{}}
		for _, d := range c.Details {
			reason.Details = append(reason.Details, reportDetail{d.Name, d.Count, orEmpty(d.Examples)})
		}
		out.Reasons = append(out.Reasons, reason)
	}
	return out
}
