package library

import (
	"crypto/sha1"
	"encoding/hex"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The limits of experiments.
const (
	MaxRuns        = 2000   // of one experiment
	MaxScores      = 20_000 // of one experiment: evaluators' answers about runs
	MaxComparisons = 20_000 // of one experiment
	MinScore       = 1
	MaxScore       = 5
)

// EvaluatorType is what kind of evaluator gave scores.
type EvaluatorType string

// Tie as the winner of a comparison means that neither run was better.
const Tie = "tie"

// Experiment is a collection whose assets are runs that are to be compared.
type Experiment struct {
	Collection
	Hypothesis          string
	IndependentVariable string // what differs between conditions, for example cfg
	ControlVariable     string // what is kept the same
	ModelName           string // of runs that name none
	WorkflowName        string
	Resolution          string
	DomainContext       map[string]any
	Revision            int64 // rises with every change of the fields above
}

// RunHash returns the identity of an asset's run in an experiment.
func RunHash(experiment CollectionHash, asset AssetHash) string {
	sum := sha1.Sum([]byte("run " + string(experiment) + " " + string(asset)))
	return hex.EncodeToString(sum[:])
}

// RunClaim is what was said of a run when it was registered; nil and empty: nothing.
type RunClaim struct {
	ConditionID  string
	VariantLabel string
	Seed         *uint64
	Prompt       *string
	Model        *string
	Params       map[string]any
	OutcomeTags  []string
}

// Run is an asset in an experiment.
type Run struct {
	Hash     string
	Asset    AssetHash
	Position int
	Claim    RunClaim
	AddedAt  time.Time
	Lineage  Lineage // prompt, models, settings and the first pass's node of the file; what it does not say is nil
}

// RunValue is a value of a run with where it is from.
type RunValue struct {
	Value     any  // a string, a float64, a uint64 or a bool
	Extracted bool // the file says so; else it was claimed
}

// RunDifference is a claim that the file contradicts. The file's value counts.
type RunDifference struct {
	Field     string `json:"field"`
	Claimed   any    `json:"claimed"`
	Extracted any    `json:"extracted"`
}

// paramNames are other spellings of settings.
var paramNames = map[string]string{"cfg": "cfg_scale", "cfgscale": "cfg_scale", "sampler_name": "sampler", "denoising_strength": "denoise", "denoising": "denoise",
	"prompt_text": "prompt", "positive": "prompt", "negative": "negative_prompt", "model_name": "model", "checkpoint": "model", "condition_id": "condition", "variant_label": "variant"}

// ParamName returns the name of a setting by which runs are compared: lower case, with
// underscores, and the same for every spelling.
func ParamName(name string) string {
	name = strings.ReplaceAll(strings.ReplaceAll(strings.ToLower(strings.Join(strings.Fields(name), "_")), "-", "_"), " ", "_")
	if other, ok := paramNames[name]; ok {
		return other
	}
	return name
}

// Values returns the values of a run by the names of ParamName: what its file says, and
// what was claimed where the file says nothing. Differences are the claims that the file
// contradicts, in the order of their names.
func (r Run) Values() (values map[string]RunValue, differences []RunDifference) {
	values = map[string]RunValue{}
	for name, v := range r.Lineage.runValues() {
		values[name] = RunValue{v, true}
	}
	claims := map[string]any{}
	for name, v := range r.Claim.Params {
		claims[ParamName(name)] = v
	}
	if r.Claim.Seed != nil {
		claims["seed"] = *r.Claim.Seed
	}
	if r.Claim.Prompt != nil {
		claims["prompt"] = *r.Claim.Prompt
	}
	if r.Claim.Model != nil {
		claims["model"] = *r.Claim.Model
	}
	for _, name := range slices.Sorted(maps.Keys(claims)) {
		found, ok := values[name]
		switch {
		case !ok:
			values[name] = RunValue{Value: claims[name]}
		case !sameRunValue(name, claims[name], found.Value):
			differences = append(differences, RunDifference{name, claims[name], found.Value})
		}
	}
	for name, v := range map[string]string{"condition": r.Claim.ConditionID, "variant": r.Claim.VariantLabel} {
		if v != "" {
			values[name] = RunValue{Value: v}
		}
	}
	return values, differences
}

// runValues returns what a file says of its making by the names of ParamName.
func (l Lineage) runValues() map[string]any {
	values := map[string]any{}
	text := func(name string, v *string) {
		if v != nil {
			values[name] = *v
		}
	}
	number := func(name string, v *float64) {
		if v != nil {
			values[name] = *v
		}
	}
	count := func(name string, v *int) {
		if v != nil {
			values[name] = float64(*v)
		}
	}
	text("prompt", l.Positive)
	text("negative_prompt", l.Negative)
	if p := l.Parameters; p != nil {
		if p.Seed != nil {
			values["seed"] = *p.Seed
		}
		count("steps", p.Steps)
		number("cfg_scale", p.CFGScale)
		number("guidance", p.Guidance)
		text("sampler", p.Sampler)
		text("scheduler", p.Scheduler)
		number("denoise", p.Denoise)
		count("clip_skip", p.ClipSkip)
		count("width", p.Width)
		count("height", p.Height)
		count("frames", p.Frames)
		number("fps", p.FPS)
		text("model", p.ModelName)
	}
	if _, ok := values["model"]; !ok {
		if i := slices.IndexFunc(l.Models, func(m ModelUse) bool { return m.Type == "checkpoint" || m.Type == "unet" }); i >= 0 {
			values["model"] = l.Models[i].Name
		}
	}
	return values
}

// sameRunValue reports whether a claim says what the file says: numbers by their value, names
// of models without folder and extension, texts without regard to case and blanks.
func sameRunValue(name string, claimed, extracted any) bool {
	a, b := RunText(claimed), RunText(extracted)
	if x, err := strconv.ParseFloat(a, 64); err == nil {
		if y, err := strconv.ParseFloat(b, 64); err == nil && name != "seed" {
			return x == y
		}
	}
	if name == "model" {
		return FoldModelName(a) == FoldModelName(b)
	}
	return strings.EqualFold(strings.Join(strings.Fields(a), " "), strings.Join(strings.Fields(b), " "))
}

// RunText returns a value of a run as text: numbers in their shortest form.
func RunText(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case uint64:
		return strconv.FormatUint(v, 10)
	case bool:
		return strconv.FormatBool(v)
	case interface{ String() string }: // json.Number
		return v.String()
	}
	return ""
}

// RunScore is what one evaluator says of a run.
type RunScore struct {
	Run           string
	Evaluator     string
	EvaluatorType EvaluatorType
	Scores        map[string]int // by dimension, 1 to 5
	Flags         map[string]bool
	Comments      string
	AnnotationID  string
}

// RunComparison is what one evaluator says of two runs.
type RunComparison struct {
	A, B          string // the runs
	Evaluator     string
	EvaluatorType EvaluatorType
	Winners       map[string]string // by dimension: a run, or Tie
	Notes         string
}

// MainNode returns the id of the node that made a file's picture: of the primary sampling pass.
// It is empty where the file has no graph.
func (l Lineage) MainNode() string {
	if len(l.Samplers) == 0 {
		return ""
	}
	return l.Samplers[0].NodeID
}
