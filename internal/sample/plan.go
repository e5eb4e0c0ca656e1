package sample

import (
	"slices"
	"time"

	"vitrine/internal/sample/draw"
	"vitrine/internal/sample/scene"
	"vitrine/internal/sample/writer"
	"vitrine/library"
)

// entry is one planned file. Planning is one cheap sequential pass that draws
// nothing; writing an entry needs only the entry, so entries are written in
// parallel and in any order.
type entry struct {
	row     *share
	path    string
	when    time.Time
	session int
	gap     time.Duration // since the previous file of the session
	spec    *scene.Spec
	manner  scene.Manner
	w, h    int
	job     writer.Job
	jobSeed uint64
	index   int    // position within its job or sweep
	source  *entry // parent, or the original of a copy
}

// planner draws the sessions of an imagined user.
type planner struct {
	opts    Options
	r       *draw.Rand
	rows    []*share
	deck    []*scene.Kind // shuffled, so that kinds alternate
	entries []*entry
	written map[*share]int
	session int
}

// showcase is how many of the first files make sure that every way of saving
// appears: a small sample is a complete demonstration.
const showcase = 50

func plan(opts Options) ([]*entry, error) {
	p := &planner{opts: opts, r: draw.NewRand(draw.Mix(opts.Seed, 1)), written: map[*share]int{}}
	for i := range shares {
		if len(opts.Writers) == 0 || slices.Contains(opts.Writers, shares[i].name) {
			p.rows = append(p.rows, &shares[i])
		}
	}
	p.showcase()
	for len(p.entries) < opts.Count {
		row := p.pick()
		if row == nil {
			return nil, library.Invalid(library.FieldError{Field: "writers", Code: "conflict",
				Message: "These writers only save files made from other files; add one that starts from nothing, such as comfyui."})
		}
		length := p.sweep()
		p.run(row, min(p.r.Between(1, 4), max(p.longest()/length, 1)), min(length, p.longest()))
	}
	p.entries = p.entries[:opts.Count]
	p.schedule()
	name(p.entries)
	return p.entries, nil
}

// showcase writes one short session per row, common rows first.
func (p *planner) showcase() {
	var later []*share
	for i, row := range p.rows {
		if !p.eligible(row) {
			later = append(later, row)
			continue
		}
		length := 1
		if i < 6 && row.form != nil {
			length = 3
		}
		p.run(row, 1, length)
	}
	for _, row := range later {
		if p.eligible(row) {
			p.run(row, 1, 1)
		}
	}
}

func (p *planner) eligible(row *share) bool {
	return !row.needsSource || len(p.sources(row)) > 0
}

// pick chooses the row for the next session: the further a row is behind its
// share, the likelier it is.
func (p *planner) pick() *share {
	total := 0
	for _, row := range p.rows {
		total += row.perThousand
	}
	debts, sum := make([]float32, len(p.rows)), float32(0)
	for i, row := range p.rows {
		if !p.eligible(row) {
			continue
		}
		want := float32(row.perThousand) / float32(total) * float32(len(p.entries)+8)
		debts[i] = max(want-float32(p.written[row]), 0)
		sum += debts[i]
	}
	if sum == 0 {
		return p.first()
	}
	f := p.r.Float() * sum
	for i, d := range debts {
		if f -= d; f < 0 && d > 0 {
			return p.rows[i]
		}
	}
	return p.first()
}

func (p *planner) first() *share {
	for _, row := range p.rows {
		if p.eligible(row) {
			return row
		}
	}
	return nil
}

// sweep is how many seeds one idea gets: half the time one, else a few.
func (p *planner) sweep() int {
	switch f := p.r.Float(); {
	case f < 0.5:
		return 1
	case f < 0.85:
		return p.r.Between(2, 4)
	default:
		return p.r.Between(5, 9)
	}
}

// longest is the most files of one session: in a small sample one session must
// not fill the gallery.
func (p *planner) longest() int { return min(max(p.opts.Count/25, 3), 24) }

// run plans one session: so many ideas, each with so many seeds.
func (p *planner) run(row *share, ideas, length int) {
	p.session++
	if row.form == nil || row.needsSource || row.name == "bare-png" {
		ideas, length = 1, 1
	}
	for range ideas {
		if row.form == nil {
			p.add(p.odd(row))
			continue
		}
		p.idea(row, length)
	}
}

func (p *planner) add(e *entry) {
	e.session = p.session
	e.gap = time.Duration(p.r.Between(9, 70)) * time.Second
	p.written[e.row]++
	p.entries = append(p.entries, e)
}

// idea plans one prompt with length seeds.
func (p *planner) idea(row *share, length int) {
	first := p.entry(row)
	seed := first.job.Seed
	base := first.spec
	for i := range length {
		e := *first
		e.index = i
		if i > 0 {
			e.spec = base.Variation(draw.Mix(base.Seed, uint64(i)))
			e.job.Seed = nextSeed(row, seed, i, p.r)
		}
		if e.jobSeed = p.r.Uint64(); toolOf(row) == "midjourney" && i%4 > 0 {
			// The image tool makes four pictures in one job, with one seed.
			last := p.entries[len(p.entries)-1]
			e.jobSeed, e.job.Seed = last.jobSeed, last.job.Seed
		}
		p.add(&e)
	}
}

// entry invents one file: the idea, its wording, its settings.
func (p *planner) entry(row *share) *entry {
	e := &entry{row: row}
	if row.needsSource {
		e.source = draw.Pick(p.r, p.sources(row))
		e.spec, e.w, e.h, e.manner = e.source.spec, e.source.w, e.source.h, e.source.manner
		p.rework(e)
	} else {
		e.spec = scene.New(p.deal(), p.r)
		e.w, e.h = p.size(e.spec.Kind.Portrait)
		e.manner = scene.PickManner(p.r)
	}
	e.job = p.job(row, e)
	return e
}

// rework changes what a second pass over a picture changes: a chat app
// nothing, a variation the arrangement, a repaint the colours.
func (p *planner) rework(e *entry) {
	switch e.row.name {
	case "chat-jpeg":
	case "imagetool-variation":
		e.spec = e.spec.Variation(p.r.Uint64())
	default:
		e.spec = e.spec.Recoloured(p.r)
	}
}

// deal takes the next kind of the shuffled deck.
func (p *planner) deal() *scene.Kind {
	if len(p.deck) == 0 {
		p.deck = slices.Clone(scene.Kinds())
		draw.Shuffle(p.r, p.deck)
	}
	k := p.deck[0]
	p.deck = p.deck[1:]
	return k
}

// sources lists the earlier files a row can be made from. Only recent ones are
// offered: people rework what they just made.
func (p *planner) sources(row *share) []*entry {
	var out []*entry
	for i := len(p.entries) - 1; i >= 0 && len(out) < 40; i-- {
		e := p.entries[i]
		if e.row.form == nil || e.row.form.Ext != ".png" || e.row.name == "bare-png" {
			continue
		}
		same := e.row.form.Tool == toolOf(row)
		if row.form == nil || row.name == "chat-jpeg" || same || (toolOf(row) == "comfyui" && e.row.form.Tool != "midjourney") {
			out = append(out, e)
		}
	}
	return out
}

func toolOf(row *share) string {
	if row.form == nil {
		return ""
	}
	return row.form.Tool
}

var (
	portraits  = [][2]int{{512, 768}, {448, 640}, {512, 640}, {448, 704}, {512, 704}}
	landscapes = [][2]int{{768, 512}, {640, 448}, {640, 512}, {768, 448}, {704, 448}}
	squares    = [][2]int{{512, 512}, {576, 576}, {512, 512}}
)

func (p *planner) size(portrait float32) (w, h int) {
	list := landscapes
	switch f := p.r.Float(); {
	case f < portrait:
		list = portraits
		if p.r.Chance(0.06) {
			list = [][2]int{{832, 1216}}
		}
	case f > 0.75:
		list = squares
	}
	s := draw.Pick(p.r, list)
	w, h = s[0], s[1]
	if edge := max(w, h); p.opts.MaxEdge > 0 && edge > p.opts.MaxEdge {
		w, h = max(w*p.opts.MaxEdge/edge/8*8, 8), max(h*p.opts.MaxEdge/edge/8*8, 8)
	}
	return w, h
}
