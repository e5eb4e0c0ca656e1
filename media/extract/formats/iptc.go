package formats

import (
	"strings"

	"vitrine/library"
)

// readIPTC reads the fields that IPTC's photo metadata standard (2025.1) has for
// generated pictures. A plain description is no prompt: it counts only where the
// file names a generator that writes its prompt there.
func readIPTC(src *Source) (Record, bool) {
	prompt, system := src.Get("AIPromptInformation"), src.Get("AISystemUsed")
	if prompt == nil && system == nil {
		return readNamedGenerator(src)
	}
	src.markUsed(prompt, system)
	var l library.Lineage
	place := ""
	if system != nil {
		l.Tool, place = toolName(system.Text), system.Place
		l.ToolVersion = src.text("AISystemVersionUsed")
	}
	if prompt != nil {
		text := strings.TrimSpace(prompt.Text)
		l.Positive, place = &text, prompt.Place
	}
	return Record{Lineage: l, Place: place}, true
}

// toolName makes a name such as "DALL·E via ChatGPT" one word of ours.
func toolName(s string) string {
	var out strings.Builder
	for _, r := range strings.ToLower(strings.TrimSpace(s)) {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '.':
			out.WriteRune(r)
		case out.Len() > 0 && !strings.HasSuffix(out.String(), "-"):
			out.WriteByte('-')
		}
	}
	name := strings.Trim(out.String(), "-.")
	return name[:min(len(name), 60)]
}

// generators are the programs that name themselves and put the prompt into the
// description.
var generators = map[string]string{
	"dreamstudio": "dreamstudio", "stability ai": "stability-ai", "stable diffusion": "stable-diffusion", "leonardo.ai": "leonardo-ai",
	"leonardo ai": "leonardo-ai", "nightcafe": "nightcafe", "ideogram": "ideogram", "playground ai": "playground-ai", "krea.ai": "krea",
	"diffusionbee": "diffusionbee", "mochi diffusion": "mochi-diffusion", "guernika": "guernika",
}

// readNamedGenerator reads a description whose writer is known to put prompts there.
func readNamedGenerator(src *Source) (Record, bool) {
	tool := ""
	for _, key := range []string{"Software", "CreatorTool"} {
		named := strings.ToLower(src.text(key))
		for _, name := range sortedKeys(generators) {
			if tool == "" && strings.HasPrefix(named, name) {
				tool = generators[name]
			}
		}
	}
	if tool == "" {
		return Record{}, false
	}
	l := library.Lineage{Tool: tool}
	r := src.Get("Description", "ImageDescription")
	if r == nil {
		return Record{Lineage: l}, true
	}
	src.markUsed(r)
	text := strings.TrimSpace(r.Text)
	l.Positive = &text
	return Record{Lineage: l, Place: r.Place}, true
}
