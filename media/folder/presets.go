package folder

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// Preset is what is known of the folders of one program.
type Preset struct {
	Name string
	// folders and files that are of no use, by name; a folder with all below it.
	skipFolders, skipFiles []string
	// program are folders of the program itself. One is of no use where two others are beside it;
	// else it may as well be one that somebody made among results.
	program []string
	folders []string // names of folders that show that it is this program's
	files   *regexp.Regexp
}

// Presets lists every preset. The last one is that of folders of no known program.
var Presets = []Preset{
	{Name: "swarmui",
		skipFolders: []string{"model_previews", "dlbackend", "_temp"},
		program:     []string{"Models", "Data", "src", "dlbackend", "launchtools", "docs"},
		skipFiles:   []string{"*.swarmpreview.jpg", "*.swarmpreview.webp", "*.swarmpreview.png", "image_metadata.ldb", "image_metadata-log.ldb", "*.swarm.metadata"},
		files:       regexp.MustCompile(`(?i)(\.swarm\.json|\.swarmpreview\.(jpg|webp|png)|^image_metadata(-log)?\.ldb)$`)},
	{Name: "invokeai",
		skipFolders: []string{"thumbnails", "tensors", "conditioning"},
		program:     []string{"models", "databases", "nodes", "configs", "style_presets", "workflow_thumbnails"},
		folders:     []string{"thumbnails", "tensors", "conditioning", "databases"},
		files:       regexp.MustCompile(`(?i)^(invokeai\.yaml|invokeai\.db|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\.png)$`)},
	{Name: "a1111",
		program: []string{"models", "extensions", "extensions-builtin", "repositories", "venv", "cache", "tmp", "html", "javascript", "embeddings", "localizations", "test", "scripts"},
		folders: []string{"txt2img-images", "img2img-images", "txt2img-grids", "img2img-grids", "extras-images", "txt2img", "img2img"},
		files:   regexp.MustCompile(`(?i)^([0-9]{5}-[0-9]{5,20}(-.*)?\.(png|jpg|jpeg|webp)|webui(-user)?\.(bat|sh|py))$`)},
	{Name: "comfyui",
		skipFolders: []string{"custom_nodes", "clipspace", "python_embeded"},
		program:     []string{"temp", "models", "custom_nodes", "web", "venv", "blueprints", "user", "comfy", "app", "script_examples"},
		skipFiles:   []string{"*.latent", "*.safetensors"},
		folders:     []string{"custom_nodes", "clipspace"},
		files:       regexp.MustCompile(`(?i)^(ComfyUI_.*[0-9]{5}_\.(png|webp|jpg|mp4|webm|flac|latent)|.*_[0-9]{5}_\.(png|webp|latent)|AnimateDiff_[0-9]{5}(-audio)?\.(mp4|webm|gif|png|webp)|extra_model_paths\.yaml(\.example)?)$`)},
	{Name: "other"},
}

// everywhere are folders that are of no use whoever made them.
var everywhere = []string{"__MACOSX", "$RECYCLE.BIN", "System Volume Information", "@eaDir", "lost+found", "node_modules", "__pycache__"}

// ByName returns a preset, and whether there is one of this name.
func ByName(name string) (Preset, bool) {
	i := slices.IndexFunc(Presets, func(p Preset) bool { return p.Name == name })
	if i < 0 {
		return Preset{}, false
	}
	return Presets[i], true
}

// Names lists the names of all presets.
func Names() []string {
	var out []string
	for _, p := range Presets {
		out = append(out, p.Name)
	}
	return out
}

// Guess is a count of what speaks for each preset.
type Guess map[string]int

// Look counts what the names in a folder speak for.
func (g Guess) Look(folders, files []string) {
	for _, p := range Presets {
		for _, name := range folders {
			if slices.ContainsFunc(p.folders, func(known string) bool { return strings.EqualFold(known, name) }) {
				g[p.Name] += 5
			}
		}
		if p.files == nil {
			continue
		}
		for _, name := range files {
			if p.files.MatchString(name) {
				g[p.Name]++
			}
		}
	}
}

// Preset returns the preset that most speaks for; other when nothing speaks for any.
func (g Guess) Preset() Preset {
	best := Presets[len(Presets)-1]
	for _, p := range Presets {
		if g[p.Name] > g[best.Name] {
			best = p
		}
	}
	return best
}

// SkipFolder returns why a folder below the one that is imported is left out, or nothing.
// beside returns the names of the folders in the same folder, itself among them.
func (p Preset) SkipFolder(name string, beside func() []string) string {
	switch {
	case strings.HasPrefix(name, "."):
		return "a hidden folder"
	case slices.ContainsFunc(everywhere, func(known string) bool { return strings.EqualFold(known, name) }):
		return "a folder of the system"
	case slices.ContainsFunc(p.skipFolders, func(known string) bool { return strings.EqualFold(known, name) }):
		return "a folder of " + p.Name + " that holds no results"
	case slices.ContainsFunc(p.program, func(known string) bool { return strings.EqualFold(known, name) }) && p.ofProgram(beside()) > 2:
		return "a folder of the program " + p.Name
	}
	return ""
}

// ofProgram returns how many names of folders are those of the program's own.
func (p Preset) ofProgram(names []string) (n int) {
	for _, known := range p.program {
		if slices.ContainsFunc(names, func(name string) bool { return strings.EqualFold(known, name) }) {
			n++
		}
	}
	return n
}

// SkipFile returns why a file is left out whatever it is, or nothing.
func (p Preset) SkipFile(name string) string {
	lower := strings.ToLower(name)
	for _, pattern := range p.skipFiles {
		if ok, _ := path.Match(strings.ToLower(pattern), lower); ok {
			return "a file of " + p.Name + " that is no result"
		}
	}
	if strings.HasSuffix(lower, ".tmp") || strings.HasSuffix(lower, ".part") || strings.HasSuffix(lower, ".crdownload") {
		return "a file that is not finished"
	}
	return ""
}
