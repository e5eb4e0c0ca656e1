// Package pipeline runs pipelines: stages that select assets, filter and sort them, change
// them, act on them, tell others, and summarize.
//
// In goes a Definition, which Parse makes of stages as JSON and checks as a whole; Engine.Start
// makes a run of it, and Engine.Work does the run part by part. Sets of assets flow from
// stage to stage as parts of at most 1,000 hashes that are kept in PostgreSQL, so a run
// needs the memory of one part and goes on after its process was killed: what a part
// changes, and that it is done, commit together. It decides nothing about who may run what.
package pipeline

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"vitrine/library"
	"vitrine/op"
	"vitrine/store"
)

// Category is what a stage does in general.
type Category string

// The categories, in the order in which stages usually come.
const (
	Select    Category = "select"
	Filter    Category = "filter"
	Transform Category = "transform"
	Action    Category = "action"
	Output    Category = "output"
	Summarize Category = "summarize"
)

// Categories lists every category.
var Categories = []Category{Select, Filter, Transform, Action, Output, Summarize}

// Kind is a type of stages.
type Kind struct {
	Type     string
	Category Category
	Doc      string   // one sentence
	Args     []string // the keys of its configuration that the text form writes without their names, in order
	Example  map[string]any
	Shape    op.Shape // of its configuration
	confirm  bool     // a real run needs confirm: true
	make     func() stage
}

// stage is the configuration of a stage with what it does: a runner or an effect.
type stage interface {
	// check reports what is wrong beyond the shape, and prepares the stage.
	check(c *checking) []library.FieldError
}

// runner is a stage that changes nothing but the set of assets.
type runner interface {
	stage
	run(x *exec) error
}

// effect is a stage that changes assets, or something else, part by part.
type effect interface {
	stage
	// kinds is what must be known of the assets.
	kinds() store.FactKinds
	// begin is called before the first part of a run or of what is left of it.
	begin(x *exec) error
	// simulate changes rows as apply would change the assets.
	simulate(x *exec, rows []*Row, t *tally) error
	// apply changes the assets within a transaction.
	apply(x *exec, tx *store.Tx, assets []library.AssetHash, t *tally) error
}

// checking is the surroundings of a stage that is checked.
type checking struct {
	at      string // the path of its configuration
	now     time.Time
	index   int
	changed bool // a stage before it changes assets
}

// Step is a checked stage.
type Step struct {
	library.PipelineStage
	Kind *Kind
	work stage
}

// Definition is a checked pipeline.
type Definition struct {
	Steps []Step
}

// Stages returns the stages in their canonical form.
func (d *Definition) Stages() []library.PipelineStage {
	list := make([]library.PipelineStage, len(d.Steps))
	for i, s := range d.Steps {
		list[i] = s.PipelineStage
	}
	return list
}

// Options are how a pipeline is checked.
type Options struct {
	At      string // the path of the stages in the request; empty: stages
	Now     time.Time
	Actor   library.Actor
	Partial bool // it need not begin with a select stage: the text of an editor
}

// Parse checks stages as a whole and returns what they are, or everything that is wrong, each
// with the path of its field.
func Parse(stages []library.PipelineStage, opt Options) (*Definition, error) {
	if opt.At == "" {
		opt.At = "stages"
	}
	if opt.Now.IsZero() {
		opt.Now = time.Now()
	}
	d := &Definition{}
	errs := checkWhole(stages, opt)
	changed := false
	for i, s := range stages[:min(len(stages), library.MaxStages)] {
		step, wrong := parseStage(s, i, fmt.Sprintf("%s[%d]", opt.At, i), opt, changed)
		errs = append(errs, wrong...)
		if step.Kind != nil {
			changed = changed || step.Kind.Category == Transform || step.Kind.Category == Action
		}
		d.Steps = append(d.Steps, step)
	}
	if len(errs) > 0 {
		return nil, library.Invalid(errs[:min(len(errs), 20)]...)
	}
	return d, nil
}

// checkWhole reports what is wrong with the list of stages.
func checkWhole(stages []library.PipelineStage, opt Options) (errs []library.FieldError) {
	raw, _ := json.Marshal(stages)
	switch {
	case len(stages) == 0:
		return []library.FieldError{{Field: opt.At, Code: "required", Message: "A pipeline has at least one stage, and begins with a select stage.", Hint: `Begin with {"type": "search", "config": {"query": "..."}}.`}}
	case len(stages) > library.MaxStages:
		errs = append(errs, library.FieldError{Field: opt.At, Code: "length", Message: fmt.Sprintf("Expected at most %d stages.", library.MaxStages)})
	case len(raw) > library.MaxPipelineBytes:
		errs = append(errs, library.FieldError{Field: opt.At, Code: "length", Message: fmt.Sprintf("Expected at most %d KiB of JSON.", library.MaxPipelineBytes>>10), Hint: "Put assets into a collection rather than listing them."})
	}
	if k := LookupKind(stages[0].Type); k != nil && k.Category != Select && !opt.Partial {
		errs = append(errs, library.FieldError{Field: opt.At + "[0].type", Code: "conflict", Message: "The first stage selects assets: search, collection, ids or diff.",
			Hint: fmt.Sprintf("Put a select stage before %s.", k.Type)})
	}
	ids := map[string]bool{}
	for i, s := range stages {
		at := fmt.Sprintf("%s[%d]", opt.At, i)
		if k := LookupKind(s.Type); i > 0 && k != nil && k.Category == Select {
			errs = append(errs, library.FieldError{Field: at + ".type", Code: "conflict", Message: "Only the first stage selects assets.", Hint: "diff compares two selections; where narrows one."})
		}
		if s.ID != "" && ids[s.ID] {
			errs = append(errs, library.FieldError{Field: at + ".id", Code: "conflict", Message: "Another stage has this id."})
		}
		ids[s.ID] = true
	}
	return errs
}

// parseStage checks one stage.
func parseStage(s library.PipelineStage, index int, at string, opt Options, changed bool) (Step, []library.FieldError) {
	k := LookupKind(s.Type)
	if k == nil {
		types := make([]string, len(kinds))
		for i, k := range kinds {
			types[i] = k.Type
		}
		hint := "There are " + strings.Join(types, ", ") + "."
		if near := op.Nearest(s.Type, types); near != "" {
			hint = "Did you mean " + near + "? " + hint
		}
		return Step{}, []library.FieldError{{Field: at + ".type", Code: "enum", Message: "There is no such stage.", Hint: hint}}
	}
	var errs []library.FieldError
	s.Type = k.Type
	if s.OnError = strings.ToLower(s.OnError); s.OnError != "" && s.OnError != "fail" && s.OnError != "skip" {
		errs = append(errs, library.FieldError{Field: at + ".on_error", Code: "enum", Message: "Allowed are fail and skip.", Hint: "skip leaves out assets that cannot be changed and goes on."})
	}
	if len(s.ID) > 100 || len(s.Name) > 200 {
		errs = append(errs, library.FieldError{Field: at + ".name", Code: "length", Message: "Expected at most 100 bytes of id and 200 of name."})
	}
	if s.Config == nil {
		s.Config = map[string]any{}
	}
	step := Step{PipelineStage: s, Kind: k, work: k.make()}
	wrong := k.Shape.Decode(at+".config", s.Config, step.work)
	if len(wrong) == 0 {
		wrong = step.work.check(&checking{at: at + ".config", now: opt.Now, index: index, changed: changed})
	}
	return step, append(errs, wrong...)
}

// Unconfirmed returns the error of a real run whose output, delete or archive stages lack
// confirm: true, naming each; nil where all have it.
func (d *Definition) Unconfirmed(at string) error {
	var errs []library.FieldError
	for i, s := range d.Steps {
		if s.Kind.confirm && s.Config["confirm"] != true {
			errs = append(errs, library.FieldError{Field: fmt.Sprintf("%s[%d].config.confirm", at, i), Code: "required",
				Message: fmt.Sprintf("The stage %s (%s) of a real run needs confirm: true; nothing was done.", nameOf(s, i), s.Type),
				Hint:    "Look at a dry run (dry_run: true) first, which needs none."})
		}
	}
	if len(errs) == 0 {
		return nil
	}
	err := library.Invalid(errs...)
	err.Code = CodeConfirm
	return err
}

// CodeConfirm is the code of the error of Unconfirmed.
const CodeConfirm = "CONFIRM_REQUIRED"

// CodeStageUnavailable is the code of the error of a stage that this installation cannot run.
const CodeStageUnavailable = "STAGE_UNAVAILABLE"

func nameOf(s Step, i int) string {
	for _, name := range []string{s.Name, s.ID} {
		if name != "" {
			return name
		}
	}
	return fmt.Sprintf("number %d", i+1)
}

// kinds lists every type of stages in the order of the categories.
var kinds = slices.Concat(selectKinds, filterKinds, transformKinds, actionKinds, outputKinds, summarizeKinds)

// Kinds returns every type of stages, in the order of the categories.
func Kinds() []*Kind { return kinds }

// LookupKind returns the type of stages with this name, whatever its case, blanks and hyphens;
// nil when there is none.
func LookupKind(name string) *Kind {
	name = strings.NewReplacer("-", "_", " ", "_").Replace(strings.ToLower(strings.TrimSpace(name)))
	i := slices.IndexFunc(kinds, func(k *Kind) bool { return k.Type == name })
	if i < 0 {
		return nil
	}
	return kinds[i]
}

// newKind makes a type of stages of the struct of its configuration.
func newKind[T any, P interface {
	*T
	stage
}](k Kind) *Kind {
	k.Shape = op.ShapeOf[T]()
	k.make = func() stage { return P(new(T)) }
	return &k
}
