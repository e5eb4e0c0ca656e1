package naive

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"time"

	"vitrine/library"
	"vitrine/mappings"
)

// Documents makes n documents out of few words and values, so that random
// queries find some but not all of them. The same seed makes the same documents.
// Some are another tenant's, private, in the trash or tombstones.
func Documents(tenant, other library.TenantID, n int, seed uint64) []mappings.Document {
	g := generator{rand.New(rand.NewPCG(seed, 1))}
	docs := make([]mappings.Document, n)
	for i := range docs {
		sum := sha1.Sum(fmt.Appendf(nil, "%d/%d", seed, i))
		docs[i] = g.document(tenant, library.AssetHash(hex.EncodeToString(sum[:])))
		docs[i].DocVersion = int64(i + 1)
		switch g.IntN(20) {
		case 0:
			docs[i].TenantID = other
		case 1:
			docs[i].Trashed = true
		case 2:
			docs[i].Visibility, docs[i].Owner = "private", g.one("ann", "bob")
		case 3:
			docs[i] = mappings.Document{TenantID: tenant, AssetH: docs[i].AssetH, DocVersion: docs[i].DocVersion, Deleted: true}
		}
	}
	g.fillRest(docs)
	return docs
}

// fillRest fills the members that no document has by chance, so that a field that is
// new in the table is asked for without a word here. Members that others speak for stay
// as they are.
func (g generator) fillRest(docs []mappings.Document) {
	typ := reflect.TypeFor[mappings.Document]()
	for i := range typ.NumField() {
		spokenFor := strings.Contains(" IndexError CollectionH LineageRoot ParentHs Vectors ", " "+typ.Field(i).Name+" ")
		if spokenFor || slices.ContainsFunc(docs, func(d mappings.Document) bool { return !reflect.ValueOf(d).Field(i).IsZero() }) {
			continue
		}
		for j := range docs {
			if !docs[j].Deleted && g.IntN(3) > 0 {
				g.fill(reflect.ValueOf(&docs[j]).Elem().Field(i))
			}
		}
	}
}

func (g generator) fill(v reflect.Value) {
	names := []string{"kai", "Mira_Ö", "zeta 9", "zeta-10.5"}
	switch p := v.Addr().Interface().(type) {
	case *bool:
		*p = true
	case *[]string:
		*p = g.some(3, names...)
	case *[]float64:
		*p = []float64{float64(g.IntN(4)), 7.5}
	case **time.Time:
		at := time.Date(2024, 1, 1+g.IntN(90), 12, 0, 0, 0, time.UTC)
		*p = &at
	default:
		g.fillPlain(v, names)
	}
}

func (g generator) fillPlain(v reflect.Value, names []string) {
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		g.fill(v.Elem())
	case reflect.String:
		v.SetString(g.one(names...))
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(g.IntN(5)))
	case reflect.Uint64:
		v.SetUint(uint64(g.IntN(5)))
	case reflect.Float64:
		v.SetFloat(float64(g.IntN(8)) / 4)
	default:
		panic("naive: a document has a member of a type that nothing fills: " + v.Type().String())
	}
}

type generator struct{ *rand.Rand }

func (g generator) one(from ...string) string { return from[g.IntN(len(from))] }

func (g generator) maybe(s string) string {
	if g.IntN(3) == 0 {
		return ""
	}
	return s
}

func (g generator) some(most int, from ...string) []string {
	var out []string
	for _, i := range g.Perm(len(from))[:g.IntN(most+1)] {
		out = append(out, from[i])
	}
	return out
}

func (g generator) words(most int) string {
	vocabulary := []string{"red", "cat", "dog", "blue", "neon", "street", "best_quality", "best quality", "sub pixel", "sub-pixel", "Café", "soft", "street_cat", "v1.5", "猫娘の夜", "猫", "夜 空", "(cat:1.2)", "<lora:tweak:0.8>", "red cat"}
	var out []string
	for range g.IntN(most + 1) {
		out = append(out, vocabulary[g.IntN(len(vocabulary))])
	}
	return strings.Join(out, " ")
}

func (g generator) document(tenant library.TenantID, h library.AssetHash) mappings.Document {
	d := mappings.Document{
		TenantID: tenant, AssetH: h, Visibility: "team", Owner: "bob",
		Title: g.maybe(g.words(4)), Description: g.maybe(g.words(6)), Prompt: g.maybe(g.words(8)), NegativePrompt: g.maybe(g.one("blurry cat", "red", "bad hands")),
		Filename: g.one("ComfyUI_00_[1].png", "cat.png", "red_cat.jpg", "100%.webp", "dream.MP4", "Café.png", "neon street.png"),
		Status:   library.Statuses[g.IntN(len(library.Statuses))],
		Tags:     g.some(3, "cat", "dog", "Red_Hair", "red dress", "neon", "Élan", "best_quality"),
		Creator:  g.maybe(g.one("Ann", "Bob")), MIMEType: g.one("image/png", "image/jpeg", "video/mp4", "model/gltf-binary"),
		Tool: g.maybe(g.one("comfyui", "sd-webui", "invokeai")), ToolVersion: g.maybe(g.one("v1.10.1", "v1.9", "2.0")),
		Sampler: g.maybe(g.one("euler", "dpmpp_2m", "DPM++ SDE")), AI: g.IntN(2) == 0, Duplicate: g.IntN(5) == 0, HasWorkflow: g.IntN(3) == 0,
	}
	for _, t := range d.Tags {
		d.TagsNorm = append(d.TagsNorm, mappings.NormTag(t))
	}
	d.TagCount, d.MediaType, d.HasPrompt, d.HasNegativePrompt = len(d.Tags), mappings.MediaType(d.MIMEType), d.Prompt != "", d.NegativePrompt != ""
	g.numbers(&d)
	g.models(&d)
	g.relations(&d)
	g.metadata(&d)
	return d
}

func (g generator) numbers(d *mappings.Document) {
	if g.IntN(5) > 0 {
		sides := []int{512, 768, 1024}
		d.Width, d.Height = sides[g.IntN(3)], sides[g.IntN(3)]
		d.Dimensions = fmt.Sprintf("%dx%d", d.Width, d.Height)
		a := float64(d.Width) / float64(d.Height)
		d.Aspect = &a
	}
	at := time.Date(2023, 11, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(g.IntN(180*24*60)) * time.Minute)
	if g.IntN(10) > 0 {
		d.Created = &at
	}
	d.Updated, d.Stored = &at, &at
	if g.IntN(3) > 0 {
		steps, cfg, seed := []int{10, 20, 25, 30, 40}[g.IntN(5)], []float64{1, 5.5, 7, 7.5, 12}[g.IntN(5)], []uint64{0, 1, 2, 3, 1<<64 - 1}[g.IntN(5)]
		d.Steps, d.CFG, d.Seed = &steps, &cfg, &seed
		d.Params = []string{fmt.Sprintf("steps=%d", steps), fmt.Sprint(steps), "clip_skip=2", "2", "sampler=euler", "euler"}
	}
}

func (g generator) models(d *mappings.Document) {
	d.CheckpointNames = g.some(1, "v1-5-pruned", "DreamShaper_8", "xl_base")
	d.LoraNames = g.some(2, "detail tweaker", "what?shaper", "XL_style")
	d.ModelNames = append(append([]string(nil), d.CheckpointNames...), d.LoraNames...)
	if len(d.CheckpointNames) > 0 {
		d.ModelTypes, d.BaseModels = []string{"checkpoint"}, []string{g.one("sdxl", "sd15", "Wan Video")}
	}
	if len(d.LoraNames) > 0 {
		d.ModelTypes = append(d.ModelTypes, "lora")
		d.ModelWeights = []float64{0.25, 0.5, 0.8, 1}[g.IntN(3):]
	}
	if d.HasWorkflow {
		d.GTNodes = []string{"KSampler", g.one("CLIPTextEncode", "LoraLoader")}
		d.GTNodeProps = []string{mappings.NodeProp("KSampler", "cfg", g.one("7", "7.0", "8")), mappings.NodeProp("KSampler", "seed", "7")}
		d.GTModelHashes = []string{g.one("abc123", "ABCdef", "fff")}
	}
}

func (g generator) metadata(d *mappings.Document) {
	values := map[string]any{}
	for _, key := range g.some(4, "Client", "shot.lens", "顧客", "due date", "rating", "shot") {
		values[key] = []any{"Acme Corp", "acme", 50.0, "7.0", -3, "2024-02-10", "2024-03-01", true, "山田", []any{"a", 12, "x=y"}, map[string]any{"by": "Ann", "take": 9}}[g.IntN(11)]
	}
	m := mappings.NewMetadata(values)
	d.Metadata, d.MetadataKeys, d.MetadataValues, d.MetadataRanks = m.Pairs, m.Keys, m.Values, m.Ranks
}

func (g generator) relations(d *mappings.Document) {
	d.CollectionPaths = [][]string{nil, {"launch"}, {"launch", "launch.hero"}, {"archive"}}[g.IntN(4)]
	if n := len(d.CollectionPaths); n > 0 {
		d.CollectionDirect = d.CollectionPaths[n-1:]
	}
	if g.IntN(3) == 0 {
		d.ExperimentPaths, d.ExperimentH = d.CollectionDirect, d.CollectionH
	}
	if g.IntN(4) == 0 {
		d.Chain, d.HasParent, d.ParentNames = true, true, []string{g.one("fennec_girl.png", "flux_dev.png")}
	}
}
