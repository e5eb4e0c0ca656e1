package library

// Event is something that happened, for subscribers outside of the write. It is
// delivered at least once, and in order among the events with the same key.
type Event struct {
	Type    string // for example asset.created
	Key     string // what it happened to
	Payload any    // JSON-encodable, an object
}

// Cause is which call an event comes of.
type Cause struct {
	OperationID string `json:"operation_id" doc:"The operation that made the change. UndoOperation takes it. Empty where nothing can be undone."`
	Tool        string `json:"tool" doc:"The name of the operation, for example UpdateAsset."`
	ActorID     string `json:"actor_id" doc:"Who made the change."`
	ActorKind   string `json:"actor_kind" doc:"What kind of actor that is, for example key."`
	// CausationDepth is how many rules led here, one through the run of the other.
	CausationDepth int `json:"causation_depth,omitempty" doc:"How many rules led to this change, one through the run of the other; absent: none."`
}

// ChangeEvent is the payload of every event that is a change of something. It names
// what changed and holds no values: whoever wants them reads the thing as it is now.
type ChangeEvent struct {
	Noun    string   `json:"noun" doc:"What kind of thing changed, for example asset."`
	ID      string   `json:"id" doc:"Which one: an asset's hash, a saved search's id, or the parts of a key with slashes between them."`
	Changed []string `json:"changed" doc:"The names of the fields that changed; empty when the thing was created or deleted."`
	Cause
}

// StatusEvent is the payload of the event of a change of an asset's status.
type StatusEvent struct {
	ChangeEvent
	From Status `json:"from" doc:"The status before."`
	To   Status `json:"to" doc:"The status that the change set."`
}

// ModelEvent is the payload of the event of a model that a library meets for the first time.
type ModelEvent struct {
	ModelH ModelHash `json:"model_hash" doc:"The model. GetModelDetails takes it."`
	AssetH AssetHash `json:"asset_h" doc:"The asset whose file names it."`
	Cause
}

// UndoneEvent is the payload of the event of an undo.
type UndoneEvent struct {
	UndoneID string `json:"undone_id" doc:"The operation that was undone."`
	Cause
}

// PipelineEvent is the payload of the events of a pipeline's run. It never has the address of
// an export, which whoever has it may read.
type PipelineEvent struct {
	RunID          string           `json:"run_id" doc:"The run. GetPipelineRun takes it."`
	Pipeline       PipelineHash     `json:"pipeline_definition_h,omitempty" doc:"The saved pipeline; absent for stages that were not saved."`
	Version        int              `json:"version,omitempty" doc:"Of the saved pipeline."`
	Name           string           `json:"name,omitempty" doc:"Of the saved pipeline."`
	DryRun         bool             `json:"dry_run"`
	State          string           `json:"state" doc:"queued, running, completed, failed, timed_out or cancelled."`
	StartedAt      string           `json:"started_at" format:"date-time"`
	DurationMS     int64            `json:"duration_ms"`
	Trigger        RunTrigger       `json:"trigger"`
	CausationDepth int              `json:"causation_depth" doc:"How many runs caused this one, one by one."`
	Counts         PipelineCounts   `json:"counts"`
	OperationID    string           `json:"operation_id" doc:"UndoOperation takes back what the run changed."`
	Exports        []PipelineExport `json:"exports"`
	ErrorCode      string           `json:"error_code,omitempty" doc:"Why it failed."`
	Data           map[string]any   `json:"data,omitempty" doc:"What a notify stage sends along."`
	WebhookIDs     []string         `json:"webhook_ids,omitempty" doc:"The webhooks that a notify stage is for; absent: all that take the event."`
}

// PipelineCounts counts assets of a run.
type PipelineCounts struct {
	Selected int64 `json:"selected" doc:"Assets of the last set."`
	Changed  int64 `json:"changed" doc:"Effects on assets."`
	Failed   int64 `json:"failed" doc:"Assets that were skipped because of an error."`
}

// PipelineExport names an export that a run began.
type PipelineExport struct {
	ExportID  string `json:"export_id" doc:"GetExport takes it, of the key that started the run. pipeline.export.completed tells when its zip is there."`
	ExpiresAt string `json:"expires_at" format:"date-time" doc:"Its zip can be downloaded at least until then."`
}

// PipelineExportEvent is the payload of the event of a finished export that a run began. It
// never has the address of the zip, which whoever has it may read.
type PipelineExportEvent struct {
	RunID     string       `json:"run_id" doc:"The run. GetPipelineRun takes it."`
	Pipeline  PipelineHash `json:"pipeline_definition_h,omitempty" doc:"The saved pipeline; absent for stages that were not saved."`
	Name      string       `json:"name,omitempty" doc:"Of the saved pipeline."`
	RuleID    string       `json:"rule_id,omitempty" doc:"The rule that started the run."`
	ExportID  string       `json:"export_id" doc:"GetExport returns a link to the zip to the key that started the run."`
	Preset    ExportPreset `json:"preset"`
	State     string       `json:"state" doc:"completed, or failed: no file could be exported."`
	Files     int          `json:"files" doc:"Files in the zip, beside manifests."`
	Failed    int          `json:"failed" doc:"Assets that are not in the zip; its manifest says why."`
	Bytes     int64        `json:"bytes" doc:"Size of the zip."`
	ExpiresAt string       `json:"expires_at" format:"date-time" doc:"Links to the zip are made until then."`
}

// ImportEvent is the payload of the event of an import of a folder in place that ended.
type ImportEvent struct {
	ImportID string            `json:"import_id" doc:"The import. GetImport takes it."`
	Root     string            `json:"root" doc:"The root that the folder is in, one of ListImportRoots."`
	Folder   string            `json:"folder" doc:"Below the root; empty: all of it."`
	State    string            `json:"state" enum:"completed,failed,cancelled"`
	Counts   ImportEventCounts `json:"counts"`
}

// ImportEventCounts counts files of an import.
type ImportEventCounts struct {
	Found   int `json:"found" doc:"Media files, those that had not changed included."`
	Stored  int `json:"stored"`
	Already int `json:"already_stored" doc:"Files whose bytes the library had."`
	Skipped int `json:"skipped" doc:"Files that are no media, or that were left out."`
	Failed  int `json:"failed"`
	Missing int `json:"missing" doc:"Originals that are not there any more."`
}
