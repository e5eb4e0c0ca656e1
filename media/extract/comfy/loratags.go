package comfy

import (
	"regexp"
	"strings"
)

var loraTag = regexp.MustCompile(`<lora:([^<>:\n]{1,300})((?::[^<>:\n]*){0,3})>`)

// taggedLoads adds the <lora:name:strength> tags of nodes that load by them:
// those that have a text and the model to patch. In a plain encoder a tag is
// text like any other.
func (r *models) taggedLoads(out []load, n *node) []load {
	_, patches := n.link("model", "opt_model", "MODEL", "model_opt")
	if n.opaque() || !patches && !n.has("loras") || n.isOff("load_tags") {
		return out
	}
	seen := map[string]bool{}
	if in := n.in("loras"); in != nil && !in.linked() {
		out = append(out, entryLoads(nil, n, in)...)
	}
	if listsLoras(n) {
		return out
	}
	for _, l := range out {
		seen[l.name] = true
	}
	for _, name := range tagFields {
		in := n.in(name)
		if in == nil || !patches && in.name != "loras" || textInput(n, []string{in.name}) == nil || in.name == "wildcard_text" && populated(n) != nil {
			continue
		}
		text, ok := r.texts.of(in, rolePositive)
		if !ok || !strings.Contains(text, "<lora:") {
			continue
		}
		for _, m := range loraTag.FindAllStringSubmatch(text, 256) {
			if l := tagged(n, m); !seen[l.name] && !zero(l.strength) {
				seen[l.name] = true
				out = append(out, l)
			}
		}
	}
	return out
}

// tagFields are the texts in which nodes look for tags, in the order in which they do.
var tagFields = []string{"text", "prompt", "text_g", "text_l", "wildcard", "wildcard_text", "populated_text", "positive", "lora_text", "lora_syntax", "tags", "loras"}

func tagged(n *node, m []string) load {
	l := load{node: n, typ: "lora", name: m[1]}
	weights := strings.Split(strings.TrimPrefix(m[2], ":"), ":")
	l.strength = parseFloat(weights[0])
	if len(weights) > 1 {
		l.clip = parseFloat(weights[1])
	}
	return l
}
