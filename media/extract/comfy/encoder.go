package comfy

import (
	"strings"

	"vitrine/internal/jsonscan"
)

// Links that make a node with texts an encoder.
var encoderLinks = []string{"clip", "CLIP", "t5", "text_encoder", "text_encoders", "opt_clip", "bert", "clip_l", "clip_model", "T5", "hyvid_text_encoders", "chatglm3_model", "kolors_text_encoder", "te", "gemma", "gemma_model"}

// Text fields of encoders. A field of a two-encoder model has its encoder's name.
var (
	mainFields    = []string{"text", "prompt", "user_prompt", "wildcard_text", "positive", "Text", "prompt_text", "string", "text_positive", "tags", "populated_text"}
	encoderFields = []string{"text_g", "text_l", "clip_g", "clip_l", "t5xxl", "llama", "mt5xl", "bert", "t5", "text_t5", "qwen25_7b", "text_clip", "clip_l_text", "t5xxl_text", "lyrics"}
	positiveOwn   = []string{"positive_prompt", "positive", "text_positive", "prompt_positive", "pos_prompt", "positive_text"}
	negativeOwn   = []string{"negative_prompt", "negative", "text_negative", "prompt_negative", "neg_prompt", "negative_text"}
)

// ownTexts adds the texts a node itself encodes for a side.
func (w *sideReader) ownTexts(p port, c sideContext) bool {
	n := p.node
	if !isEncoder(n) && !c.shared && !holdsSides(n) {
		return false
	}
	if side, sided := w.sidedTexts(n, c); sided {
		return side
	}
	if c.shared && c.role == roleNegative {
		return false
	}
	if in := populated(n); in != nil {
		return w.addField(n, in, c, "")
	}
	if w.addMain(n, c) {
		return true
	}
	return w.addEncoders(n, c)
}

// sidedTexts reads nodes that hold a positive and a negative text at once.
func (w *sideReader) sidedTexts(n *node, c sideContext) (added, sided bool) {
	neg, pos := textInput(n, negativeOwn), textInput(n, positiveOwn)
	if neg == nil {
		return false, false
	}
	if pos == nil {
		pos = textInput(n, mainFields)
	}
	if c.role == roleNegative {
		pos = neg
	}
	if pos == nil {
		return false, true
	}
	added = w.addField(n, pos, c, "")
	if second := textInput(n, []string{pos.name + "_2"}); second != nil { // of classes with two texts a side
		added = w.addField(n, second, c, "") || added
	}
	return added, true
}

func holdsSides(n *node) bool {
	return textInput(n, negativeOwn) != nil && textInput(n, positiveOwn) != nil
}

// textInput finds a field that holds or takes a text, not a conditioning.
func textInput(n *node, names []string) *input {
	for _, name := range names {
		in := n.in(name)
		if in == nil {
			continue
		}
		if in.linked() {
			if t := in.from.outType(); t == "STRING" || (t == "" || t == "*") && (n.takesText(name) || !encodes(in.from.node)) {
				return in
			}
			continue
		}
		if in.val.Kind == jsonscan.String {
			return in
		}
	}
	return nil
}

// takesText reports whether an input of an encoder cannot take a conditioning.
func (n *node) takesText(name string) bool {
	switch name {
	case "text", "prompt", "string", "text_g", "text_l", "t5xxl", "clip_l":
		_, ok := n.link("clip")
		return ok
	case "positive", "negative":
		return n.has("ckpt_name", "base_ckpt_name") // it loads its own encoder
	}
	return false
}

// encodes reports whether a node makes a conditioning rather than a text, when types are unknown.
func encodes(n *node) bool {
	if len(n.inputs) <= 2 && n.links() == 0 && n.has("positive", "negative") && !n.like("condition") {
		return false // a box of text, whatever its field is called
	}
	return isEncoder(n) || n.like("conditioning") || n.has("positive", "conditioning")
}

func isEncoder(n *node) bool {
	if role := n.role(); role != "" {
		return role == RoleEncoder
	}
	if n.like("encoder") {
		return true
	}
	_, ok := n.link(encoderLinks...)
	return ok && (n.has(mainFields...) || n.has(encoderFields...) || n.has(positiveOwn...) || n.unnamedText() != nil)
}

// unnamedText returns the text of a node whose fields have no known names: the only
// one there is, or the only one that is more than a word out of a list.
func (n *node) unnamedText() *input {
	var all, written []*input
	for i := range n.inputs {
		in := &n.inputs[i]
		if !strings.HasPrefix(in.name, "widget_") || in.val.Kind != jsonscan.String || in.linked() {
			continue
		}
		all = append(all, in)
		if strings.ContainsAny(in.val.Text, " \n,") {
			written = append(written, in)
		}
	}
	if len(all) == 1 {
		return all[0]
	}
	if len(written) == 1 {
		return written[0]
	}
	return nil
}

// populated returns the field in which a wildcard node keeps the text it really
// used, when it has one.
func populated(n *node) *input {
	if in := n.in("populated_text"); in != nil && (in.linked() || strings.TrimSpace(in.val.Str()) != "") {
		return in
	}
	return nil
}

func (w *sideReader) addMain(n *node, c sideContext) bool {
	in := textInput(n, mainFields)
	if in == nil {
		in = n.unnamedText()
	}
	if in == nil {
		return false
	}
	if in.val.Str() == "" && !in.linked() && textInput(n, encoderFields) != nil {
		return false // an advanced encoder whose plain field is not in use
	}
	added := w.addField(n, in, c, "")
	if in.name == "tags" {
		w.addEncoders(n, c)
	}
	return added
}

func (w *sideReader) addEncoders(n *node, c sideContext) bool {
	added := false
	for _, name := range encoderFields {
		if in := textInput(n, []string{name}); in != nil {
			added = w.addField(n, in, c, name) || added
		}
	}
	return added
}

func (w *sideReader) addField(n *node, in *input, c sideContext, encoder string) bool {
	text, ok := w.r.texts.of(in, c.role)
	if !ok {
		w.set.unknown = w.set.unknown || in.linked()
		return false
	}
	if !proseLike(text) {
		w.set.unknown = true
		return false
	}
	if n.opaque() && n.hasLinked("trigger_words1", "trigger_words") {
		w.set.unknown = true
		return false
	}
	if n.has("trigger_words1", "trigger_words") {
		if text, ok = w.r.texts.withTriggerWords(n, text, c.role); !ok {
			w.set.unknown = true
			return false
		}
	}
	if text, ok = w.r.texts.withPrepended(n, in, text, c.role); !ok {
		w.set.unknown = true
		return false
	}
	part := promptPart{text: text, node: n, far: c.far, kind: c.area, name: encoder}
	switch {
	case n.like("box_text"):
		part.kind = kindBox
	case encoder != "" && part.kind == "":
		part.kind = "encoder"
	}
	w.set.parts = append(w.set.parts, part)
	return true
}
