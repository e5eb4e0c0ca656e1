package formats

import (
	"strings"

	"vitrine/library"
)

// readInvokeSDMetadata reads the second generation, "sd-metadata" of InvokeAI 2.
func readInvokeSDMetadata(src *Source) (Record, bool) {
	r := src.Get("sd-metadata")
	if r == nil || r.asObject() == nil {
		r = src.find("app_id", func(o object) bool { return strings.Contains(o.name("app_id"), "InvokeAI") && o.object("image") != nil })
	}
	if r == nil {
		return Record{}, false
	}
	src.markUsed(r)
	o := r.asObject()
	image := o.object("image")
	l := library.Lineage{Tool: "invokeai", ToolVersion: o.name("app_version")}
	if prompt, ok := invokeOldPrompt(image); ok {
		positive, negative := splitBracketNegatives(prompt)
		l.Positive, l.Negative = &positive, negative
	}
	p := params(&l)
	p.Seed = image.seed("seed")
	p.Steps = image.int("steps")
	p.CFGScale = image.float("cfg_scale")
	p.Sampler = image.named("sampler")
	p.Width, p.Height = image.positive("width"), image.positive("height")
	if image.name("type") == "img2img" {
		p.Denoise = image.float("strength", "strength_steps")
	}
	p.ModelName = o.named("model_weights")
	addCheckpoint(&l, o.name("model_weights"), o.name("model_hash"))
	addParent(&l, "init_image", firstOf(image.name("init_image_path"), image.name("init_img")))
	image.extras(&l, map[string]bool{"prompt": true, "seed": true, "steps": true, "cfg_scale": true, "sampler": true, "width": true, "height": true})
	tidy(&l)
	return Record{Lineage: l, Place: r.Place}, true
}

// invokeOldPrompt returns the prompt, a text or a list of weighted texts.
func invokeOldPrompt(image object) (string, bool) {
	if s, ok := image["prompt"].(string); ok {
		return s, true
	}
	var parts []string
	for _, p := range image.objects("prompt") {
		if text := p.name("prompt"); text != "" {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, " "), len(parts) > 0
}

// splitBracketNegatives takes the parts in [brackets] out of a prompt: the second
// generation's way to write negatives. Escaped brackets are text.
func splitBracketNegatives(prompt string) (positive string, negative *string) {
	var pos, neg strings.Builder
	var negatives []string
	depth := 0
	for i := 0; i < len(prompt); i++ {
		c := prompt[i]
		switch {
		case c == '\\' && i+1 < len(prompt):
			into(&pos, &neg, depth).WriteString(prompt[i : i+2])
			i++
		case c == '[':
			depth++
		case c == ']' && depth > 0:
			if depth--; depth == 0 {
				negatives = append(negatives, strings.TrimSpace(neg.String()))
				neg.Reset()
			}
		default:
			into(&pos, &neg, depth).WriteByte(c)
		}
	}
	if depth > 0 { // never closed: it was text after all
		return strings.TrimSpace(prompt), nil
	}
	if len(negatives) > 0 {
		joined := strings.Join(negatives, " ")
		negative = &joined
	}
	return strings.TrimSpace(pos.String()), negative
}

func into(pos, neg *strings.Builder, depth int) *strings.Builder {
	if depth > 0 {
		return neg
	}
	return pos
}

// readInvokeDream reads the first generation: the command line that made the
// picture, in "Dream".
func readInvokeDream(src *Source) (Record, bool) {
	r := src.Get("Dream")
	if r == nil {
		return Record{}, false
	}
	words := commandWords(r.Text)
	if len(words) == 0 {
		return Record{}, false
	}
	src.markUsed(r)
	l := library.Lineage{Tool: "invokeai"}
	prompt, flags := splitCommand(words)
	positive, negative := splitBracketNegatives(prompt)
	l.Positive, l.Negative = &positive, negative
	dreamSettings(&l, flags)
	tidy(&l)
	return Record{Lineage: l, Place: r.Place}, true
}

func dreamSettings(l *library.Lineage, flags settings) {
	p := params(l)
	p.Seed = parseSeed(flags.exact("S", "seed"))
	p.Steps = parseCount(flags.exact("s", "steps"))
	p.CFGScale = parseFloat(flags.exact("C", "cfg_scale"))
	p.Sampler = nonEmpty(flags.exact("A", "sampler"))
	p.Width, p.Height = parsePositive(flags.exact("W", "width")), parsePositive(flags.exact("H", "height"))
	addParent(l, "init_image", flags.exact("I", "init_img"))
	if len(l.Parents) > 0 {
		p.Denoise = parseFloat(flags.exact("f", "strength"))
	}
	for _, f := range flags {
		switch f.key {
		case "S", "s", "C", "A", "W", "H", "I", "f", "seed", "steps", "cfg_scale", "sampler", "width", "height", "init_img", "strength":
		default:
			addExtra(l, "-"+f.key, f.value)
		}
	}
}

// exact is get for flags, in which -S and -s differ.
func (s settings) exact(keys ...string) string {
	for _, key := range keys {
		for _, p := range s {
			if p.key == key {
				return p.value
			}
		}
	}
	return ""
}

// commandWords splits a command line at spaces outside quotes. A backslash
// escapes a quote.
func commandWords(line string) (words []word) {
	var text strings.Builder
	quote, quoted, some := byte(0), false, false
	flush := func() {
		if some {
			words = append(words, word{text.String(), quoted})
		}
		text.Reset()
		quoted, some = false, false
	}
	for i := 0; i < len(line) && len(words) < maxSettings; i++ {
		c := line[i]
		switch {
		case c == '\\' && i+1 < len(line) && (line[i+1] == '"' || line[i+1] == '\'' || line[i+1] == '\\'):
			i++
			text.WriteByte(line[i])
			some = true
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			text.WriteByte(c)
		case c == '"' && !some:
			quote, quoted, some = c, true, true
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			flush()
		default:
			text.WriteByte(c)
			some = true
		}
	}
	flush()
	return words
}

type word struct {
	text   string
	quoted bool
}

// dreamFlags are the flags whose value may stick to them, as in -s50.
const dreamFlags = "sSWHCAIfGUbnto"

// splitCommand parts the words into the prompt and the flags; values of a flag
// that takes several are joined.
func splitCommand(words []word) (prompt string, flags settings) {
	var text []string
	for _, w := range words {
		name, isFlag := flagName(w)
		switch {
		case isFlag && len(name) > 1 && strings.IndexByte(dreamFlags, name[0]) >= 0 && strings.ContainsAny(name[1:2], "0123456789.k"):
			flags = append(flags, pair{name[:1], name[1:]})
		case isFlag:
			flags = append(flags, pair{key: name})
		case len(flags) == 0:
			text = append(text, w.text)
		default:
			last := &flags[len(flags)-1]
			last.value = strings.TrimSpace(last.value + " " + w.text)
		}
	}
	return strings.Join(text, " "), flags
}

func flagName(w word) (string, bool) {
	name := strings.TrimLeft(w.text, "-")
	if w.quoted || name == w.text || name == "" || name[0] >= '0' && name[0] <= '9' || name[0] == '.' {
		return "", false
	}
	return name, true
}
