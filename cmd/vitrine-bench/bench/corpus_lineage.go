package bench

import (
	"fmt"
	"strconv"

	"vitrine/library"
)

var (
	tools    = []string{"comfyui", "sd-webui", "invokeai", "fooocus"}
	samplers = []string{"euler", "dpmpp_2m", "euler_ancestral", "ddim", "dpmpp_sde", "heun", "lms", "uni_pc"}
	negative = "blurry, low quality, watermark"
)

// How many models the library knows, and how many nodes a graph has: as public
// collections of such files have them.
const (
	checkpoints = 60
	loras       = 300
	graphNodes  = 14
	nodeClasses = 60
)

var checkpointsUsed, lorasUsed = newZipf(checkpoints), newZipf(loras)

// lineageOf makes what a file says of its making.
func (c *corpus) lineageOf(prompt string) *library.Lineage {
	steps, cfg, seed := 10+c.r.IntN(50), float64(2+c.r.IntN(20))/2, uint64(c.r.Uint32())
	sampler, scheduler := often(c.r, samplers), "karras"
	l := &library.Lineage{Tool: often(c.r, tools), ToolVersion: "1." + strconv.Itoa(c.r.IntN(10)), Positive: &prompt, Negative: &negative,
		Parameters: &library.GenerationParameters{Seed: &seed, Steps: &steps, CFGScale: &cfg, Sampler: &sampler, Scheduler: &scheduler}}
	l.Models = c.models()
	if l.Tool == tools[0] {
		l.Workflow = c.workflow(seed, steps, cfg, sampler)
	}
	return l
}

// models draws a checkpoint and up to three LoRAs.
func (c *corpus) models() []library.ModelUse {
	list := []library.ModelUse{{Type: "checkpoint", Name: modelName("checkpoint", checkpointsUsed.draw(c.r)), NodeID: "1"}}
	seen := map[string]bool{}
	for range c.r.IntN(4) {
		name := modelName("lora", lorasUsed.draw(c.r))
		if seen[name] {
			continue
		}
		seen[name] = true
		strength := float64(1+c.r.IntN(10)) / 10
		list = append(list, library.ModelUse{Sequence: len(list), Type: "lora", Name: name, NodeID: strconv.Itoa(1 + len(list)), Strength: &strength})
	}
	return list
}

// modelName names a model in one word that no prompt has.
func modelName(kind string, n int) string { return fmt.Sprintf("%s%03d.safetensors", kind, n) }

// workflow makes a graph of as many nodes, with about fifty inputs.
func (c *corpus) workflow(seed uint64, steps int, cfg float64, sampler string) *library.Workflow {
	w := &library.Workflow{ToolName: tools[0], NodeCount: graphNodes, CustomNodes: []string{}, Source: "extracted",
		Hash: fmt.Sprintf("%040x", c.r.IntN(500))}
	w.Nodes = append(w.Nodes, library.NodeUse{ID: "1", Class: "KSampler", Inputs: map[string]string{"seed": strconv.FormatUint(seed, 10),
		"steps": strconv.Itoa(steps), "cfg": strconv.FormatFloat(cfg, 'f', -1, 64), "sampler_name": sampler}})
	for i := 1; i < graphNodes; i++ {
		class := c.r.IntN(nodeClasses) * c.r.IntN(nodeClasses) / nodeClasses // some are everywhere
		inputs := map[string]string{}
		for in := range 3 + c.r.IntN(2) {
			inputs["input"+strconv.Itoa(in)] = strconv.Itoa(c.r.IntN(200))
		}
		w.Nodes = append(w.Nodes, library.NodeUse{ID: strconv.Itoa(i + 1), Class: "Node" + strconv.Itoa(class), Inputs: inputs})
	}
	return w
}
