package relevance

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"vitrine/embed"
	"vitrine/library"
	"vitrine/mappings"
)

// asset is one generated picture: what it shows, and what is written about it.
type asset struct {
	scene       scene
	language    string
	hash        library.AssetHash
	title       string
	description string
	prompt      string
	filename    string
	tags        []string
	tool        string
	status      library.Status
	width       int
	created     time.Time
}

// Shares of the library, after what large libraries look like.
const (
	variantShare  = 0.30 // another seed of an earlier prompt
	easternShare  = 0.08 // Chinese or Japanese
	bareShare     = 0.05 // the file says nothing of its making
	titledShare   = 0.35
	describeShare = 0.20
	taggedShare   = 0.40
)

// drawAssets draws a library.
func drawAssets(r *rand.Rand, n int) []*asset {
	list := make([]*asset, 0, n)
	titles := map[string]bool{}
	for i := range n {
		a := &asset{hash: hashOf(i), tool: pick(r, "ComfyUI", "sd-webui", "InvokeAI", "Midjourney"), width: pick(r, 512, 768, 1024, 1536),
			status: pick(r, library.StatusDraft, library.StatusDraft, library.StatusApproved, library.StatusRejected), created: day(r)}
		a.filename = pick(r, fmt.Sprintf("ComfyUI_%05d_.png", i), fmt.Sprintf("%05d-%d.png", i, r.Uint32()), fmt.Sprintf("render %d final.png", i))
		list = append(list, a)
		if i > 0 && r.Float64() < variantShare {
			first := list[r.IntN(i)]
			a.scene, a.language, a.prompt = first.scene, first.language, first.prompt
			continue
		}
		a.scene, a.language = drawScene(r), english
		if r.Float64() < easternShare {
			a.language = pick(r, chinese, japanese)
		}
		if r.Float64() < bareShare {
			a.tags = ownTags(r, a.scene)
			continue
		}
		a.prompt = writePrompt(r, a.scene, a.language)
		if r.Float64() < titledShare {
			a.title = drawTitle(r, a.scene, titles)
		}
		if r.Float64() < describeShare {
			a.description = pick(r, "Made for the autumn series.", "Second try, better hands.", "Client asked for "+word(r, a.scene[0])+".", "Study of "+word(r, a.scene[len(a.scene)-1])+".")
		}
		if r.Float64() < taggedShare {
			a.tags = ownTags(r, a.scene)
		}
	}
	return list
}

// hashOf returns the hash of the n-th asset.
func hashOf(n int) library.AssetHash {
	sum := sha1.Sum([]byte(fmt.Sprint("asset ", n)))
	return library.AssetHash(hex.EncodeToString(sum[:]))
}

func day(r *rand.Rand) time.Time {
	return time.Date(2024, 1, 1, 12, 0, 0, 0, time.UTC).AddDate(0, 0, r.IntN(730))
}

// shelves are tags that say nothing of what a picture shows.
var shelves = []string{"portfolio", "favorite", "wip", "client_work"}

// ownTags are what people tag pictures with: some of what they show, and shelves.
func ownTags(r *rand.Rand, s scene) (tags []string) {
	for _, c := range some(r, s, 1+r.IntN(2)) {
		tags = append(tags, strings.ReplaceAll(c.usual(), " ", pick(r, "_", " ")))
	}
	if r.IntN(2) == 0 {
		tags = append(tags, pick(r, shelves...))
	}
	return tags
}

// drawTitle makes a title that no other asset has. Some hold characters that mean
// something to a query.
func drawTitle(r *rand.Rand, s scene, taken map[string]bool) string {
	for {
		name, noun := drawName(r), s[0].usual()
		title := pick(r, "The "+noun+" of "+name, name+" and the "+noun, name+": "+noun+" study", name+" & the "+noun+" (final)",
			"Why "+name+" left - part "+fmt.Sprint(2+r.IntN(7)), fmt.Sprintf("%s No. %d", noun, 10+r.IntN(900)), name+"'s "+noun)
		if key := strings.ToLower(title); !taken[key] {
			taken[key] = true
			return title
		}
	}
}

// drawName makes up a name.
func drawName(r *rand.Rand) string {
	name := ""
	for range 2 + r.IntN(2) {
		name += pick(r, "b", "d", "f", "k", "l", "m", "n", "r", "s", "t", "v", "z") + pick(r, "a", "e", "i", "o", "u")
	}
	return strings.ToUpper(name[:1]) + name[1:] + pick(r, "", "n", "r", "x")
}

// text is what an embedder sees of the asset.
func (a *asset) text() string { return embed.Text(a.title, a.prompt, a.description, a.tags) }

// document is the asset as the product's index holds it.
func (a *asset) document() mappings.Document {
	height := 1024
	d := mappings.Document{TenantID: tenant, AssetH: a.hash, DocVersion: 1, Title: a.title, Description: a.description, Filename: a.filename,
		Status: a.status, Tags: a.tags, TagCount: len(a.tags), MIMEType: "image/png", MediaType: mappings.MediaImage,
		Width: a.width, Height: height, Dimensions: fmt.Sprintf("%dx%d", a.width, height), Created: &a.created, Updated: &a.created, Stored: &a.created,
		AI: a.prompt != "", Prompt: a.prompt, HasPrompt: a.prompt != "", Visibility: "team"}
	if a.prompt != "" {
		d.Tool = a.tool
	}
	for _, t := range a.tags {
		d.TagsNorm = append(d.TagsNorm, mappings.NormTag(t))
	}
	return d
}

// tenant owns the judged set.
const tenant = library.TenantID("7e1e7a9c-0000-4000-8000-000000000001")
