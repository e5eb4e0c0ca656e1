package comfy

import (
	"slices"
	"strings"
)

// packOf returns the registry id of the pack a node comes from, or the repository
// it was installed from.
func packOf(props value) string {
	if s := props.Get("cnr_id").Str(); s != "" {
		return s
	}
	return props.Get("aux_id").Str()
}

// customNodes lists the packs a graph uses, sorted. Where a file has no editor's
// graph, the packs are those whose class names carry their sign.
func customNodes(g *graph, doc value) []string {
	seen := map[string]bool{}
	add := func(pack string) {
		if pack != "" && pack != "comfy-core" && len(pack) < 200 {
			seen[pack] = true
		}
	}
	eachEditorNode(doc, func(v value) { add(packOf(v.Get("properties"))) })
	for _, n := range g.nodes {
		switch {
		case n.pack != "":
		case n.about != nil && n.about.pack != "":
			add(n.about.pack)
		default:
			add(packBySign(n.class))
		}
	}
	out := make([]string, 0, len(seen))
	for p := range seen {
		out = append(out, p)
	}
	slices.Sort(out)
	return out
}

// eachEditorNode visits the nodes of the root and of every subgraph definition.
func eachEditorNode(doc value, visit func(value)) {
	for _, v := range doc.Get("nodes").List {
		visit(v)
	}
	for _, s := range doc.Get("definitions").Get("subgraphs").List {
		for _, v := range s.Get("nodes").List {
			visit(v)
		}
	}
}

// Signs by which packs mark their classes.
var packSuffixes = []struct{ sign, pack string }{
	{"(rgthree)", "rgthree-comfy"}, {"|pysssss", "comfyui-custom-scripts"}, {"//Inspire", "comfyui-inspire-pack"}, {" [Crystools]", "comfyui-crystools"}, {"(mtb)", "comfy-mtb"},
	{"(LoraManager)", "comfyui-lora-manager"}, {"(JPS)", "ComfyUI_JPS-Nodes"}, {"KJ", "comfyui-kjnodes"},
}

var packPrefixes = []struct{ sign, pack string }{
	{"VHS_", "comfyui-videohelpersuite"}, {"CR ", "ComfyUI_Comfyroll_CustomNodes"}, {"easy ", "comfyui-easy-use"}, {"ttN ", "comfyui_tinyterranodes"}, {"Impact", "comfyui-impact-pack"},
	{"WanVideo", "ComfyUI-WanVideoWrapper"}, {"HyVideo", "ComfyUI-HunyuanVideoWrapper"}, {"ADE_", "comfyui-animatediff-evolved"}, {"ACN_", "comfyui-advanced-controlnet"}, {"LayerUtility:", "comfyui_layerstyle"},
	{"LayerMask:", "comfyui_layerstyle"}, {"UltimateSDUpscale", "comfyui_ultimatesdupscale"}, {"IPAdapter", "comfyui_ipadapter_plus"}, {"BNK_", "ComfyUI_BlenderNeko"}, {"Nunchaku", "ComfyUI-nunchaku"},
	{"SUPIR_", "ComfyUI-SUPIR"}, {"Florence2", "comfyui-florence2"}, {"FaceDetailer", "comfyui-impact-pack"}, {"UltralyticsDetector", "comfyui-impact-subpack"}, {"RIFE VFI", "comfyui-frame-interpolation"},
}

func packBySign(class string) string {
	for _, s := range packSuffixes {
		if strings.HasSuffix(class, s.sign) {
			return s.pack
		}
	}
	for _, s := range packPrefixes {
		if strings.HasPrefix(class, s.sign) {
			return s.pack
		}
	}
	return ""
}
