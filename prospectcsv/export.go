package prospectcsv

import (
	"bufio"
	"net/http"
	"strconv"
	"strings"
	"time"

	"vitrine/library"
	"vitrine/op"
	"vitrine/op/prospects"
	"vitrine/outreach"
	"vitrine/store"
)

const domain = op.Outreach

// Export writes the prospects of a tenant as CSV, suppressed ones only where they are asked
// for, with their state. An import takes the file back.
func (s *Service) Export(w http.ResponseWriter, r *http.Request, actor library.Actor) error {
	if !s.Caller.OffersDomain(r.Context(), actor.Tenant, domain) {
		return op.DomainDisabled(domain)
	}
	query := r.URL.Query()
	all := false
	if v := query.Get("include_suppressed"); v != "" {
		var err error
		if all, err = strconv.ParseBool(v); err != nil {
			return library.Invalid(library.FieldError{Field: "include_suppressed", Code: "type", Message: "Expected true or false."})
		}
	}
	campaign := strings.TrimSpace(query.Get("campaign"))
	out := bufio.NewWriterSize(w, 64<<10)
	begun := false
	begin := func() {
		begun = true
		h := w.Header()
		h.Set("Content-Type", "text/csv; charset=utf-8; header=present")
		h.Set("Content-Disposition", `attachment; filename="prospects.csv"`)
		h.Set("Cache-Control", "no-store")
		writeLine(out, header())
	}
	err := s.Store.Prospects.Each(r.Context(), actor, func(p store.ProspectState) error {
		if !begun {
			begin()
		}
		now := time.Now()
		if !all && p.Suppressed(now) != nil || campaign != "" && !strings.EqualFold(p.Profile.Campaign, campaign) {
			return nil
		}
		return writeLine(out, lineOf(&p, now))
	})
	if err != nil {
		if begun {
			panic(http.ErrAbortHandler) // the file must not look whole
		}
		return err
	}
	if !begun {
		begin()
	}
	return out.Flush()
}

func header() []string {
	var names []string
	for _, f := range fields {
		names = append(names, f.name)
	}
	return append(names, state...)
}

func writeLine(out *bufio.Writer, cells []string) error {
	for i, c := range cells {
		if i > 0 {
			out.WriteByte(',')
		}
		out.WriteString(cell(c))
	}
	_, err := out.WriteString("\r\n")
	return err
}

// lineOf returns the cells of a prospect.
func lineOf(p *store.ProspectState, now time.Time) []string {
	person := prospects.PersonOf(&p.State)
	var cells []string
	for _, f := range fields {
		switch {
		case f.text != nil:
			cells = append(cells, *f.text(&person))
		case f.list != nil:
			cells = append(cells, strings.Join(*f.list(&person), "\n"))
		default:
			n := ""
			if v := *f.float(&person); v != nil {
				n = strconv.FormatFloat(*v, 'f', -1, 64)
			}
			cells = append(cells, n)
		}
	}
	reason, until := "", ""
	if x := p.Suppressed(now); x != nil {
		reason, until = x.Reason, x.Until
	}
	cells = append(cells, string(p.Hash), string(p.Status(now)), strconv.Itoa(p.Step), instant(p.LastTouch), instant(p.LastReply), instant(p.NextDue()), reason, until)
	for _, pipeline := range outreach.Pipelines {
		stage := ""
		if c := p.ContactIn(pipeline.Name); c != nil {
			stage = c.Stage
		}
		cells = append(cells, stage)
	}
	return cells
}

func instant(t *time.Time) string {
	if t == nil {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
