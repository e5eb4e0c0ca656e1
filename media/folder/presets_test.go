package folder_test

import (
	"path"
	"slices"
	"strings"
	"testing"

	"vitrine/media/folder"
)

// tree is the folders and files of a program, as paths; a folder ends in a slash.
type tree []string

// in returns the names of the folders and files that lie in a folder.
func (t tree) in(dir string) (folders, files []string) {
	for _, p := range t {
		rest := p
		if dir != "." {
			var below bool
			if rest, below = strings.CutPrefix(p, dir+"/"); !below {
				continue
			}
		}
		name, _, deeper := strings.Cut(rest, "/")
		switch {
		case name == "":
		case !deeper:
			files = append(files, name)
		case !slices.Contains(folders, name):
			folders = append(folders, name)
		}
	}
	return folders, files
}

// imported returns what a preset leaves of a tree.
func (t tree) imported(p folder.Preset) (kept []string) {
	var look func(dir string)
	look = func(dir string) {
		folders, files := t.in(dir)
		for _, f := range files {
			if p.SkipFile(f) == "" {
				kept = append(kept, path.Join(dir, f))
			}
		}
		for _, f := range folders {
			if p.SkipFolder(f, func() []string { return folders }) == "" {
				look(path.Join(dir, f))
			}
		}
	}
	look(".")
	slices.Sort(kept)
	return kept
}

// guess returns the preset that the tree speaks for.
func (t tree) guess(depth int) folder.Preset {
	g := folder.Guess{}
	var look func(dir string, depth int)
	look = func(dir string, depth int) {
		folders, files := t.in(dir)
		g.Look(folders, files)
		for _, f := range folders {
			if depth > 0 {
				look(path.Join(dir, f), depth-1)
			}
		}
	}
	look(".", depth)
	return g.Preset()
}

// TestPresets_KeepResultsAndLeaveTheProgramOut looks at folders as the programs lay them out: whole
// installations, and their folders of results, in which people make folders of any name.
func TestPresets_KeepResultsAndLeaveTheProgramOut(t *testing.T) {
	t.Parallel()
	const uuid = "1f0c5a52-9d0e-4a53-8f4e-0d3f4c1b2a39.png"
	for _, c := range []struct {
		name, preset string
		files        tree
		kept         []string
	}{
		{"an installation of ComfyUI", "comfyui",
			tree{"main.py", "models/checkpoints/put_here.png", "custom_nodes/pack/docs/example.png", "web/logo.png", "user/default/workflows/a.json", "comfy/x.png",
				"temp/ComfyUI_temp_abcde_00001_.png", "input/photo.png", "output/ComfyUI_00001_.png", "output/video/wan_00001_.mp4", "output/video/wan_00001_.png", "extra_model_paths.yaml.example"},
			[]string{"extra_model_paths.yaml.example", "input/photo.png", "main.py", "output/ComfyUI_00001_.png", "output/video/wan_00001_.mp4", "output/video/wan_00001_.png"}},
		{"ComfyUI's results, with folders of people's own", "comfyui",
			tree{"ComfyUI_00001_.png", "ComfyUI_00002_.png", "models/portrait_00001_.png", "client/web/hero_00001_.png", "user/me_00001_.png.part", "test/test_00001_.png", "latents/ComfyUI_00001_.latent", "clipspace/mask.png"},
			[]string{"ComfyUI_00001_.png", "ComfyUI_00002_.png", "client/web/hero_00001_.png", "models/portrait_00001_.png", "test/test_00001_.png"}},
		{"an installation of A1111", "a1111",
			tree{"webui-user.bat", "webui.py", "models/Lora/preview.png", "extensions/a/b.png", "html/card.png", "test/test_files/img.png",
				"outputs/txt2img-images/2024-05-01/00001-1234567890.png", "outputs/txt2img-images/2024-05-01/00001-1234567890.txt", "outputs/txt2img-grids/grid-0001.png", "log/images/00007-42.png"},
			[]string{"log/images/00007-42.png", "outputs/txt2img-grids/grid-0001.png", "outputs/txt2img-images/2024-05-01/00001-1234567890.png", "outputs/txt2img-images/2024-05-01/00001-1234567890.txt", "webui-user.bat", "webui.py"}},
		{"A1111's results, with a folder of tests", "a1111",
			tree{"txt2img-images/2024-05-01/00001-1234567890.png", "txt2img-images/test/00002-99999.png", "extras-images/00003.png"},
			[]string{"extras-images/00003.png", "txt2img-images/2024-05-01/00001-1234567890.png", "txt2img-images/test/00002-99999.png"}},
		{"an installation of InvokeAI", "invokeai",
			tree{"invokeai.yaml", "databases/invokeai.db", "models/core/x.png", "configs/a.json", "nodes/readme.png", "outputs/images/" + uuid, "outputs/images/thumbnails/" + strings.TrimSuffix(uuid, ".png") + ".webp", "outputs/tensors/a", "outputs/conditioning/b"},
			[]string{"invokeai.yaml", "outputs/images/" + uuid}},
		{"SwarmUI's results", "swarmui",
			tree{"local/raw/2024-06-01/0615001-a cat.png", "local/raw/2024-06-01/0615002-a clip.mp4", "local/raw/2024-06-01/0615002-a clip.swarm.json", "local/raw/2024-06-01/0615002-a clip.swarmpreview.jpg", "local/raw/2024-06-01/image_metadata.ldb"},
			[]string{"local/raw/2024-06-01/0615001-a cat.png", "local/raw/2024-06-01/0615002-a clip.mp4", "local/raw/2024-06-01/0615002-a clip.swarm.json"}},
		{"a folder of nobody's", "other", tree{"holiday/a.jpg", "models/b.jpg", "user/web/c.jpg", ".cache/d.jpg", "@eaDir/e.jpg"}, []string{"holiday/a.jpg", "models/b.jpg", "user/web/c.jpg"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := c.files.guess(3)
			if p.Name != c.preset {
				t.Errorf("it is taken for one of %s, want %s", p.Name, c.preset)
			}
			if kept := c.files.imported(p); !slices.Equal(kept, c.kept) {
				t.Errorf("kept:\n%s\nwant:\n%s", strings.Join(kept, "\n"), strings.Join(c.kept, "\n"))
			}
		})
	}
}

// TestListing_PairsWhatBelongsTogether: a video, its first frame and the texts beside either.
func TestListing_PairsWhatBelongsTogether(t *testing.T) {
	t.Parallel()
	l := folder.NewListing([]string{"a_00001.png", "a_00001.mp4", "a_00001-audio.mp4", "b.PNG", "b.txt", "b.json", "c.jpg", "c.jpg.json", "clip.mp4", "clip.swarm.json", "lonely.txt", "song.flac", "song.yaml"})
	for name, want := range map[string][]string{"a_00001.mp4": {"a_00001.png"}, "a_00001-audio.mp4": {"a_00001.png"}, "clip.mp4": {"clip.swarm.json"}} {
		if got := l.SidecarsOf(name, true); !slices.Equal(got, want) {
			t.Errorf("beside %s are %v, want %v", name, got, want)
		}
	}
	for name, want := range map[string][]string{"b.PNG": {"b.json", "b.txt"}, "c.jpg": {"c.jpg.json"}, "a_00001.png": nil, "song.flac": {"song.yaml"}} {
		if got := l.SidecarsOf(name, false); !slices.Equal(got, want) {
			t.Errorf("beside %s are %v, want %v", name, got, want)
		}
	}
	for name, want := range map[string]string{"b.txt": "b.PNG", "c.jpg.json": "c.jpg", "clip.swarm.json": "clip.mp4", "lonely.txt": "", "song.yaml": "song.flac"} {
		if got := l.MediaOf(name); got != want {
			t.Errorf("%s goes with %q, want %q", name, got, want)
		}
	}
	if got := l.VideoOf("a_00001.png"); got != "a_00001.mp4" {
		t.Errorf("a_00001.png may be the first frame of %q", got)
	}
	if got := l.VideoOf("b.PNG"); got != "" {
		t.Errorf("b.PNG may be the first frame of %q", got)
	}
}
