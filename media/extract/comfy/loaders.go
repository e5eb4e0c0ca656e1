package comfy

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"vitrine/internal/jsonscan"
	"vitrine/library"
)

// load is one weight file that a node reads.
type load struct {
	node     *node
	typ      string
	name     string
	place    int      // among the widgets that the table lists, 0 when it does not
	input    []idPart // name of the input, for natural order
	strength *float64
	clip     *float64
}

// weightExtensions are the endings of weight files.
var weightExtensions = []string{".safetensors", ".ckpt", ".pt", ".pth", ".bin", ".gguf", ".sft", ".onnx", ".pkl", ".engine"}

func isWeightFile(s string) bool {
	if len(s) > 512 || strings.ContainsAny(s, "\n<>") {
		return false
	}
	low := strings.ToLower(s)
	for _, ext := range weightExtensions {
		if strings.HasSuffix(low, ext) {
			return true
		}
	}
	return false
}

// inputTypes holds the model type for input names that say it themselves.
var inputTypes = map[string]string{
	"ckpt_name": "checkpoint", "checkpoint": "checkpoint", "ckpt": "checkpoint", "checkpoint_name": "checkpoint", "base_ckpt_name": "checkpoint",
	"refiner_ckpt_name": "checkpoint", "hires_ckpt_name": "checkpoint", "base_ckpt": "checkpoint", "refiner_ckpt": "checkpoint",
	"unet_name": "unet", "diffusion_model": "unet", "diffusion_model_name": "unet", "unet": "unet", "dit_name": "unet", "high_noise_model": "unet", "low_noise_model": "unet",
	"lora_name": "lora", "lora": "lora", "lora_file": "lora",
	"vae_name": "vae", "vae_model": "vae",
	"clip_name": "clip", "text_encoder": "clip", "text_encoder_name": "clip", "t5_name": "clip", "t5_model": "clip", "clip_l_name": "clip", "clip_g_name": "clip", "llm_name": "clip", "te_name": "clip",
	"clip_vision_name": "clip_vision", "clip_vision": "clip_vision", "clip_vision_model": "clip_vision",
	"control_net_name": "controlnet", "controlnet_name": "controlnet", "cnet_name": "controlnet", "controlnet": "controlnet", "control_net": "controlnet", "controlnet_model": "controlnet",
	"style_model_name": "style_model", "hypernetwork_name": "hypernetwork", "gligen_name": "gligen",
	"upscale_model_name": "upscaler", "upscale_model": "upscaler", "upscaler_name": "upscaler", "pixel_upscaler": "upscaler", "upscaler": "upscaler",
	"ipadapter_file": "ip_adapter", "ipadapter_name": "ip_adapter", "ip_adapter_name": "ip_adapter", "ipadapter": "ip_adapter",
	"motion_model": "motion_module", "motion_module": "motion_module", "motion_model_name": "motion_module", "motion_lora_name": "motion_lora",
	"photomaker_model_name": "photomaker", "instantid_file": "instantid", "pulid_file": "pulid", "audio_encoder_name": "audio_encoder",
	"swap_model": "face_swap", "face_restore_model": "face_restore", "facerestore_model": "face_restore", "sam_model": "sam", "bbox_detector": "detector",
	"embedding_name": "embedding", "embedding": "embedding", "textual_inversion": "embedding", "patch_name": "model_patch", "supir_model": "unet", "sdxl_model": "checkpoint",
}

// fileType returns what kind of weight file an input names: by the table, otherwise
// by the names of input and class.
func fileType(n *node, in *input, val string) string {
	if in.file != "" {
		return in.file
	}
	return modelType(n, in.name, val)
}

// modelType returns what kind of weight file an input names; "" when it names none.
func modelType(n *node, name, val string) string {
	stem, _, numbered := trailingNumber(strings.ToLower(name))
	typ := inputTypes[strings.ToLower(name)]
	if typ == "" && numbered {
		typ = inputTypes[stem]
	}
	if typ == "" {
		typ = midNumbered(strings.ToLower(name))
	}
	switch {
	case typ == "clip" && n.usedAs() == "clip_vision":
		return "clip_vision"
	case typ != "":
		return typ
	}
	if !isWeightFile(val) && !(name == "model_path" && n.like("folder_loader")) && !namesFolder(n, name, val) {
		return ""
	}
	if typ := n.usedAs(); typ != "" {
		return typ
	}
	if n.about != nil && !n.like("loads") {
		return "" // a name that a described class does not load
	}
	return "other"
}

// outputTypes holds the model type by the kind of thing that a node gives.
var outputTypes = map[string]string{
	"CLIP_VISION": "clip_vision", "CONTROL_NET": "controlnet", "UPSCALE_MODEL": "upscaler", "STYLE_MODEL": "style_model", "GLIGEN": "gligen", "VAE": "vae", "WANVAE": "vae",
	"LORA_STACK": "lora", "WANVIDLORA": "lora", "IPADAPTER": "ip_adapter", "SAM_MODEL": "sam", "SAM2_MODEL": "sam", "BBOX_DETECTOR": "detector", "SEGM_DETECTOR": "detector", "PHOTOMAKER": "photomaker",
	"INSTANTID": "instantid", "PULID": "pulid", "PULIDFLUX": "pulid", "AUDIO_ENCODER": "audio_encoder", "MODEL_PATCH": "model_patch", "M_MODELS": "motion_module", "MOTION_MODEL_ADE": "motion_module",
	"MOTION_LORA": "motion_lora", "LATENT_UPSCALE_MODEL": "latent_upscale", "WANTEXTENCODER": "clip", "HYVIDTEXTENCODER": "clip", "T5": "clip", "CLIP": "clip", "MODEL": "unet", "WANVIDEOMODEL": "unet", "HYVIDEOMODEL": "unet",
}

// linkTypes holds the model type by the input that takes what a node gives.
var linkTypes = map[string]string{
	"clip_vision": "clip_vision", "clip_vision_model": "clip_vision", "control_net": "controlnet", "controlnet": "controlnet", "upscale_model": "upscaler", "style_model": "style_model", "gligen": "gligen", "vae": "vae", "optional_vae": "vae",
	"lora_stack": "lora", "lora": "lora", "prev_lora": "lora", "ipadapter": "ip_adapter", "sam_model": "sam", "sam_model_opt": "sam", "bbox_detector": "detector", "segm_detector": "detector", "photomaker": "photomaker",
	"instantid": "instantid", "pulid": "pulid", "audio_encoder": "audio_encoder", "model_patch": "model_patch", "motion_model": "motion_module", "motion_lora": "motion_lora", "clip": "clip", "text_encoder": "clip", "t5": "clip",
	"model": "unet", "unet": "unet", "transformer": "unet",
}

// usedAs returns the type of the model that a loader gives: by what its outputs are,
// otherwise by the inputs that they fill. A node that gives several is a checkpoint's
// loader; one that takes a model and gives it on is not asked.
func (n *node) usedAs() string {
	if n.gives == nil {
		typ := n.typeByUse()
		n.gives = &typ
	}
	return *n.gives
}

func (n *node) typeByUse() string {
	found := map[string]bool{}
	for _, o := range n.outputs {
		if typ := outputTypes[o.typ]; typ != "" {
			found[typ] = true
		}
	}
	n.fills(found, 0)
	switch {
	case len(found) == 1:
		for typ := range found {
			if n.hasLinked("model", "clip", "vae", "pipe") {
				return "" // it changes what it is handed
			}
			return typ
		}
	case found["unet"] && found["clip"] && !n.hasLinked("model", "clip"):
		return "checkpoint"
	}
	return ""
}

// fills collects the types of the models that take what a node gives, through
// switches and other nodes that hand one of several on.
func (n *node) fills(found map[string]bool, depth int) {
	for _, fed := range n.feeds {
		if typ := linkTypes[strings.ToLower(fed.input)]; typ != "" {
			found[typ] = true
		} else if depth < maxWires && (fed.to.like("hands_on") || relayNames[fed.input] || slices.Contains(yesBranches, fed.input) || slices.Contains(noBranches, fed.input)) {
			fed.to.fills(found, depth+1)
		}
	}
}

// maxWires bounds the switches in a row behind a loader.
const maxWires = 4

// midNumbered returns the model type of a name with the number inside: lora_1_name, lora1_name.
func midNumbered(name string) string {
	for i := range len(name) {
		if name[i] >= '0' && name[i] <= '9' {
			stem := strings.TrimRight(name[:i], "_")
			rest := strings.TrimLeft(strings.TrimLeft(name[i:], "0123456789"), "_")
			if rest == "name" || rest == "model_name" {
				return inputTypes[stem+"_name"]
			}
			return ""
		}
	}
	return ""
}

// noFile are the words that stand for "no file" in a file choice.
var noFile = map[string]bool{
	"": true, "none": true, "null": true, "undefined": true, "disabled": true, "default": true, "auto": true, "automatic": true, "baked vae": true, "baked_vae": true,
	"baked-vae": true, "bakedvae": true, "(use same)": true, "use same": true, "(none)": true, "[none]": true, "no": true, "off": true, "pixel_space": true, "same": true, "from checkpoint": true,
	"choose": true, "select": true, "no lora": true, "-": true, "use from checkpoint": true, "true": true, "false": true,
}

func isNoFile(s string) bool {
	s = strings.ToLower(strings.TrimSpace(s))
	return noFile[s] || switchWord.MatchString(s)
}

// switchWord matches the words of loaders that stand for "none" and "the one of the
// checkpoint": .none, .use_ckpt_clip.
var switchWord = regexp.MustCompile(`^\.[a-z_]+$`)

// of lists the weight files a node reads, in the order of its inputs.
func (r *models) of(n *node) []load {
	if isOutputClass(n) || n.opaque() && n.uses == 0 || n.role() == RoleBundle {
		return nil
	}
	var out []load
	for i := range n.inputs {
		in := &n.inputs[i]
		if r.nameSources[in] || isTextField(in.name) || in.option {
			continue
		}
		switch in.val.Kind {
		case jsonscan.Object, jsonscan.Array:
			if in.linked() {
				out = r.linkedLoad(out, n, in)
			} else if name, ok := scalar(in.val); ok {
				out = r.namedLoad(out, n, in, name)
			} else {
				out = entryLoads(out, n, in)
			}
		case jsonscan.String:
			out = r.namedLoad(out, n, in, in.val.Text)
		}
	}
	slices.SortStableFunc(out, func(a, b load) int {
		return cmp.Or(cmp.Compare(loadRank[a.typ], loadRank[b.typ]), cmp.Compare(a.place, b.place), slices.CompareFunc(a.input, b.input, compareParts))
	})
	return r.taggedLoads(out, n)
}

// placeOf returns the place of an input in the order in which its class declares its
// widgets, 0 where the table does not say.
func (n *node) placeOf(in *input) int {
	if n.about == nil {
		return 0
	}
	return slices.Index(n.about.Widgets, in.written()) + 1
}

// loadRank puts the files of one node into the order in which such nodes load
// them, so that it does not hang on the order of a document's members: the model
// itself, its text encoders and VAE, then what patches it.
var loadRank = map[string]int{"checkpoint": -3, "unet": -3, "diffusers": -3, "clip": -2, "vae": -1}

func isTextField(name string) bool {
	switch name {
	case "text", "prompt", "positive", "negative", "wildcard_text", "populated_text", "filename_prefix", "loras":
		return true
	}
	return false
}

// linkedLoad handles a file name that comes over a link from a name node.
func (r *models) linkedLoad(out []load, n *node, in *input) []load {
	if !namesFile(in) {
		return out
	}
	s, ok := r.values.scalar(in, in.name)
	if !ok || fileType(n, in, s) == "other" && !n.like("loads") { // a text that is no more than a file's name
		return out
	}
	return r.namedLoad(out, n, in, s)
}

// namesFile reports whether a link carries a file name rather than a model:
// "lora_name" is a name, "lora" from a loader is an object.
func namesFile(in *input) bool {
	switch in.from.outType() {
	case "STRING", "COMBO":
		return true
	case "", "*":
		name := strings.ToLower(in.name)
		stem, _, _ := trailingNumber(name)
		return strings.HasSuffix(stem, "_name") || strings.HasSuffix(name, "_file") || midNumbered(name) != ""
	}
	return strings.HasSuffix(in.name, "_name")
}

func (r *models) namedLoad(out []load, n *node, in *input, name string) []load {
	typ := fileType(n, in, name)
	if strings.HasPrefix(in.name, "widget_") && n.like("stack") {
		return out // which of its entries are in use is said by fields that have no name either
	}
	if typ == "lora" && (n.draws() || n.onlyNames()) {
		return out
	}
	if typ == "" || isNoFile(name) || len(name) > 512 || !r.switchedOn(n, in) || !r.scriptReads(n, in) {
		return out
	}
	l := load{node: n, typ: typ, name: name, place: n.placeOf(in), input: splitID(strings.ToLower(in.name))}
	if typ == "lora" || typ == "motion_lora" || typ == "hypernetwork" || typ == "embedding" {
		l.strength, l.clip = r.strengths(n, in)
		if zero(l.strength) && (l.clip == nil || zero(l.clip)) {
			return out
		}
	}
	return append(out, l)
}

func zero(f *float64) bool { return f != nil && *f == 0 }

// switchedOn reads the switches of stack nodes: a switch per entry, a count of
// used entries, or one for the whole node.
func (r *models) switchedOn(n *node, in *input) bool {
	num := anyNumber(in.name)
	var own []string
	if num != "" {
		own = []string{"switch_" + num, "on_" + num, "enabled_" + num, "enable_" + num, "toggle_" + num, "lora_" + num + "_enabled", "lora_" + num + "_on", "active_" + num}
		for _, c := range []string{"lora_count", "num_loras", "lora_num"} {
			if count := r.values.whole(n, []string{c}); count != nil {
				if i := parseInt(num); i != nil && *i > *count {
					return false
				}
			}
		}
	}
	if n.opaque() && n.has("upscale_method") && strings.HasPrefix(in.name, "upscale_model") {
		return false // whether it enlarges by a model is said in words that are not known
	}
	if n.like("lora_stack") {
		own = append(own, "switch", "toggle", "enabled", "enable", "active", "on")
	}
	for _, name := range own {
		if s, ok := r.values.scalar(n.in(name), name); ok && falsy(s) {
			return false
		}
	}
	return true
}

func falsy(s string) bool {
	switch strings.ToLower(strings.TrimSpace(s)) {
	case "off", "false", "no", "disabled", "disable", "0":
		return true
	}
	return false
}

// anyNumber returns the first run of digits in an input's name.
func anyNumber(name string) string {
	for i := range len(name) {
		if name[i] >= '0' && name[i] <= '9' {
			j := i
			for j < len(name) && name[j] >= '0' && name[j] <= '9' {
				j++
			}
			return name[i:j]
		}
	}
	return ""
}

// strengths reads the weights that belong to one file name of a node.
func (r *models) strengths(n *node, in *input) (model, clip *float64) {
	num := anyNumber(in.name)
	if num == "" {
		model = r.values.number(n, []string{"strength_model", "lora_model_strength", "strength", "model_strength", "lora_strength", "lora_weight", "weight", "model_weight", "multiplier"})
		clip = r.values.number(n, []string{"strength_clip", "lora_clip_strength", "clip_strength", "clip_weight"})
		return model, clip
	}
	model = r.values.number(n, []string{"model_weight_" + num, "model_str_" + num, "lora_wt_" + num, "strength_" + num, "lora_" + num + "_model_strength", "lora_" + num + "_strength",
		"lora" + num + "_model_strength", "strength_model_" + num, "weight_" + num, "lora_weight_" + num, "lora_strength_" + num, "strength" + num, "model_strength_" + num, "strength_model" + num})
	clip = r.values.number(n, []string{"clip_weight_" + num, "clip_str_" + num, "lora_" + num + "_clip_strength", "lora" + num + "_clip_strength", "strength_clip_" + num, "clip_strength_" + num, "strength_clip" + num})
	if mode, ok := r.values.scalar(n.in("input_mode", "mode"), "mode"); ok && mode == "simple" {
		if w := r.values.number(n, []string{"lora_wt_" + num, "lora_" + num + "_strength"}); w != nil {
			return w, nil
		}
	}
	return model, clip
}

// entryLoads reads list widgets that hold their entries as objects: {on, lora,
// strength, strengthTwo} and {active, name, strength, clipStrength}.
func entryLoads(out []load, n *node, in *input) []load {
	v, from := in.val, len(out)
	if inner := v.Get("__value__"); inner.Kind == jsonscan.Array {
		v = inner
	}
	if v.Kind == jsonscan.Array {
		for i := range v.List {
			if v.List[i].Kind == jsonscan.Object {
				out = entryLoad(out, n, v.List[i])
			}
		}
	} else {
		out = entryLoad(out, n, v)
	}
	for i := range out[from:] {
		out[from+i].input = splitID(strings.ToLower(in.name))
	}
	return out
}

func entryLoad(out []load, n *node, v value) []load {
	name := v.Get("lora").Str()
	if name == "" && n.like("lora") {
		name = v.Get("name").Str()
	}
	if name == "" || isNoFile(name) {
		return out
	}
	for _, k := range []string{"on", "active", "enabled"} {
		if s, ok := scalar(v.Get(k)); ok && falsy(s) {
			return out
		}
	}
	num := func(keys ...string) *float64 {
		for _, k := range keys {
			if s, ok := scalar(v.Get(k)); ok {
				return parseFloat(s)
			}
		}
		return nil
	}
	l := load{node: n, typ: "lora", name: name, strength: num("strength", "strength_model"), clip: num("strengthTwo", "clipStrength", "strength_clip")}
	if zero(l.strength) && (l.clip == nil || zero(l.clip)) {
		return out
	}
	return append(out, l)
}

// use is the public form of a load.
func (l load) use(seq int) library.ModelUse {
	return library.ModelUse{Sequence: seq, Type: l.typ, Name: l.name, NodeID: l.node.id, Strength: l.strength, ClipStrength: l.clip}
}
