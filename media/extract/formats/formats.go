// Package formats reads what the programs that make pictures write into them.
//
// In go the chunks of one file; out come records, one per format that is
// recognised, in reading order: the first record with a value for a field takes
// precedence. Each flat format is one file here and one line in All. The package
// never touches the file's bytes, never merges records, and never guesses: what a
// file does not say stays nil.
package formats

import (
	"strings"

	"vitrine/library"
)

// Format is one format of generation metadata.
type Format struct {
	// Name is the reading rule's name as it stands in evidence. The tool that a
	// record names is in the lineage: one grammar may serve many tools.
	Name string
	// Read returns what the file says in this format; false when it holds nothing in
	// it. Entries that Read used are marked with Source.markUsed, so that formats
	// further down do not read them again by a looser rule.
	Read func(*Source) (Record, bool)
}

// Record is what a file says in one format.
type Record struct {
	Lineage library.Lineage
	Place   string // the chunk it was read from, "png:tEXt:parameters"
	Rule    string // the name of the Format that read it
	Graph   bool   // the record is a node graph, whose models carry node ids
}

// All lists the formats in reading order. The programs that put their own
// summary beside the graph they ran (SwarmUI and its kin) come before the graph,
// since the summary holds what the person typed; flat text that saver nodes add
// beside a graph comes after it, since it is often a stale default.
var All = []Format{
	{"swarmui", readSwarmUI},
	{"stability-matrix", readStabilityMatrix},
	{"tensorart", readTensorArt},
	{"civitai", readCivitai},
	{"invokeai", readInvokeAI},
	{"invokeai-sd-metadata", readInvokeSDMetadata},
	{"invokeai-dream", readInvokeDream},
	{"novelai", readNovelAI},
	{"draw-things", readDrawThings},
	{"mflux", readMFLUX},
	{"ruined-fooocus", readRuinedFooocus},
	{"fooocus", readFooocus},
	{"easydiffusion", readEasyDiffusion},
	{"hf-space", readHFSpace},
	{"comfyui", readComfyUI},
	{"infotext", readInfotext},
	{"midjourney", readMidjourney},
	{"iptc", readIPTC},
	{"aigc-info", readAIGCInfo},
	{"plain-json", readPlainJSON},
	{"c2pa", readCredentials},
}

// Read returns a record for every format that the source holds.
func Read(src *Source) []Record {
	var found []Record
	for _, w := range All {
		f, ok := w.Read(src)
		if !ok {
			continue
		}
		f.Rule = w.Name
		number(f.Lineage.Models)
		found = append(found, f)
	}
	return found
}

// number sets each model's place in the load order.
func number(models []library.ModelUse) {
	for i := range models {
		models[i].Sequence = i
	}
}

// params returns the lineage's settings, made on first use so that a record
// without any leaves them nil.
func params(l *library.Lineage) *library.GenerationParameters {
	if l.Parameters == nil {
		l.Parameters = &library.GenerationParameters{}
	}
	return l.Parameters
}

// tidy drops settings in which nothing was set.
func tidy(l *library.Lineage) {
	if l.Parameters != nil && *l.Parameters == (library.GenerationParameters{}) {
		l.Parameters = nil
	}
	if l.Hires != nil && *l.Hires == (library.Hires{}) {
		l.Hires = nil
	}
}

// maxModels bounds a flat record's list of models.
const maxModels = 300

// addModel appends a model that ran, once per type and name. Names by which the
// writers say "no model here" are not models.
func addModel(l *library.Lineage, m library.ModelUse) {
	m.Name = strings.TrimSpace(m.Name)
	if noModel(m.Name) || len(l.Models) >= maxModels {
		return
	}
	for i := range l.Models {
		have := &l.Models[i]
		if have.Type == m.Type && library.FoldModelName(have.Name) == library.FoldModelName(m.Name) {
			enrich(have, m)
			return
		}
	}
	l.Models = append(l.Models, m)
}

// enrich fills what a model's earlier mention left out.
func enrich(have *library.ModelUse, m library.ModelUse) {
	fill(&have.Hash, m.Hash)
	fill(&have.NodeID, m.NodeID)
	fill(&have.BaseModel, m.BaseModel)
	fill(&have.VersionID, m.VersionID)
	if have.Strength == nil {
		have.Strength = m.Strength
	}
	if have.ClipStrength == nil {
		have.ClipStrength = m.ClipStrength
	}
}

func fill(dst *string, v string) {
	if *dst == "" {
		*dst = v
	}
}

func noModel(name string) bool {
	switch strings.ToLower(name) {
	case "", "none", "null", "automatic", "(none)", "(use base)", "@none", "@default", "default", "default (model)", "use same checkpoint", "use same choices", "built-in", "use same sampler", "baked vae", "unknown":
		return true
	}
	return false
}

const maxExtra = 200 // further settings kept per file; beyond it the raw chunk speaks

// addExtra keeps a setting that has no field of its own.
func addExtra(l *library.Lineage, key, value string) {
	if key == "" || value == "" || len(l.Extra) >= maxExtra || len(key) > 100 || len(value) > 4000 {
		return
	}
	if l.Extra == nil {
		l.Extra = map[string]string{}
	}
	if _, taken := l.Extra[key]; !taken {
		l.Extra[key] = value
	}
}
