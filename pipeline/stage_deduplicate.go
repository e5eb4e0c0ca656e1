package pipeline

import (
	"cmp"
	"slices"

	"vitrine/library"
	"vitrine/media/phash"
	"vitrine/pipeline/expr"
	"vitrine/store"
)

// deduplicate keeps one asset of each group of alike ones.
type deduplicate struct {
	By        string `json:"by,omitempty" enum:"sha1,phash,prompt,workflow,seed,field" default:"phash" doc:"phash: look alike. prompt, workflow, seed: made with the same. field: have the same value. sha1: nothing, as equal bytes are one asset."`
	Field     string `json:"field,omitempty" maxLength:"210" doc:"With by field: which one."`
	Threshold *int   `json:"threshold,omitempty" minimum:"0" maximum:"10" doc:"By phash: how many of 64 bits may differ. Default: 8."`
	Keep      string `json:"keep,omitempty" enum:"first,newest,oldest,largest,best_score" default:"best_score" doc:"Which asset of a group stays. best_score: the best rated, a favorite first. Equal ones: the first of the set."`
}

var kindDeduplicate = newKind[deduplicate](Kind{Type: "deduplicate", Category: Filter, Doc: "Keeps one asset of each group of alike ones; assets that cannot be compared stay.", Args: []string{"by"}, Example: map[string]any{"by": "phash", "keep": "largest"}})

func (s *deduplicate) check(c *checking) []library.FieldError {
	switch {
	case s.By == "field" && s.Field == "":
		return []library.FieldError{{Field: c.at + ".field", Code: "required", Message: "It is required with by field."}}
	case s.By != "field" && s.Field != "":
		return []library.FieldError{{Field: c.at + ".field", Code: "conflict", Message: "It is for by field alone."}}
	case s.Threshold != nil && s.By != "phash":
		return []library.FieldError{{Field: c.at + ".threshold", Code: "conflict", Message: "It is for by phash alone."}}
	case s.Field != "":
		return checkField(c.at+".field", s.Field, false)
	}
	return nil
}

// score is what of a group stays: the highest.
func (s *deduplicate) score(r *Row) float64 {
	switch s.Keep {
	case "newest":
		return float64(r.CreatedAt.UnixMilli())
	case "oldest":
		return -float64(r.CreatedAt.UnixMilli())
	case "largest":
		return float64(r.Width)*float64(r.Height) + float64(r.Size)/(1<<50)
	case "best_score":
		score := float64(r.Rating)
		if r.Favorite {
			score += 10
		}
		return score
	}
	return 0
}

func (s *deduplicate) run(x *exec) error {
	if s.By == "phash" {
		return s.runAlike(x)
	}
	name := map[string]string{"sha1": "asset_h", "prompt": "prompt_hash", "workflow": "workflow_hash", "seed": "seed", "field": s.Field}[s.By]
	return x.withKeys(fieldKinds(name), func(r *Row) ([]store.SortKey, error) {
		return []store.SortKey{{Key: groupKey(r, name), Value: s.score(r)}}, nil
	}, func(t *store.Tx) error {
		return x.pick(t, `SELECT asset_h, row_number() OVER (ORDER BY place) - 1 AS place FROM (
			SELECT DISTINCT ON (key) asset_h, place FROM pipeline_keys ORDER BY key, value DESC, place) d`)
	})
}

// groupKey is the same for rows with the same value; a row without one is alone.
func groupKey(r *Row, name string) []byte {
	v := r.Field(name)
	if v.IsMissing() {
		return append([]byte{keyMissing}, r.Hash...)
	}
	if v.Type() == expr.List {
		v = expr.OfText(v.String())
	}
	return appendKey(nil, v, false)
}

// runAlike compares pictures. It holds 32 bytes of each asset in memory, and those of groups.
func (s *deduplicate) runAlike(x *exec) error {
	threshold := phash.Alike
	if s.Threshold != nil {
		threshold = *s.Threshold
	}
	type candidate struct {
		asset library.AssetHash
		place int
		score float64
	}
	var prints []phash.Hash
	var known []candidate
	err := x.eachRow(store.FactKinds{Fingerprints: true}, func(r *Row) error {
		if p := r.Facts.PHash; p != nil {
			prints, known = append(prints, phash.Hash(*p)), append(known, candidate{r.Hash, len(known), s.score(r)})
		}
		return nil
	})
	if err != nil {
		return err
	}
	drop := map[library.AssetHash]bool{}
	for _, g := range phash.Group(prints, threshold, nil) {
		best := slices.MinFunc(g, func(a, b int) int {
			return cmp.Or(cmp.Compare(known[b].score, known[a].score), cmp.Compare(known[a].place, known[b].place))
		})
		for _, i := range g {
			if i != best {
				drop[known[i].asset] = true
			}
		}
	}
	return x.parts(func(assets []library.AssetHash) error {
		return x.emit(slices.DeleteFunc(assets, func(h library.AssetHash) bool { return drop[h] })...)
	})
}
