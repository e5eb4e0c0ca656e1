package extract

import (
	"strings"

	"vitrine/library"
	"vitrine/media/extract/formats"
)

// merge puts records together, the first to speak of a field taking precedence.
// Later ones fill what it left open; where they contradict it, the contradiction
// is recorded.
func merge(records []formats.Record) library.Lineage {
	m := merger{}
	for _, f := range records {
		m.add(f)
	}
	if m.l.Models == nil {
		m.l.Models = []library.ModelUse{}
	}
	for i := range m.l.Models {
		m.l.Models[i].Sequence = i
	}
	return m.l
}

type merger struct {
	l     library.Lineage
	from  map[string]string // the place each field was taken from
	place string            // of the record being added
	rule  string
	graph bool // a node graph has been read
	mute  bool // the record may only be compared, not filled in
	// loneBase holds while both lists of models that are being joined name one
	// base model, so that they must mean the same load.
	loneBase bool
}

func (m *merger) add(f formats.Record) {
	if m.from == nil {
		m.from = map[string]string{}
	}
	m.place, m.rule = f.Place, f.Rule
	m.mute = m.graph && !f.Graph && stale(&m.l, &f.Lineage)
	l := f.Lineage
	l.Models = withoutUnused(l.Models, l.Positive)
	m.evidence(l.Evidence)
	if !m.mute && m.l.Tool == "" {
		m.l.Tool, m.l.ToolVersion = l.Tool, l.ToolVersion
	}
	take(m, "positive", &m.l.Positive, l.Positive)
	take(m, "negative", &m.l.Negative, l.Negative)
	m.settings(l.Parameters)
	m.models(l.Models, f.Graph)
	m.parts(&l)
	m.lists(&l)
	m.graph = m.graph || f.Graph
}

// stale reports whether flat text beside a graph speaks of another run: saver
// nodes whose inputs were left unconnected write their defaults.
func stale(graph, flat *library.Lineage) bool {
	if flat.Positive != nil && strings.EqualFold(strings.TrimSpace(*flat.Positive), "unknown") {
		return true
	}
	g, f := graph.Parameters, flat.Parameters
	return g != nil && f != nil && g.Seed != nil && f.Seed != nil && *g.Seed != *f.Seed
}

// take fills an open field, or compares a filled one.
func take[T comparable](m *merger, field string, dst **T, v *T) {
	switch {
	case v == nil:
	case *dst == nil && !m.mute:
		*dst = v
		m.note(field)
	case *dst != nil && !same(**dst, *v):
		m.conflict(field)
	}
}

// same compares two readings of a value: texts without regard to white space,
// names without regard to case and folder.
func same[T comparable](a, b T) bool {
	if a == b {
		return true
	}
	s, ok := any(a).(string)
	t, _ := any(b).(string)
	return ok && (strings.EqualFold(strings.Join(strings.Fields(s), " "), strings.Join(strings.Fields(t), " ")) ||
		library.FoldModelName(s) == library.FoldModelName(t))
}

func (m *merger) note(field string) {
	m.from[field] = m.place
	for _, e := range m.l.Evidence {
		if e.Field == field && e.Place == m.place {
			return // the reader itself said more precisely where
		}
	}
	m.l.Evidence = append(m.l.Evidence, library.Evidence{Field: field, Place: m.place, Rule: m.rule})
}

func (m *merger) conflict(field string) {
	c := library.Conflict{Field: field, Taken: m.from[field], Other: m.place}
	for _, have := range m.l.Conflicts {
		if have == c {
			return
		}
	}
	m.l.Conflicts = append(m.l.Conflicts, c)
}

// evidence keeps a record's own evidence for the fields still open.
func (m *merger) evidence(list []library.Evidence) {
	if m.mute {
		return
	}
	for _, e := range list {
		if _, filled := m.from[e.Field]; !filled {
			m.l.Evidence = append(m.l.Evidence, e)
		}
	}
}

func (m *merger) settings(p *library.GenerationParameters) {
	if p == nil {
		return
	}
	if m.l.Parameters == nil {
		if m.mute {
			return
		}
		m.l.Parameters = &library.GenerationParameters{}
	}
	d := m.l.Parameters
	take(m, "seed", &d.Seed, p.Seed)
	take(m, "model_name", &d.ModelName, p.ModelName)
	take(m, "steps", &d.Steps, p.Steps)
	take(m, "cfg_scale", &d.CFGScale, p.CFGScale)
	take(m, "guidance", &d.Guidance, p.Guidance)
	m.sampler(&d.Sampler, p.Sampler)
	take(m, "scheduler", &d.Scheduler, p.Scheduler)
	take(m, "denoise", &d.Denoise, p.Denoise)
	take(m, "clip_skip", &d.ClipSkip, p.ClipSkip)
	take(m, "width", &d.Width, p.Width)
	take(m, "height", &d.Height, p.Height)
	take(m, "frames", &d.Frames, p.Frames)
	take(m, "fps", &d.FPS, p.FPS)
	take(m, "batch_size", &d.BatchSize, p.BatchSize)
	if *d == (library.GenerationParameters{}) {
		m.l.Parameters = nil
	}
}

// sampler is take for the sampler, which the tools spell differently: "Euler a" is
// euler_ancestral, "DPM++ 2M Karras" is dpmpp_2m with a schedule.
func (m *merger) sampler(dst **string, v *string) {
	if *dst == nil || v == nil || foldSampler(**dst) != foldSampler(*v) {
		take(m, "sampler", dst, v)
	}
}

var samplerSpelling = strings.NewReplacer("++", "pp", "_", "", " ", "", "-", "")

// foldSampler returns a sampler's name without spelling and schedule.
func foldSampler(name string) string {
	name = strings.ToLower(strings.TrimSpace(name))
	if ancestral, ok := strings.CutSuffix(name, " a"); ok {
		name = ancestral + " ancestral"
	}
	name = strings.TrimPrefix(samplerSpelling.Replace(name), "k")
	for _, schedule := range []string{"karras", "exponential", "sgmuniform", "simple", "normal", "beta"} {
		if s, ok := strings.CutSuffix(name, schedule); ok && s != "" {
			return s
		}
	}
	return name
}

func fill(dst *string, v string) {
	if *dst == "" {
		*dst = v
	}
}

// parts takes over the parts of a lineage that stand or fall as a whole.
func (m *merger) parts(l *library.Lineage) {
	whole(m, "hires", &m.l.Hires, l.Hires)
	whole(m, "workflow", &m.l.Workflow, l.Workflow)
	whole(m, "image_tool", &m.l.ImageTool, l.ImageTool)
	whole(m, "c2pa", &m.l.C2PA, l.C2PA)
	if len(m.l.Samplers) == 0 && !m.mute {
		m.l.Samplers = l.Samplers
	}
	if len(m.l.Regions) == 0 && !m.mute {
		m.l.Regions = l.Regions
	}
}

func whole[T any](m *merger, field string, dst **T, v *T) {
	if v != nil && *dst == nil && !m.mute {
		*dst = v
		m.note(field)
	}
}

// lists adds a lineage's parents, extras, conflicts and warnings.
func (m *merger) lists(l *library.Lineage) {
	for _, p := range l.Parents {
		m.parent(p)
	}
	m.l.Conflicts = append(m.l.Conflicts, l.Conflicts...)
	m.l.Warnings = append(m.l.Warnings, l.Warnings...)
	if m.mute {
		return
	}
	for k, v := range l.Extra {
		if m.l.Extra == nil {
			m.l.Extra = map[string]string{}
		}
		if _, taken := m.l.Extra[k]; !taken {
			m.l.Extra[k] = v
		}
	}
}

// parent adds a parent once, however many records name it.
func (m *merger) parent(p library.Parent) {
	for i := range m.l.Parents {
		have := &m.l.Parents[i]
		sameFile := have.Hash == p.Hash || have.Hash == "" || p.Hash == ""
		if have.Name == p.Name && have.JobID == p.JobID && sameFile && (have.NodeID == p.NodeID || p.NodeID == "") {
			fill(&have.Hash, p.Hash)
			return
		}
	}
	m.l.Parents = append(m.l.Parents, p)
}
