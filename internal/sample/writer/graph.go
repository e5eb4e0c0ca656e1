package writer

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"vitrine/internal/sample/draw"
)

// graph is a node graph of the graph tool. It prints as the two JSON values
// the tool embeds: api, what ran, and workflow, what the user saw.
type graph struct {
	nodes []*node
	sub   *subgraph // nodes with a colon in their id belong to it
	rand  *draw.Rand
}

// node is one node. Widgets hold values, links come from other nodes.
type node struct {
	id      string
	class   string
	title   string
	inputs  []input
	outputs []socket
	pack    string
	column  int // for the layout
}

type socket struct{ name, kind string }

// input is a widget (from == nil) or a link. seedLike widgets are followed by
// their control_after_generate value in widgets_values.
type input struct {
	name, kind string
	value      any // widget value as Python prints it
	shown      any // the same as the browser printed it; nil means value
	control    string
	from       *node
	slot       int
}

// out names one output of a node.
type out struct {
	n    *node
	slot int
}

func (n *node) out(slot int) out { return out{n, slot} }

// nodeOutputs and nodeTitles describe the classes the sample uses.
var nodeOutputs = map[string][]socket{
	"CheckpointLoaderSimple":      {{"MODEL", "MODEL"}, {"CLIP", "CLIP"}, {"VAE", "VAE"}},
	"UNETLoader":                  {{"MODEL", "MODEL"}},
	"DualCLIPLoader":              {{"CLIP", "CLIP"}},
	"VAELoader":                   {{"VAE", "VAE"}},
	"LoraLoader":                  {{"MODEL", "MODEL"}, {"CLIP", "CLIP"}},
	"LoraLoaderModelOnly":         {{"MODEL", "MODEL"}},
	"Power Lora Loader (rgthree)": {{"MODEL", "MODEL"}, {"CLIP", "CLIP"}},
	"CLIPSetLastLayer":            {{"CLIP", "CLIP"}},
	"CLIPTextEncode":              {{"CONDITIONING", "CONDITIONING"}},
	"FluxGuidance":                {{"CONDITIONING", "CONDITIONING"}},
	"ControlNetLoader":            {{"CONTROL_NET", "CONTROL_NET"}},
	"ControlNetApplyAdvanced":     {{"positive", "CONDITIONING"}, {"negative", "CONDITIONING"}},
	"EmptyLatentImage":            {{"LATENT", "LATENT"}},
	"EmptySD3LatentImage":         {{"LATENT", "LATENT"}},
	"LatentUpscale":               {{"LATENT", "LATENT"}},
	"KSampler":                    {{"LATENT", "LATENT"}},
	"KSamplerAdvanced":            {{"LATENT", "LATENT"}},
	"RandomNoise":                 {{"NOISE", "NOISE"}},
	"KSamplerSelect":              {{"SAMPLER", "SAMPLER"}},
	"BasicScheduler":              {{"SIGMAS", "SIGMAS"}},
	"BasicGuider":                 {{"GUIDER", "GUIDER"}},
	"CFGGuider":                   {{"GUIDER", "GUIDER"}},
	"SamplerCustomAdvanced":       {{"output", "LATENT"}, {"denoised_output", "LATENT"}},
	"LoadImage":                   {{"IMAGE", "IMAGE"}, {"MASK", "MASK"}},
	"VAEEncode":                   {{"LATENT", "LATENT"}},
	"VAEDecode":                   {{"IMAGE", "IMAGE"}},
	"PrimitiveStringMultiline":    {{"STRING", "STRING"}},
	"StringConcatenate":           {{"STRING", "STRING"}},
	"UpscaleModelLoader":          {{"UPSCALE_MODEL", "UPSCALE_MODEL"}},
	"ImageUpscaleWithModel":       {{"IMAGE", "IMAGE"}},
	"ImageScale":                  {{"IMAGE", "IMAGE"}},
	"SaveImage":                   nil,
}

var nodeTitles = map[string]string{
	"CheckpointLoaderSimple": "Load Checkpoint", "UNETLoader": "Load Diffusion Model", "VAELoader": "Load VAE",
	"LoraLoader": "Load LoRA", "LoadImage": "Load Image", "VAEEncode": "VAE Encode", "VAEDecode": "VAE Decode",
	"SaveImage": "Save Image", "EmptyLatentImage": "Empty Latent Image", "CLIPSetLastLayer": "CLIP Set Last Layer",
	"KSamplerAdvanced": "KSampler (Advanced)", "ControlNetLoader": "Load ControlNet Model",
	"ControlNetApplyAdvanced": "Apply ControlNet", "StringConcatenate": "Concatenate", "PrimitiveStringMultiline": "String (Multiline)",
	"UpscaleModelLoader": "Load Upscale Model", "ImageUpscaleWithModel": "Upscale Image (using Model)",
	"ImageScale": "Upscale Image", "LatentUpscale": "Upscale Latent", "CLIPTextEncode": "CLIP Text Encode (Prompt)",
}

// add puts a node into the graph. The id is a number, "30:6" inside subgraph 30.
func (g *graph) add(id, class string) *node {
	n := &node{id: id, class: class, title: class, outputs: nodeOutputs[class]}
	if t, ok := nodeTitles[class]; ok {
		n.title = t
	}
	g.nodes = append(g.nodes, n)
	return n
}

func (n *node) titled(title string) *node { n.title = title; return n }

// widget sets a value; the browser shows whole floats without decimals.
func (n *node) widget(name string, value any) *node {
	in := input{name: name, value: value}
	if f, ok := value.(pyFloat); ok {
		in.shown = float64(f)
	}
	n.inputs = append(n.inputs, in)
	return n
}

// seed sets a value that the tool changes after each run.
func (n *node) seed(name string, value uint64, control string) *node {
	n.inputs = append(n.inputs, input{name: name, value: value, control: control})
	return n
}

func (n *node) link(name string, o out) *node {
	n.inputs = append(n.inputs, input{name: name, kind: o.n.outputs[o.slot].kind, from: o.n, slot: o.slot})
	return n
}

// api prints the executed graph: object keys in the order browsers give
// numeric ids, widgets before links within a node.
func (g *graph) api() string {
	nodes := slices.Clone(g.nodes)
	slices.SortStableFunc(nodes, func(a, b *node) int { return idOrder(a.id) - idOrder(b.id) })
	var all object
	for _, n := range nodes {
		var inputs object
		for _, in := range n.inputs {
			if in.from == nil {
				inputs = append(inputs, field{in.name, in.value})
			}
		}
		for _, in := range n.inputs {
			if in.from != nil {
				inputs = append(inputs, field{in.name, list{in.from.id, in.slot}})
			}
		}
		all = append(all, field{n.id, object{{"inputs", inputs}, {"class_type", n.class}, {"_meta", object{{"title", n.title}}}}})
	}
	return pythonJSON.String(all)
}

// idOrder sorts plain ids before ids within subgraphs, as object keys print.
func idOrder(id string) int {
	outer, inner, nested := strings.Cut(id, ":")
	a, _ := strconv.Atoi(outer)
	b, _ := strconv.Atoi(inner)
	if nested {
		return 100000 + a*1000 + b
	}
	return a
}

// arrange numbers the nodes in execution order and finds their columns.
func (g *graph) arrange() map[*node]int {
	order := map[*node]int{}
	for len(order) < len(g.nodes) {
		for _, n := range g.nodes {
			if _, done := order[n]; done || !ready(n, order) {
				continue
			}
			for _, in := range n.inputs {
				if in.from != nil {
					n.column = max(n.column, in.from.column+1)
				}
			}
			order[n] = len(order)
		}
	}
	return order
}

func ready(n *node, order map[*node]int) bool {
	for _, in := range n.inputs {
		if _, done := order[in.from]; in.from != nil && !done {
			return false
		}
	}
	return true
}

// models lists the loader nodes in execution order, one entry per file.
func (g *graph) models() []Model {
	order := g.arrange()
	nodes := slices.Clone(g.nodes)
	slices.SortFunc(nodes, func(a, b *node) int { return order[a] - order[b] })
	var all []Model
	for _, n := range nodes {
		all = append(all, n.models()...)
	}
	return all
}

func (n *node) models() []Model {
	types := map[string]string{
		"ckpt_name": "checkpoint", "unet_name": "unet", "vae_name": "vae", "lora_name": "lora",
		"clip_name1": "clip", "clip_name2": "clip", "control_net_name": "controlnet", "model_name": "upscaler",
	}
	var all []Model
	for _, in := range n.inputs {
		if stack, ok := in.value.(object); ok {
			if m, on := stackEntry(stack); on {
				all = append(all, Model{Type: "lora", Name: m.Name, Strength: m.Strength, NodeID: n.id})
			}
			continue
		}
		kind, ok := types[in.name]
		name, isText := in.value.(string)
		if !ok || !isText {
			continue
		}
		m := Model{Type: kind, Name: name, NodeID: n.id}
		if kind == "lora" {
			m.Strength = n.float("strength_model")
		}
		all = append(all, m)
	}
	return all
}

// stackEntry reads one row of a LoRA stack; rows switched off do not load.
func stackEntry(o object) (m Model, on bool) {
	for _, f := range o {
		switch v := f.value.(type) {
		case bool:
			on = v
		case string:
			m.Name = v
		case pyFloat:
			m.Strength = float64(v)
		}
	}
	return m, on && m.Name != ""
}

func (n *node) float(name string) float64 {
	for _, in := range n.inputs {
		if f, ok := in.value.(pyFloat); ok && in.name == name {
			return float64(f)
		}
	}
	return 0
}

// number is a node id as the workflow prints it: a JSON number.
func (n *node) number() int {
	_, inner, nested := strings.Cut(n.id, ":")
	if !nested {
		inner = n.id
	}
	v, err := strconv.Atoi(inner)
	if err != nil {
		panic(fmt.Sprintf("writer: node id %q is not a number", n.id)) // a mistake in a shape, caught by any test
	}
	return v
}
