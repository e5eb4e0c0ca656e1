package pipeline

import (
	"vitrine/library"
)

// export makes a package of files for others.
type export struct {
	Preset  string         `json:"preset" enum:"share,portfolio,client,archive,custom" doc:"What stays in the files and how they are named."`
	Format  string         `json:"format,omitempty" enum:"png,jpeg,webp,preserve" doc:"Of the files."`
	Options map[string]any `json:"options,omitempty" doc:"Of the preset custom."`
	Confirm bool           `json:"confirm,omitempty" doc:"Must be true in a real run."`
}

var kindExport = newKind[export](Kind{Type: "export", Category: Output, Doc: "Makes a zip file of the assets that can be downloaded.", Args: []string{"preset"}, confirm: true,
	Example: map[string]any{"preset": "client", "confirm": true}})

// check refuses the stage: this version cannot make exports, and a stage that says it did
// would be believed.
func (s *export) check(c *checking) []library.FieldError {
	return []library.FieldError{{Field: c.at, Code: "unavailable", Message: "This installation cannot run the stage export yet (" + CodeStageUnavailable + ").", Hint: "Put the assets into a collection with add_to_collection and export that."}}
}
