package library

import "time"

// TriggerType is what fires a rule.
type TriggerType string

// The kinds of triggers.
const (
	TriggerEvent    TriggerType = "event"
	TriggerSchedule TriggerType = "schedule"
	TriggerWatch    TriggerType = "watch"
)

// Trigger is what fires a rule, and how.
type Trigger struct {
	Type            TriggerType `json:"type" enum:"event,schedule,watch"`
	EventType       string      `json:"event_type,omitempty" maxLength:"100" doc:"event: such as asset.created; asset.* or *."`
	Cron            string      `json:"cron,omitempty" maxLength:"200" doc:"schedule: five fields, such as 0 9 * * 1."`
	TimeZone        string      `json:"timezone,omitempty" maxLength:"64" doc:"schedule: such as Europe/Berlin. Default: UTC."`
	Missed          string      `json:"missed,omitempty" enum:"skip,once,all" doc:"schedule: what becomes of times that passed while nothing ran. Default: once."`
	Query           string      `json:"query,omitempty" id:"query" maxLength:"4000" doc:"watch: fires for assets that newly match."`
	IntervalMinutes int         `json:"interval_minutes,omitempty" minimum:"1" maximum:"10080" doc:"watch: how often it looks. Default: 15."`
}

// RateLimit is how often a rule may fire; 0 does not limit.
type RateLimit struct {
	PerHour    int `json:"max_executions_per_hour,omitempty" minimum:"0" maximum:"100000"`
	PerDay     int `json:"max_executions_per_day,omitempty" minimum:"0" maximum:"1000000"`
	Concurrent int `json:"max_concurrent,omitempty" minimum:"0" maximum:"100"`
}

// DefaultRateLimit is the limit of a rule that names none.
var DefaultRateLimit = RateLimit{PerHour: 1000}

// Limits of rules.
const (
	MaxRules        = 500  // of one tenant
	MaxRuleFailures = 5    // firings in a row that fail before a rule is paused
	MaxRuleAssets   = 1000 // assets of one firing of a watch
)

// Rule is what is to happen on an event, at a time, or when assets newly match a query.
type Rule struct {
	ID             string
	Name           string
	Description    string
	Trigger        Trigger
	Limit          RateLimit
	Vars           map[string]any
	Pipeline       string // pipeline_definition_h of the pipeline that it runs; empty: it only emits rule.fired
	Enabled        bool
	DisabledReason string // why the service paused it
	CreatedAt      time.Time
	CreatedBy      string
	UpdatedAt      time.Time
	Through        time.Time  // what was due until then was looked at
	NextAt         *time.Time // when it is looked at again; nil: events bring it
	Primed         bool       // a watch knows what matches already
	Failures       int        // firings in a row that failed
}

// RuleFiring is a cause for which a rule fires once.
type RuleFiring struct {
	Source string         // names the cause; one cause fires a rule once
	At     time.Time      // when it came to be
	Due    time.Time      // the time of a schedule that was due; zero for other triggers
	Reason map[string]any // why, for people
	Vars   map[string]any // for the pipeline, beside the rule's own
	Depth  int            // rules that led here, one by one
	Assets []AssetHash    // of a watch: those that newly match
}

// The states of a firing.
const (
	FiringRunning     = "running"      // its pipeline runs
	FiringDone        = "done"         // its pipeline completed, or it has none
	FiringFailed      = "failed"       // its pipeline could not be started, or did not complete
	FiringRateLimited = "rate_limited" // nothing was done because of the rule's limits
	FiringLoopStopped = "loop_stopped" // nothing was done because rules led to each other
	FiringMissed      = "missed"       // nothing was done because it was too late
	FiringDuplicate   = "duplicate"    // it had fired for this cause before; not kept
	FiringDisabled    = "disabled"     // the rule is disabled or deleted; not kept
	FiringStale       = "stale"        // others matched meanwhile: the watch looks again; not kept
)

// RuleRun is a firing and what became of it.
type RuleRun struct {
	ID          string
	RuleID      string
	Trigger     TriggerType
	Reason      map[string]any
	State       string
	RunID       string // of the pipeline; empty: none ran
	OperationID string // of the pipeline's run; empty: it changed nothing
	Changed     int64  // effects of the pipeline's run
	Times       int    // how often the same happened in a row; more than 1 for limits alone
	Error       string
	FiredAt     time.Time
}

// RuleEvent is the payload of the events of rules that fire.
type RuleEvent struct {
	RuleID    string         `json:"rule_id" doc:"The rule."`
	Name      string         `json:"name" doc:"Its name."`
	Trigger   string         `json:"trigger_type" doc:"event, schedule or watch."`
	RuleRunID string         `json:"rule_run_id" doc:"The firing in the rule's log."`
	RunID     string         `json:"run_id,omitempty" doc:"The pipeline's run, if the rule has one."`
	Reason    map[string]any `json:"reason" doc:"Why it fired: the event's type, the time that was due, or how many assets newly match."`
	Cause
}
