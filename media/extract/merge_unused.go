package extract

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"vitrine/library"
)

var loraTag = regexp.MustCompile(`<(?:lora|lyco):([^:<>]{1,300})((?::[^:<>]{0,64}){1,4})>`)

// maxTags bounds the tags that are looked at in one prompt.
const maxTags = 256

// withoutUnused drops the LoRAs that a list of hashes names and the prompt loads at
// strength zero only. Such a list holds every name in the prompt; at zero a LoRA
// changes nothing and is no load, in whatever record its name stands.
func withoutUnused(models []library.ModelUse, prompt *string) []library.ModelUse {
	if prompt == nil || !strings.Contains(*prompt, "<l") {
		return models
	}
	used := map[string]bool{}
	for _, m := range loraTag.FindAllStringSubmatch(*prompt, maxTags) {
		name := library.FoldModelName(m[1])
		used[name] = used[name] || !allZero(m[2])
	}
	return slices.DeleteFunc(slices.Clone(models), func(m library.ModelUse) bool {
		used, tagged := used[library.FoldModelName(m.Name)]
		return m.Type == "lora" && m.NodeID == "" && m.Strength == nil && tagged && !used
	})
}

// allZero reports whether every strength of a tag is zero: ":0", ":0:0", ":te=0:unet=0".
func allZero(args string) bool {
	for _, arg := range strings.Split(strings.TrimPrefix(args, ":"), ":") {
		if _, v, named := strings.Cut(arg, "="); named {
			arg = v
		}
		if f, err := strconv.ParseFloat(strings.TrimSpace(arg), 64); err != nil || f != 0 {
			return false
		}
	}
	return true
}
