package sample

import (
	"fmt"
	"path"
	"strings"
	"unicode"

	"vitrine/internal/sample/draw"
	"vitrine/internal/sample/scene"
	"vitrine/internal/sample/writer"
)

// namer gives files the names and folders their tools give. Counters run per
// folder where the tool counts per folder; the graph tool's counter runs on,
// so that a parent named without its folder is still one file.
type namer struct {
	counters map[string]int
	taken    map[string]bool
}

func name(entries []*entry) {
	n := &namer{counters: map[string]int{}, taken: map[string]bool{}}
	for _, e := range entries {
		e.path = n.unique(n.path(e))
		if e.row.needsSource && e.row.form != nil {
			e.job.Parent = parentName(e)
		}
	}
}

func (n *namer) next(key string) int {
	n.counters[key]++
	return n.counters[key]
}

// unique appends a number as a file manager would, should two names meet.
func (n *namer) unique(p string) string {
	ext := path.Ext(p)
	stem := strings.TrimSuffix(p, ext)
	if stem == "" || strings.HasSuffix(stem, "/") {
		stem, ext = p, ""
	}
	for i := 2; n.taken[strings.ToLower(p)]; i++ {
		p = fmt.Sprintf("%s (%d)%s", stem, i, ext)
	}
	n.taken[strings.ToLower(p)] = true
	return p
}

func (n *namer) path(e *entry) string {
	day, clock := e.when.Format("2006-01-02"), e.when.Format("15-04-05")
	switch toolOf(e.row) {
	case "comfyui":
		return fmt.Sprintf("ComfyUI/output/%s/ComfyUI_%05d_.png", day, n.next("comfyui"))
	case "sd-webui", "forge":
		root := map[string]string{"sd-webui": "stable-diffusion-webui/outputs", "forge": "forge/output"}[toolOf(e.row)]
		folder := root + "/txt2img-images/" + day
		return fmt.Sprintf("%s/%05d-%d%s", folder, n.next(folder)-1, e.job.Seed, e.row.form.Ext)
	case "invokeai":
		return "invokeai/outputs/images/" + writer.UUID(draw.NewRand(draw.Mix(e.jobSeed, 9))) + ".png"
	case "swarmui":
		return fmt.Sprintf("SwarmUI/Output/local/raw/%s/%s-%s-%s-%d%s", day, e.when.Format("1504"), slug(e.job.Prompt, 32), e.job.Checkpoint, e.job.Seed, e.row.form.Ext)
	case "novelai":
		return fmt.Sprintf("NovelAI/%s s-%d.png", plainWords(e.job.Prompt, 60), e.job.Seed)
	case "fooocus":
		return fmt.Sprintf("Fooocus/outputs/%s/%s_%s_%04d.png", day, day, clock, 1000+int(e.jobSeed%9000))
	case "midjourney":
		return fmt.Sprintf("image-tool/%s_%s_%s_%d.png", writer.Author, slug(e.job.Prompt, 48), writer.UUID(e.rand()), e.index%4)
	}
	return n.otherPath(e, day, clock)
}

// otherPath names what no tool named.
func (n *namer) otherPath(e *entry, day, clock string) string {
	switch e.row.name {
	case "bare-png":
		return "Bearbeitet/" + title(e.spec, n.next("bare"))
	case "chat-jpeg":
		return "Downloads/photo_" + day + "_" + clock + ".jpg"
	case oddDuplicate:
		base := path.Base(e.source.path)
		return "Backup/" + strings.TrimSuffix(base, path.Ext(base)) + " (copy)" + path.Ext(base)
	case oddTruncated:
		return "Downloads/interrupted " + path.Base(e.source.path)
	case oddNotes:
		return "Notes/notes.txt"
	case oddEmpty:
		return "Downloads/untitled.png"
	case oddMislabelled:
		return "Downloads/wallpaper.png"
	default:
		return "ComfyUI/output/.cache_index"
	}
}

// title is a name a person would type: spaces, accents, other scripts, emoji.
func title(s *scene.Spec, n int) string {
	switch n % 5 {
	case 1:
		return s.Subject.Tag + " final (" + fmt.Sprint(n) + ").png"
	case 2:
		return s.Subject.JA + " 完成版 " + fmt.Sprint(n) + ".png"
	case 3:
		return "Übersicht – " + s.Subject.Tag + " №" + fmt.Sprint(n) + ".png"
	case 4:
		return s.Kind.Emoji + " " + s.Palette.Tag + " " + fmt.Sprint(n) + ".png"
	default:
		return s.Subject.ZH + "_" + fmt.Sprint(n) + ".png"
	}
}

// parentName is how the file of e names its source.
func parentName(e *entry) string {
	base := path.Base(e.source.path)
	switch toolOf(e.row) {
	case "comfyui":
		if toolOf(e.source.row) == "comfyui" && e.jobSeed%2 == 0 {
			return path.Base(path.Dir(e.source.path)) + "/" + base + " [output]"
		}
		return base
	case "midjourney":
		return writer.PictureAddress(writer.UUID(e.source.rand()), e.source.index%4)
	default:
		return base
	}
}

// slug joins the first words of a prompt by underscores, limit bytes at most.
func slug(s string, limit int) string {
	return strings.ReplaceAll(plainWords(s, limit), " ", "_")
}

// plainWords keeps letters, digits and single spaces.
func plainWords(s string, limit int) string {
	var b strings.Builder
	space := false
	for _, r := range s {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			space = b.Len() > 0
			continue
		}
		if b.Len()+4 > limit {
			break
		}
		if space {
			b.WriteByte(' ')
			space = false
		}
		b.WriteRune(r)
	}
	if b.Len() == 0 {
		return "untitled"
	}
	return b.String()
}
