package writer

import (
	"time"

	"vitrine/internal/sample/draw"
)

// Model is one loaded model file. Type is checkpoint, unet, clip, vae, lora,
// controlnet, upscaler or refiner. Name is the file name, for tools that write
// no ending the bare name. NodeID is set where the file names the loading node.
type Model struct {
	Type     string  `json:"type"`
	Name     string  `json:"name"`
	NodeID   string  `json:"node_id,omitempty"`
	Hash     string  `json:"hash,omitempty"`
	Strength float64 `json:"strength,omitempty"`
}

// Job is one imagined generation, in the vocabulary of the graph tool; each
// writer translates names (samplers, schedulers) to those of its tool.
type Job struct {
	Prompt, Negative string
	Seed             uint64
	Steps            int
	CFG              float64
	Sampler          string // graph tool name: euler, dpmpp_2m, …
	Scheduler        string // graph tool name: normal, karras, …
	Denoise          float64
	Checkpoint       string   // without ending
	LoRAs            []string // without ending
	Parent           string   // how the file names its parent; empty without one
	When             time.Time
	Choice           uint64     // decides optional settings; equal within a seed sweep
	Rand             *draw.Rand // for ids and other things nobody reads
}

// Facts are what a reader must find in a file. Zero values mean the file does
// not say; Seed is a pointer because 0 is a seed.
type Facts struct {
	Tool      string   `json:"tool,omitempty"`
	Prompt    string   `json:"prompt,omitempty"`
	Negative  string   `json:"negative,omitempty"`
	Seed      *uint64  `json:"seed,omitempty"`
	Steps     int      `json:"steps,omitempty"`
	CFG       float64  `json:"cfg,omitempty"`
	Guidance  float64  `json:"guidance,omitempty"`
	Sampler   string   `json:"sampler,omitempty"`
	Scheduler string   `json:"scheduler,omitempty"`
	Denoise   float64  `json:"denoise,omitempty"`
	Width     int      `json:"width,omitempty"`
	Height    int      `json:"height,omitempty"`
	Models    []Model  `json:"models,omitempty"`
	Parents   []string `json:"parents,omitempty"` // as the file names them
	JobID     string   `json:"job_id,omitempty"`
}

// facts starts the facts every writer shares.
func (j *Job) facts(tool string, pic draw.Picture) Facts {
	seed := j.Seed
	f := Facts{
		Tool: tool, Prompt: j.Prompt, Negative: j.Negative, Seed: &seed, Steps: j.Steps, CFG: j.CFG,
		Sampler: j.Sampler, Scheduler: j.Scheduler, Width: pic.W, Height: pic.H,
	}
	if j.Parent != "" {
		f.Parents = []string{j.Parent}
	}
	return f
}

// Form is one way of saving a file. Needs a parent: the job must name one.
type Form struct {
	Name        string
	Tool        string
	Ext         string
	NeedsParent bool
	Save        func(pic draw.Picture, job *Job) ([]byte, Facts, error)
}
