package search

import (
	"context"
	"encoding/base64"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"vitrine/library"
	"vitrine/op/assets"
	"vitrine/query/run"
)

// hit is one result of a search. Fields that are empty are left out. The concise form has
// what is needed to choose between results.
type hit struct {
	AssetHash      library.AssetHash        `json:"asset_h" doc:"SHA-1 of the bytes, 40 hex digits: the asset's identity."`
	Title          string                   `json:"title,omitempty"`
	Description    string                   `json:"description,omitempty" doc:"Its beginning, or the whole with response_format detailed."`
	Filename       string                   `json:"filename"`
	MIMEType       string                   `json:"mime_type"`
	Status         library.Status           `json:"status" enum:"Draft,PendingApproval,Approved,Rejected,Archived"`
	Tags           []string                 `json:"tags,omitempty"`
	Visibility     library.Visibility       `json:"visibility,omitempty" enum:"private,team,public" doc:"Absent for team."`
	Prompt         string                   `json:"prompt,omitempty" doc:"The beginning of the prompt, at most 110 characters."`
	Models         []string                 `json:"models,omitempty" doc:"Checkpoints and LoRAs, or other models if it has none."`
	Tool           string                   `json:"tool,omitempty" doc:"The program that generated the file, with response_format detailed."`
	Matched        string                   `json:"matched,omitempty" doc:"words (it has the words of the query), meaning (it is only similar) or both. Absent if the query has no words."`
	RelevanceScore *float64                 `json:"relevance_score,omitempty" doc:"Higher is better; only comparable within one response."`
	Width          int                      `json:"width,omitempty" doc:"Pixels, with response_format detailed."`
	Height         int                      `json:"height,omitempty"`
	CreatedAt      *time.Time               `json:"created_at,omitempty" doc:"With response_format detailed."`
	ThumbnailURL   string                   `json:"thumbnail_url,omitempty" doc:"A JPEG preview; no API key is needed. Add ?size=256, 512, 1024 or 2048. With response_format detailed."`
	Placeholder    string                   `json:"placeholder,omitempty" doc:"ThumbHash of the preview, base64: a blurred picture to show while the preview loads. With response_format detailed."`
	Highlights     map[string]run.Highlight `json:"highlights,omitempty" doc:"Matches in title, description and prompt, if highlight is set. Absent for results of vector search alone."`
}

// excerptLength is how many characters of a text a result shows.
const excerptLength = 110

// hitOf describes what a search found.
func hitOf(links assets.ActorLinks, h run.Hit, withScore, detailed bool) hit {
	d := h.Document
	out := hit{AssetHash: d.AssetH, Title: d.Title, Description: excerpt(d.Description), Filename: d.Filename, MIMEType: d.MIMEType, Status: d.Status,
		Tags: d.Tags, Prompt: excerpt(d.Prompt), Models: append(append([]string{}, d.CheckpointNames...), d.LoraNames...), Highlights: h.Highlights}
	if v := library.Visibility(d.Visibility); v != library.VisibilityTeam {
		out.Visibility = v
	}
	if len(out.Models) == 0 {
		out.Models = d.ModelNames
	}
	out.Matched = matchedBy(h)
	if withScore && h.Score != nil {
		score := *h.Score
		if !detailed {
			score = rounded(score)
		}
		out.RelevanceScore = &score
	}
	if !detailed {
		return out
	}
	out.Description, out.Tool, out.Width, out.Height, out.ThumbnailURL = d.Description, d.Tool, d.Width, d.Height, links.Thumbnail(d.TenantID, d.AssetH)
	if d.Created != nil {
		created := d.Created.UTC()
		out.CreatedAt = &created
	}
	return out
}

// addPlaceholders adds to hits what clients show while the previews load. A search is good
// without them.
func (s *Service) addPlaceholders(ctx context.Context, actor library.Actor, hits []hit) {
	if len(hits) == 0 {
		return
	}
	hashes := make([]library.AssetHash, len(hits))
	for i, h := range hits {
		hashes[i] = h.AssetHash
	}
	found, err := s.Store.Previews.Placeholders(ctx, actor.Tenant, hashes)
	if err != nil {
		slog.WarnContext(ctx, "a search is answered without placeholders of previews", "error", err)
		return
	}
	for i := range hits {
		hits[i].Placeholder = base64.StdEncoding.EncodeToString(found[hits[i].AssetHash])
	}
}

// matchedBy reports which retriever found a hit, empty where it was found by conditions alone.
func matchedBy(h run.Hit) string {
	switch {
	case h.ByWords && h.ByMeaning:
		return "both"
	case h.ByWords:
		return "words"
	case h.ByMeaning:
		return "meaning"
	}
	return ""
}

// rounded returns a score with three significant digits.
func rounded(score float64) float64 {
	if score == 0 {
		return 0
	}
	unit := math.Pow(10, 2-math.Floor(math.Log10(math.Abs(score))))
	return math.Round(score*unit) / unit
}

// excerpt returns the beginning of a text on one line, cut between words.
func excerpt(text string) string {
	var b strings.Builder
	length := 0
	for word := range strings.FieldsSeq(text) {
		n := utf8.RuneCountInString(word)
		if length > 0 && length+1+n > excerptLength {
			return b.String() + "…"
		}
		if length > 0 {
			b.WriteByte(' ')
			length++
		}
		if n > excerptLength {
			return b.String() + string([]rune(word)[:excerptLength-length]) + "…"
		}
		b.WriteString(word)
		length += n
	}
	return b.String()
}

// Text implements op.Texter: a line for each result, for models to read.
func (o searchOutput) Text() string {
	if o.detailed {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d of %d assets", len(o.Data), o.Total)
	if o.TotalByWords < o.Total {
		fmt.Fprintf(&b, ", %d by words, the others (marked ~) are only similar", o.TotalByWords)
	}
	if o.NextOffset != nil {
		fmt.Fprintf(&b, ", next: offset %d", *o.NextOffset)
	}
	if o.NextCursor != "" {
		b.WriteString(", next: cursor " + o.NextCursor)
	}
	for _, w := range o.Interpretation.Warnings {
		b.WriteString("\n! " + strings.TrimSpace(w.Message+" "+w.Suggestion))
	}
	if o.Relaxed != nil {
		b.WriteString("\n! No asset has all words; left out: " + strings.Join(o.Relaxed.LeftOut, " "))
	}
	if o.DidYouMean != nil {
		b.WriteString("\n? Did you mean: " + o.DidYouMean.Query)
	}
	if len(o.Degraded) > 0 {
		b.WriteString("\n! Degraded: " + strings.Join(o.Degraded, ", "))
	}
	for _, h := range o.Data {
		b.WriteString("\n" + h.line())
	}
	return b.String()
}

// line is a result on one line: the hash, then what is known, in the same order always.
func (h hit) line() string {
	parts := []string{string(h.AssetHash), h.Filename}
	if h.Title != "" {
		parts = append(parts, h.Title)
	}
	if h.Status != library.StatusDraft {
		parts = append(parts, string(h.Status))
	}
	if len(h.Tags) > 0 {
		parts = append(parts, "#"+strings.Join(h.Tags, " #"))
	}
	if len(h.Models) > 0 {
		parts = append(parts, strings.Join(h.Models, ", "))
	}
	if h.Prompt != "" {
		parts = append(parts, h.Prompt)
	}
	if h.Matched == "meaning" {
		parts = append(parts, "~")
	}
	return strings.Join(parts, " | ")
}
