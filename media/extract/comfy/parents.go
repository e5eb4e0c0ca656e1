package comfy

import (
	"path"
	"strings"

	"vitrine/internal/jsonscan"
	"vitrine/library"
)

var mediaKinds = map[string]string{
	".png": "image", ".jpg": "image", ".jpeg": "image", ".webp": "image", ".gif": "image", ".bmp": "image", ".tif": "image", ".tiff": "image", ".avif": "image", ".jxl": "image", ".exr": "image",
	".mp4": "video", ".webm": "video", ".mov": "video", ".mkv": "video", ".avi": "video", ".m4v": "video",
	".mp3": "audio", ".wav": "audio", ".flac": "audio", ".ogg": "audio", ".opus": "audio", ".m4a": "audio",
	".glb": "model", ".gltf": "model", ".obj": "model", ".fbx": "model", ".stl": "model", ".ply": "model", ".splat": "model", ".latent": "latent",
}

var parentInputs = []string{"image", "video", "file", "audio", "audio_file", "image_path", "video_path", "path", "model_file", "latent", "url", "mask", "image_file", "file_path", "filename", "images", "reference_image"}

// all lists the files that were loaded on the way to the output.
func (r *parents) all() []library.Parent {
	var out []library.Parent
	seen := map[string]bool{}
	for _, n := range r.runs.sequence {
		if isOutputClass(n) {
			continue
		}
		for _, file := range r.of(n) {
			kind, name := mediaKinds[strings.ToLower(path.Ext(file))], parentName(file)
			if name == "" || seen[name] {
				continue
			}
			seen[name] = true
			out = append(out, library.Parent{Kind: r.kind(n, kind), Name: name, NodeID: n.id})
		}
	}
	return out
}

// of returns the media files a loading node names.
func (r *parents) of(n *node) []string {
	loader := n.like("file_loader")
	var out []string
	for _, name := range parentInputs {
		in := n.in(name)
		if in == nil || !loader && in.linked() {
			continue
		}
		s, ok := "", false
		if in.linked() {
			if t := in.from.outType(); t == "STRING" || t == "COMBO" || t == "" && !pictureStem(name) {
				s, ok = r.texts.of(in, rolePositive)
			}
		} else {
			s, ok = in.val.Str(), in.val.Kind == jsonscan.String
		}
		if !ok || s == "" || len(s) > 1024 || strings.ContainsAny(s, "\n") {
			continue
		}
		if mediaKinds[strings.ToLower(path.Ext(stripPlace(s)))] != "" || n.like("media_loader") && !in.linked() && name != "path" && !isNoFile(s) {
			out = append(out, stripPlace(s))
		}
	}
	return out
}

// stripPlace takes "[output]" and its kin off the end of a file name.
func stripPlace(s string) string {
	s = strings.TrimSpace(s)
	for _, place := range []string{"[output]", "[input]", "[temp]"} {
		if rest, ok := strings.CutSuffix(s, place); ok {
			return strings.TrimSpace(rest)
		}
	}
	return s
}

func parentName(file string) string {
	file = strings.ReplaceAll(file, `\`, "/")
	if i := strings.IndexByte(file, '?'); i > 0 && strings.Contains(file, "://") {
		file = file[:i]
	}
	return strings.TrimSpace(file[strings.LastIndexByte(file, '/')+1:])
}

func (r *parents) kind(n *node, kind string) string {
	switch {
	case kind == "video" || kind == "" && n.like("video"):
		return "input_video"
	case kind == "audio" || kind == "" && n.like("audio"):
		return "input_audio"
	case kind == "model":
		return "input_model"
	case kind == "latent":
		return "input_latent"
	case n.like("mask"):
		return "mask"
	}
	if r.onlyControls(n) {
		return "controlnet_image"
	}
	return "input_image"
}

// onlyControls reports whether a loaded picture goes to control nets alone.
func (r *parents) onlyControls(n *node) bool {
	seen := map[*node]bool{n: true}
	queue, hits := []*node{n}, 0
	for len(queue) > 0 {
		n := queue[0]
		queue = queue[1:]
		for _, to := range r.consumers()[n] {
			switch {
			case seen[to]:
			case to.like("controlnet") && to.has("control_net", "controlnet", "strength"):
				hits++
			case isOutputClass(to):
			case isLatentSource(to) || r.pictures.isSampler(to) || to.like("uses_picture"):
				return false
			default:
				queue = append(queue, to)
			}
			seen[to] = true
		}
	}
	return hits > 0
}

func (r *parents) consumers() map[*node][]*node {
	if r.usedBy == nil {
		r.usedBy = map[*node][]*node{}
		for _, n := range r.runs.sequence {
			for i := range n.inputs {
				if from := n.inputs[i].from.node; from != nil {
					r.usedBy[from] = append(r.usedBy[from], n)
				}
			}
		}
	}
	return r.usedBy
}
