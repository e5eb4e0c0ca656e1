package lineage

import (
	"context"

	"vitrine/library"
	"vitrine/media/extract"
	"vitrine/op"
	"vitrine/store"
)

type reportInput struct {
	op.TenantInput
}

type reportOutput struct {
	Assets      int64          `json:"assets" doc:"Assets outside the trash."`
	Full        int64          `json:"full" doc:"Assets whose files hold a prompt and settings."`
	Partial     int64          `json:"partial" doc:"Assets whose files hold part of that."`
	None        int64          `json:"none" doc:"Assets whose files hold no generation metadata."`
	NotRecorded int64          `json:"not_recorded" doc:"Assets stored before reports were recorded; run vitrine reextract --all to add theirs."`
	Reasons     []reportReason `json:"reasons" doc:"Why files hold no or only partial generation metadata, the most frequent reason first."`
}

type reportReason struct {
	Reason   string              `json:"reason" enum:"no_metadata,stripped,unknown_writer,unknown_nodes,unreadable"`
	Meaning  string              `json:"meaning" doc:"The reason in a sentence."`
	Count    int64               `json:"count"`
	Examples []library.AssetHash `json:"examples" doc:"Up to 5 assets."`
	Details  []reportDetail      `json:"details" doc:"Up to 50 programs that stripped files, keys of unknown formats, or unknown node classes, the most frequent first."`
}

type reportDetail struct {
	Name     string              `json:"name"`
	Count    int64               `json:"count"`
	Examples []library.AssetHash `json:"examples" doc:"Up to 5 assets."`
}

// reasonTexts explain the reasons.
var reasonTexts = map[extract.Reason]string{
	extract.ReasonNoMetadata:    "The files hold no generation metadata: none was written, or it was removed later.",
	extract.ReasonStripped:      "The files were saved by a program that drops generation metadata; details name it.",
	extract.ReasonUnknownWriter: "The files hold text in a format that is not known as generation metadata; details name the keys.",
	extract.ReasonUnknownNodes:  "The files hold a node graph with unknown node classes; details name them.",
	extract.ReasonUnreadable:    "The files are damaged, or of a kind that holds no generation metadata that can be read.",
}

func (s *Service) getExtractionReport() op.Operation {
	return op.Define(op.Meta{
		Name: "GetExtractionReport", Title: "Get the extraction report", Domain: op.Lineage,
		Doc: "Sums up over the whole library why files have no prompt: how many hold no metadata, were stripped and by which program, use an unknown format " +
			"or unknown nodes, or cannot be read, each with examples.",
		Method: "GET", Path: "/api/v1/lineage/report", Permission: library.PermRead, ReadOnly: true, Idempotent: true, RESTOnly: true,
		Example: map[string]any{},
	}, func(ctx context.Context, actor library.Actor, _ reportInput) (reportOutput, error) {
		r, err := s.Store.Extraction.Report(ctx, actor)
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
		reason := reportReason{Reason: c.Reason, Meaning: reasonTexts[extract.Reason(c.Reason)], Count: c.Count, Examples: orEmpty(c.Examples), Details: []reportDetail{}}
		for _, d := range c.Details {
			reason.Details = append(reason.Details, reportDetail{d.Name, d.Count, orEmpty(d.Examples)})
		}
		out.Reasons = append(out.Reasons, reason)
	}
	return out
}
