package formats

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"vitrine/library"
)

// infotextModels lists what was loaded, in the order in which the web UI loads:
// checkpoint, VAE and text encoders, networks of the prompt, embeddings,
// control nets, then what later passes add.
func infotextModels(l *library.Lineage, t infotext) {
	s := t.settings
	hashes := parseHashes(s)
	addCheckpoint(l, modelOf(s), firstOf(s.get("Model hash"), hashes["model"]))
	if vae := s.get("VAE"); !strings.EqualFold(vae, "Remote") { // SD.Next's word for a service that decodes
		addModel(l, library.ModelUse{Type: "vae", Name: vae, Hash: firstOf(s.get("VAE hash"), hashes["vae"])})
	}
	addModules(l, s)
	addPromptModels(l, t.prompt)
	addPromptModels(l, s.get("Hires prompt"))
	addHashedNetworks(l, s, hashes)
	addAdditionalNetworks(l, s)
	addHypernet(l, s)
	addControlNets(l, s)
	addLaterPasses(l, s)
	addCivitaiResources(l, s.get("Civitai resources"))
}

func firstOf(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}

// addCheckpoint adds the main model. Old texts give only its hash, which is then
// the only name it has.
func addCheckpoint(l *library.Lineage, name, hash string) {
	if name == "" {
		name = hash
	}
	addModel(l, library.ModelUse{Type: "checkpoint", Name: name, Hash: hash})
}

// parseHashes reads "Hashes", a JSON object of "kind:name" to hash.
func parseHashes(s settings) map[string]string {
	hashes := map[string]string{}
	for name, hash := range parseObject(s.get("Hashes")) {
		if text, ok := hash.(string); ok {
			hashes[name] = text
		}
	}
	return hashes
}

// addModules adds the parts that are loaded beside a bare diffusion model: the
// "Module n" of Forge, and SD.Next's by their roles.
func addModules(l *library.Lineage, s settings) {
	addNumberedModules(l, s, "Module ")
	addModel(l, library.ModelUse{Type: "unet", Name: s.get("UNet")})
	for _, p := range s { // stable-diffusion.cpp writes one TE for each text encoder
		if strings.EqualFold(p.key, "TE") || strings.EqualFold(p.key, "T5") {
			addModel(l, library.ModelUse{Type: "clip", Name: p.value})
		}
	}
}

// addNumberedModules adds Forge's parts, which their names alone tell apart.
func addNumberedModules(l *library.Lineage, s settings, prefix string) {
	for i := 1; i <= 9; i++ {
		name := s.get(prefix + strconv.Itoa(i))
		kind := "clip"
		if folded := library.FoldModelName(name); folded == "ae" || strings.Contains(folded, "vae") {
			kind = "vae"
		}
		addModel(l, library.ModelUse{Type: kind, Name: name})
	}
}

var networkTag = regexp.MustCompile(`<(lora|lyco|lycoris|hypernet):([^:<>]+)((?::[^:<>]*)*)>`)

// addPromptModels adds the networks that a positive prompt loads by tags such as
// <lora:name:0.8>. One of strength zero changes nothing and is not a load.
func addPromptModels(l *library.Lineage, prompt string) {
	if !strings.Contains(prompt, "<") {
		return
	}
	prompt = prompt[:min(len(prompt), maxLines)]
	for _, m := range networkTag.FindAllStringSubmatch(prompt, maxSettings) {
		kind := "lora"
		if m[1] == "hypernet" {
			kind = "hypernetwork"
		}
		model, clip := tagStrengths(m[3])
		if model != nil && *model == 0 && (clip == nil || *clip == 0) {
			continue
		}
		addModel(l, library.ModelUse{Type: kind, Name: m[2], Strength: model, ClipStrength: clip})
	}
}

// tagStrengths reads ":te:unet" or ":te=1:unet=0.5"; one number stands for both.
func tagStrengths(args string) (model, clip *float64) {
	var plain []*float64
	for _, arg := range strings.Split(strings.TrimPrefix(args, ":"), ":") {
		name, value, named := strings.Cut(arg, "=")
		switch {
		case named && name == "te":
			clip = parseFloat(value)
		case named && name == "unet":
			model = parseFloat(value)
		case !named:
			plain = append(plain, parseFloat(arg))
		}
	}
	switch {
	case len(plain) == 1:
		return firstFloat(model, plain[0]), clip
	case len(plain) >= 2:
		return firstFloat(model, plain[1]), firstFloat(clip, plain[0])
	}
	return model, clip
}

func firstFloat(values ...*float64) *float64 {
	for _, v := range values {
		if v != nil {
			return v
		}
	}
	return nil
}

// addHashedNetworks adds hashes to the networks of the prompt, and the networks
// and embeddings that only the hash lists name.
func addHashedNetworks(l *library.Lineage, s settings, hashes map[string]string) {
	addListedLoras(l, s)
	for _, p := range hashPairs(s.get("TI hashes")) {
		addModel(l, library.ModelUse{Type: "embedding", Name: p.key, Hash: p.value})
	}
	for _, name := range strings.Split(s.get("Embeddings"), ",") {
		addModel(l, library.ModelUse{Type: "embedding", Name: name})
	}
	kinds := map[string]string{"lora": "lora", "lyco": "lora", "embed": "embedding", "hypernet": "hypernetwork", "control": "controlnet"}
	for _, key := range sortedKeys(hashes) {
		kind, name, ok := strings.Cut(key, ":")
		if kind = strings.ToLower(kind); ok && kinds[kind] != "" {
			addModel(l, library.ModelUse{Type: kinds[kind], Name: name, Hash: hashes[key]})
		}
	}
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// hashPairs reads "name: hash, name: hash". Names may hold spaces and dots.
func hashPairs(list string) []pair {
	var out []pair
	for _, item := range strings.Split(list, ",") {
		parts := strings.Split(item, ":")
		if len(parts) < 2 || len(out) >= maxSettings {
			continue
		}
		out = append(out, pair{strings.TrimSpace(parts[0]), strings.TrimSpace(parts[1])})
	}
	return out
}

// addListedLoras reads the networks of "Lora hashes", which tell those of the
// prompt apart, and Fooocus's "Lora weights", "name: weight, name: weight": it
// lists there also the ones that it leaves out for a weight of zero.
func addListedLoras(l *library.Lineage, s settings) {
	weights := map[string]string{}
	for _, p := range hashPairs(s.get("Lora weights")) {
		weights[p.key] = p.value
	}
	for _, p := range hashPairs(s.get("Lora hashes")) {
		addWeighted(l, library.ModelUse{Type: "lora", Name: p.key, Hash: p.value, Strength: parseFloat(weights[p.key])})
	}
	for _, p := range hashPairs(s.get("Lora weights")) {
		addWeighted(l, library.ModelUse{Type: "lora", Name: p.key, Strength: parseFloat(p.value)})
	}
}

var hashSuffix = regexp.MustCompile(`^(.*?)\s*[\[(]([0-9a-fA-F]{6,64})[\])]$`)

// cutHash splits "name [hash]" and "name(hash)".
func cutHash(s string) (name, hash string) {
	if m := hashSuffix.FindStringSubmatch(strings.TrimSpace(s)); m != nil {
		return m[1], m[2]
	}
	return strings.TrimSpace(s), ""
}

// addAdditionalNetworks reads the settings of the extension of that name.
func addAdditionalNetworks(l *library.Lineage, s settings) {
	for i := 1; i <= 9; i++ {
		n := strconv.Itoa(i)
		if !strings.Contains(strings.ToLower(s.get("AddNet Module "+n)), "lora") {
			continue
		}
		name, hash := cutHash(s.get("AddNet Model " + n))
		weight := parseFloat(s.get("AddNet Weight A "+n, "AddNet Weight "+n))
		if weight != nil && *weight == 0 {
			continue
		}
		addModel(l, library.ModelUse{Type: "lora", Name: name, Hash: hash, Strength: weight})
	}
}

func addHypernet(l *library.Lineage, s settings) {
	name, hash := cutHash(s.get("Hypernet"))
	addModel(l, library.ModelUse{Type: "hypernetwork", Name: name, Hash: firstOf(s.get("Hypernet hash"), hash), Strength: parseFloat(s.get("Hypernet strength"))})
}

var controlNetKey = regexp.MustCompile(`(?i)^ControlNet(?:[ -]?\d+)?$`)

// addControlNets reads "ControlNet 0: "Module: canny, Model: name [hash], Weight: 1"",
// and the older "ControlNet-0 Model: name [hash]".
func addControlNets(l *library.Lineage, s settings) {
	for _, p := range s {
		switch {
		case controlNetKey.MatchString(p.key):
			inner := parseSettings(p.value)
			name, hash := cutHash(inner.get("Model"))
			addModel(l, library.ModelUse{Type: "controlnet", Name: name, Hash: hash, Strength: parseFloat(inner.get("Weight"))})
		case strings.HasPrefix(p.key, "ControlNet") && strings.HasSuffix(p.key, " Model"):
			name, hash := cutHash(p.value)
			prefix := strings.TrimSuffix(p.key, "Model")
			addModel(l, library.ModelUse{Type: "controlnet", Name: name, Hash: hash, Strength: parseFloat(s.get(prefix + "Weight"))})
		}
	}
}

// addLaterPasses adds what the passes after the base one load.
func addLaterPasses(l *library.Lineage, s settings) {
	name, hash := cutHash(s.get("Refiner"))
	addModel(l, library.ModelUse{Type: "checkpoint", Name: name, Hash: firstOf(s.get("Refiner hash"), hash)})
	name, hash = cutHash(s.get("Hires checkpoint"))
	addModel(l, library.ModelUse{Type: "checkpoint", Name: name, Hash: hash})
	addNumberedModules(l, s, "Hires Module ")
	for _, key := range []string{"Hires upscaler", "Upscaler", "SD upscale upscaler", "Ultimate SD upscale upscaler", "Postprocess upscaler", "Postprocess upscaler 2"} {
		if name := s.get(key); isUpscaleModel(name) {
			addModel(l, library.ModelUse{Type: "upscaler", Name: name})
		}
	}
	for _, nth := range []string{"", " 2nd", " 3rd", " 4th"} {
		addModel(l, library.ModelUse{Type: "detector", Name: s.get("ADetailer model" + nth)})
	}
	for _, name := range strings.Split(s.get("Detailer"), ",") {
		addModel(l, library.ModelUse{Type: "detector", Name: name})
	}
}

// isUpscaleModel reports whether a name is of a network rather than of a plain resampling filter.
func isUpscaleModel(name string) bool {
	n := strings.ToLower(name)
	for _, filter := range []string{"latent", "lanczos", "nearest", "bicubic", "bilinear", "area"} {
		if strings.HasPrefix(n, filter) {
			return false
		}
	}
	return !noModel(name)
}
