package library

import (
	"bytes"
	"crypto/sha1"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"
)

// PipelineHash is a saved pipeline's identity inside its tenant: 40 lower-case hex digits.
type PipelineHash string

// The limits of pipelines.
const (
	MaxStages          = 50        // of one pipeline
	MaxPipelineBytes   = 256 << 10 // of its stages as JSON
	MaxPipelines       = 1000      // of one tenant
	MaxStageAssets     = 10_000    // that one call of a stage tool names or returns
	MinPipelineTimeout = time.Second
	MaxPipelineTimeout = time.Minute
	// MaxCausationDepth is how many runs may cause each other, one by one, through rules.
	MaxCausationDepth = 3
)

// PipelineStage is one step of a pipeline.
type PipelineStage struct {
	Type    string         `json:"type"`
	Config  map[string]any `json:"config"`
	ID      string         `json:"id,omitempty"`
	Name    string         `json:"name,omitempty"`
	OnError string         `json:"on_error,omitempty"` // fail or skip; empty: fail
}

// UnmarshalJSON keeps the numbers of a configuration exact: seeds have 64 bits.
func (s *PipelineStage) UnmarshalJSON(raw []byte) error {
	type plain PipelineStage
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	return d.Decode((*plain)(s))
}

// Clone returns a copy that shares nothing which a stage changes.
func (p RunProgress) Clone() RunProgress {
	p.Sets = slices.Clone(p.Sets)
	p.Warnings, p.Exports = slices.Clone(p.Warnings), slices.Clone(p.Exports)
	p.Stages = slices.Clone(p.Stages)
	for i := range p.Stages {
		s := &p.Stages[i]
		s.Effects, s.Sample, s.Warnings = slices.Clone(s.Effects), slices.Clone(s.Sample), slices.Clone(s.Warnings)
	}
	return p
}

// PipelineVar declares a variable that stages name as {{vars.name}}.
type PipelineVar struct {
	Type        string `json:"type,omitempty"` // string, number, boolean or list; empty: any
	Default     any    `json:"default,omitempty"`
	Description string `json:"description,omitempty"`
}

// Pipeline is a saved pipeline.
type Pipeline struct {
	Hash        PipelineHash
	Version     int // from 1; counts every change of what it does
	Name        string
	Slug        string // of the name; unique within the tenant
	Description string
	Stages      []PipelineStage
	Vars        map[string]PipelineVar
	Tags        []string
	DryRun      bool          // of a run that says nothing else
	Timeout     time.Duration // of a run that says nothing else
	Template    bool          // offered for cloning
	CreatedAt   time.Time
	CreatedBy   string
	UpdatedAt   time.Time
	UpdatedBy   string // the author of this version
}

// SystemPipelineHash returns the identity of a template that every tenant has.
func SystemPipelineHash(slug string) PipelineHash {
	sum := sha1.Sum([]byte("pipeline template " + slug))
	return PipelineHash(hex.EncodeToString(sum[:]))
}

// PipelineSlug returns the form of a pipeline's name by which it is run: lower-case letters
// and digits, joined by underscores.
func PipelineSlug(name string) string {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	return strings.Join(words, "_")
}

// RunState is how far a run of a pipeline is.
type RunState string

// The states of a run. The last four are final.
const (
	RunQueued    RunState = "queued"
	RunRunning   RunState = "running"
	RunCompleted RunState = "completed"
	RunFailed    RunState = "failed"
	RunTimedOut  RunState = "timed_out"
	RunCancelled RunState = "cancelled"
)

// RunStates lists every state of a run in order.
var RunStates = []RunState{RunQueued, RunRunning, RunCompleted, RunFailed, RunTimedOut, RunCancelled}

// Ended reports whether a run in this state does nothing more.
func (s RunState) Ended() bool { return s != RunQueued && s != RunRunning }

// RunTrigger is why a run was started.
type RunTrigger struct {
	Type   string `json:"type" doc:"manual, or the kind of rule: event, schedule, watch." enum:"manual,event,schedule,watch"`
	RuleID string `json:"rule_id,omitempty" doc:"The rule that started it."`
}

// PipelineRun is one run of stages.
type PipelineRun struct {
	ID          string
	Pipeline    PipelineHash // empty: stages that were not saved
	Version     int          // of the pipeline
	Name        string       // of the pipeline; empty: not saved
	Stages      []PipelineStage
	DryRun      bool
	State       RunState
	Tool        string // the operation that started it
	Trigger     RunTrigger
	Depth       int    // how many runs caused it, one by one
	OperationID string // of everything it changes; UndoOperation takes it
	RequestID   string
	Actor       Actor // who started it; it sees and may do what the actor may
	CreatedAt   time.Time
	StartedAt   time.Time // zero: not yet
	FinishedAt  time.Time // zero: not yet
	Progress    RunProgress
}

// RunProgress is what a run did so far.
type RunProgress struct {
	Stage  int          `json:"stage"`  // the stage that runs, from 0
	Chunk  int          `json:"chunk"`  // the part of its input that is next
	Output int          `json:"output"` // parts of its output that are written
	Stages []StageTrace `json:"stages"`
	// Sets are, per stage that is through, the stage whose output its successor reads: its
	// own, or one before it where it passes on what it was given.
	Sets     []int       `json:"sets"`
	Assets   int64       `json:"asset_count"` // of the last set
	Changed  int64       `json:"changed"`     // effects, as far as they are committed
	Failed   int64       `json:"failed"`      // assets that were skipped because of an error
	Warnings []string    `json:"warnings,omitempty"`
	Error    *StageError `json:"error,omitempty"`
	// SinceDryRun is how what it selected differs from the dry run before it; nil: there was none.
	SinceDryRun *DryRunChange `json:"changed_since_dry_run,omitempty"`
	// Exports are those that its stages began.
	Exports []PipelineExport `json:"exports,omitempty"`
	// State is what the stage that runs keeps from part to part.
	State json.RawMessage `json:"state,omitempty"`
}

// DryRunChange is how the assets that a run selected differ from those of a dry run of the same
// stages.
type DryRunChange struct {
	RunID   string `json:"run_id" doc:"The dry run."`
	Added   int64  `json:"added" doc:"Assets that the dry run had not selected."`
	Removed int64  `json:"removed" doc:"Assets that only the dry run had selected."`
	Warning string `json:"warning,omitempty" doc:"Empty: both selected the same assets."`
}

// SelectedSet returns the stage whose set goes into the first stage that changes or outputs
// something, or into none where no stage does; ok is false while the run has not come there.
func (p RunProgress) SelectedSet() (stage int, ok bool) {
	n := slices.IndexFunc(p.Stages, func(s StageTrace) bool {
		return s.Category == "transform" || s.Category == "action" || s.Category == "output"
	})
	if n < 0 {
		n = len(p.Stages)
	}
	if n == 0 || len(p.Sets) < n {
		return 0, false
	}
	return p.Sets[n-1], true
}

// SameExceptConfirm reports whether two pipelines do the same, whether or not they are confirmed.
func SameExceptConfirm(a, b []PipelineStage) bool {
	plain := func(stages []PipelineStage) []byte {
		stages = slices.Clone(stages)
		for i := range stages {
			stages[i].Config = maps.Clone(stages[i].Config)
			delete(stages[i].Config, "confirm")
			if stages[i].Config == nil {
				stages[i].Config = map[string]any{}
			}
		}
		raw, err := json.Marshal(stages)
		if err != nil {
			return nil
		}
		return raw
	}
	x, y := plain(a), plain(b)
	return x != nil && bytes.Equal(x, y)
}

// StageState is how far a stage is.
type StageState string

// The states of a stage.
const (
	StagePending   StageState = "pending"
	StageRunning   StageState = "running"
	StageOK        StageState = "ok"
	StageSimulated StageState = "simulated" // what it would do was worked out and not done
	StageSkipped   StageState = "skipped"   // an output stage of a dry run, or one that was not reached
	StageFailed    StageState = "failed"
	StageTimedOut  StageState = "timed_out"
)

// StageTrace is what a stage did.
type StageTrace struct {
	Index      int           `json:"index" doc:"The place of the stage, from 0."`
	Type       string        `json:"type"`
	Category   string        `json:"category" enum:"select,filter,transform,action,output,summarize"`
	ID         string        `json:"id,omitempty"`
	Name       string        `json:"name,omitempty"`
	State      StageState    `json:"state" enum:"pending,running,ok,simulated,skipped,failed,timed_out" doc:"simulated: its effects were worked out and not made."`
	Input      int64         `json:"input_count" doc:"Assets that it was given."`
	Done       int64         `json:"done_count" doc:"Of these, how many it is through with."`
	Output     int64         `json:"output_count" doc:"Assets that it passed on."`
	DurationMS int64         `json:"duration_ms"`
	Effects    []StageEffect `json:"effects" doc:"What it changed, or in a dry run would change."`
	Sample     []AssetHash   `json:"sample" doc:"At most 5 of the assets that it passed on or changed."`
	Result     *StageResult  `json:"result,omitempty" doc:"Of a summarize stage; of export, the export; of enrich, what became of each operation."`
	Warnings   []string      `json:"warnings"`
	Error      *StageError   `json:"error,omitempty"`
}

// StageEffect is one kind of change and how many there are.
type StageEffect struct {
	Kind  string `json:"kind" doc:"For example asset.updated, asset.trashed or collection.asset_added."`
	Field string `json:"field,omitempty" doc:"Which field changed."`
	Count int64  `json:"count" doc:"In how many assets."`
}

// StageError is why a stage or a run failed.
type StageError struct {
	Code   string `json:"code"`
	Detail string `json:"detail"`
	Stage  *int   `json:"stage,omitempty" doc:"The place of the stage, from 0."`
}

// StageResult is what a summarize stage found.
type StageResult struct {
	Columns []string       `json:"columns"`
	Rows    [][]any        `json:"rows"`
	Total   int64          `json:"total" doc:"Assets that were summarized."`
	More    int64          `json:"more,omitempty" doc:"Rows that are left out."`
	Notes   map[string]any `json:"notes,omitempty"`
}

// UnmarshalJSON keeps the numbers of the rows exact, as those of a stage's configuration.
func (r *StageResult) UnmarshalJSON(raw []byte) error {
	type plain StageResult
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	return d.Decode((*plain)(r))
}
