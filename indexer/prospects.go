package indexer

import (
	"context"
	"encoding/json"
	"time"

	"vitrine/library"
	"vitrine/mappings"
	"vitrine/outreach"
	"vitrine/store"
	"vitrine/store/indexstate"
)

// prospectDefinition is the index of prospects.
func prospectDefinition(st *store.Store) *Definition {
	return Definition{
		Index: mappings.ProspectIndex(),
		Read: func(ctx context.Context, keys []indexstate.DocumentKey) ([]Row, []indexstate.Generation, error) {
			docs, generations, err := st.Prospects.Documents(ctx, keys)
			rows := make([]Row, len(docs))
			for i := range docs {
				rows[i] = Row{docs[i].DocumentHead, (*prospectContent)(&docs[i])}
			}
			return rows, generations, err
		},
	}.Table(st.Prospects.Table())
}

// prospectContent is a person as its document is made of it.
type prospectContent store.ProspectDocument

// Whole implements Content. Prospects have no vectors: personal data goes to no embedder.
func (p *prospectContent) Whole(dst []byte, version int64) (doc []byte, text string) {
	return p.write(dst, version, func(d *mappings.ProspectDocument, s *outreach.State) {
		p.describe(d, s)
		if r := s.Research; r != nil {
			d.Text = append(append([]string{r.Summary}, r.Pains...), r.Signals...)
		}
	}), ""
}

// Partial implements Content: without the research.
func (p *prospectContent) Partial(dst []byte, version int64, reason string) []byte {
	return p.write(dst, version, func(d *mappings.ProspectDocument, s *outreach.State) {
		p.describe(d, s)
		d.IndexError = reason
	})
}

// Named implements Content.
func (p *prospectContent) Named(dst []byte, version int64, reason string) []byte {
	return p.write(dst, version, func(d *mappings.ProspectDocument, s *outreach.State) { d.Name, d.IndexError = s.Profile.Name, reason })
}

// write appends a document with what decides whether the person may be written to, which
// every form of it has.
func (p *prospectContent) write(dst []byte, version int64, fill func(*mappings.ProspectDocument, *outreach.State)) []byte {
	s := outreach.Fold(p.Rows)
	d := mappings.ProspectDocument{TenantID: p.Tenant, ProspectH: library.ProspectHash(p.Key), DocVersion: version, Sequence: string(s.Sequence), Updated: instant(p.UpdatedAt)}
	if x := s.Strictest(); x != nil {
		d.SuppressedUntil, d.SuppressedForGood, d.SuppressionReason = x.Until, x.Until == "", x.Reason
	}
	fill(&d, &s)
	b, err := json.Marshal(d)
	if err != nil {
		panic(err) // strings, numbers and times
	}
	return append(dst, b...)
}

func (p *prospectContent) describe(d *mappings.ProspectDocument, s *outreach.State) {
	who := s.Profile
	d.Name, d.Account, d.LinkedInURL, d.Title, d.Vertical, d.Campaign = who.Name, who.Account, who.LinkedInURL, who.Title, who.Vertical, who.Campaign
	d.Email, d.ProfileURL, d.Handle, d.Website, d.ICPScore, d.Owner = who.Email, who.ProfileURL, who.Handle, who.Website, who.ICPScore, s.Owner
	d.Step, d.SequenceLength, d.Created = s.Step, s.Length, instant(s.CreatedAt)
	d.LastTouchAt, d.LastReplyAt, d.NextDueAt = instantOf(s.LastTouch), instantOf(s.LastReply), instantOf(s.NextDue())
	stages := map[string]*string{"community": &d.CommunityStage, "enterprise": &d.EnterpriseStage, "investor": &d.InvestorStage}
	for _, c := range s.Contacts {
		if stage := stages[c.Pipeline]; stage != nil {
			*stage = c.Stage
		}
	}
	if len(s.Contacts) > 0 {
		b, err := json.Marshal(s.Contacts)
		if err != nil {
			panic(err) // strings, numbers and times
		}
		d.Contacts = string(b)
	}
}

func instantOf(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	return instant(*t)
}
