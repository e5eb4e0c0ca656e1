package indexer

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"vitrine/library"
	"vitrine/mappings"
	"vitrine/media/gltf"
	"vitrine/media/palette"
	"vitrine/store/indexstate"
)

// Build makes the document of an asset from its rows. Of an asset that is in the
// trash or gone it is a tombstone. Lineage that cannot be read as JSON is left
// out and named in IndexError; the asset stays findable by everything else.
func Build(row *indexstate.DocumentRow) mappings.Document {
	if row.State != indexstate.DocumentLive {
		return mappings.Document{TenantID: row.AssetKey.Tenant, AssetH: row.AssetKey.Hash, DocVersion: row.Version, Deleted: true}
	}
	d := row.Document
	d.TenantID, d.AssetH, d.DocVersion = row.AssetKey.Tenant, row.AssetKey.Hash, row.Version
	buildAsset(&d, &row.Asset)
	d.Original = mappings.OriginalValue(string(row.Original))
	buildCollections(&d, row.Collections)
	buildPrompts(&d, row.Prompts)
	buildAnnotations(&d, row.Annotations)
	buildChain(&d, row)
	d.LineageSource, d.AssertedPrompt = lineageSource(row), library.AssertedPrompt(row.Assertion)
	d.Color = palette.NameOf(row.Color)
	buildModel3D(&d, row.Model)
	l, err := readLineage(row.Lineage)
	if err != nil {
		d.IndexError = "the stored lineage is not readable"
		l = lineage{}
	}
	buildLineage(&d, &l)
	buildSettings(&d, &l.Lineage)
	buildWorkflow(&d, &l)
	buildModels(&d, row.Models, l.Workflow != nil)
	return d
}

// buildAsset fills in what people and the file system say.
func buildAsset(d *mappings.Document, a *library.Asset) {
	d.Owner, d.Visibility = a.Owner, string(a.Visibility)
	d.SHA256, d.BLAKE3 = a.SHA256, a.BLAKE3
	d.Title, d.Description, d.Filename, d.SourcePath = a.Title, a.Description, a.Filename, a.SourcePath
	d.Status, d.Rating, d.Favorite = a.Status, a.Rating, a.Favorite
	d.Tags, d.TagCount = a.Tags, len(a.Tags)
	var norm set
	for _, t := range a.Tags {
		norm.add(mappings.NormTag(t))
	}
	d.TagsNorm = norm.list
	d.MIMEType, d.MediaType = a.MIMEType, mappings.MediaType(a.MIMEType)
	d.SizeBytes, d.DurationMS = a.Size, a.DurationMS
	d.Width, d.Height = a.Width, a.Height
	if a.Width > 0 && a.Height > 0 {
		d.Dimensions = fmt.Sprintf("%dx%d", a.Width, a.Height)
		d.Aspect = round(float64(a.Width)/float64(a.Height), 4)
		d.Megapixels = round(float64(a.Width)*float64(a.Height)/1e6, 4)
	}
	m := mappings.NewMetadata(a.Metadata)
	d.Metadata, d.MetadataKeys, d.MetadataValues, d.MetadataRanks = m.Pairs, m.Keys, m.Values, m.Ranks
	d.Created, d.Updated, d.Stored = instant(a.CreatedAt), instant(a.UpdatedAt), instant(a.StoredAt)
}

// buildModel3D fills in what the file of a 3D model says of it; m is nil where that is not known.
func buildModel3D(d *mappings.Document, m *gltf.Facts) {
	if m == nil {
		return
	}
	d.Triangles, d.Vertices, d.Materials, d.Textures, d.Animations = m.Triangles, m.Vertices, m.Materials, m.Textures, m.Animations
	if len(m.Size) > 0 && slices.Max(m.Size) > 0 {
		d.Extent = round(slices.Max(m.Size), 4)
	}
}

// buildCollections fills in the collections that the asset is in, with all above them.
func buildCollections(d *mappings.Document, list []indexstate.DocumentCollection) {
	for _, c := range list {
		d.CollectionPaths, d.CollectionH = append(d.CollectionPaths, c.Path), append(d.CollectionH, c.Hash)
		if c.Rank != "" {
			d.CollectionDirect = append(d.CollectionDirect, c.Path, c.Hash)
			d.CollectionRanks = append(d.CollectionRanks, mappings.CollectionRank(c.Path, c.Rank), mappings.CollectionRank(c.Hash, c.Rank))
		}
		if c.Experiment {
			d.ExperimentPaths, d.ExperimentH = append(d.ExperimentPaths, c.Path), append(d.ExperimentH, c.Hash)
		}
	}
}

// buildPrompts fills in the versions of prompts that the asset's prompt is a render of.
func buildPrompts(d *mappings.Document, list []indexstate.DocumentPrompt) {
	var prompts set
	for _, p := range list {
		prompts.add(string(p.Prompt))
		d.PromptVersionH = append(d.PromptVersionH, string(p.Version))
	}
	d.PromptH = prompts.list
}

// buildAnnotations fills in what people noted on the asset: apart from the others, what
// only its author sees.
func buildAnnotations(d *mappings.Document, list []indexstate.DocumentAnnotation) {
	var shared, private, authors set
	for _, a := range list {
		if a.PrivateTo == "" {
			shared.add(a.Content)
			continue
		}
		private.add(mappings.PrivateAnnotation(a.PrivateTo, a.Content))
		authors.add(a.PrivateTo)
	}
	d.Annotations, d.PrivateAnnotations, d.AnnotationAuthors = shared.list, private.list, authors.list
}

// buildChain fills in the asset's place among the assets it comes from and those
// made from it.
func buildChain(d *mappings.Document, row *indexstate.DocumentRow) {
	var parents, names set
	parents.add(string(row.Asset.Parent))
	for _, p := range row.Parents {
		parents.add(string(p.Asset))
		names.add(p.Name)
	}
	for _, h := range parents.list {
		d.ParentHs = append(d.ParentHs, library.AssetHash(h))
	}
	d.ParentNames = names.list
	d.ChildCount = row.Children
	d.HasParent, d.HasChild = len(d.ParentHs) > 0, row.Children > 0
	d.Chain = d.HasParent || d.HasChild
	if d.Chain {
		d.LineageRoot = row.Root
	}
}

// lineageSource is the stored source, or the uploader's claim where the file
// itself says nothing.
func lineageSource(row *indexstate.DocumentRow) library.LineageSource {
	switch {
	case row.LineageSource == library.LineageExtracted:
		return library.LineageExtracted
	case row.Assertion != nil:
		return library.LineageAsserted
	}
	return library.LineageUnknown
}

// buildLineage fills in what the file says about its making, save its settings,
// its graph and its models.
func buildLineage(d *mappings.Document, l *lineage) {
	d.ToolVersion = l.ToolVersion
	if d.Tool == "" {
		d.Tool = l.Tool
	}
	d.Tool = library.CanonicalTool(d.Tool)
	d.Prompt, d.NegativePrompt = prompts(&l.Lineage)
	d.HasPrompt, d.HasNegativePrompt = d.Prompt != "", d.NegativePrompt != ""
	d.PromptHash = promptHash(text(l.Positive))
	d.HasLineage = l.generated() || l.ImageTool != nil || l.C2PA != nil
	d.AI = l.generated() || l.ImageTool != nil || (l.C2PA != nil && strings.Contains(l.C2PA.SourceType, "rainedAlgorithmicMedia"))
	if t := l.ImageTool; t != nil {
		d.JobType, d.Creator = t.JobType, t.Author
		d.ImageToolCommand, d.ImageToolVersion, d.ImageToolType = t.Command, t.Version, t.JobType
		d.ImageToolBatch = t.Index
	}
	if d.Creator == "" {
		d.Creator = l.Extra["author"]
	}
	d.Copyright = l.Extra["copyright"]
}

// prompts joins the prompts of the primary pass with those of its regions: a
// person looks for a word of any of them.
func prompts(l *library.Lineage) (positive, negative string) {
	var pos, neg set
	pos.add(text(l.Positive))
	neg.add(text(l.Negative))
	for _, r := range l.Regions {
		pos.add(text(r.Positive))
		neg.add(text(r.Negative))
	}
	return strings.Join(pos.list, "\n"), strings.Join(neg.list, "\n")
}

// promptHash gives prompts that differ only in case and white space the same
// hash; empty for no prompt.
func promptHash(prompt string) string {
	words := strings.Fields(strings.ToLower(prompt))
	if len(words) == 0 {
		return ""
	}
	sum := sha256.Sum256([]byte(strings.Join(words, " ")))
	return hex.EncodeToString(sum[:16])
}

// instant is a time the index can hold. Its date fields end with the year 9999,
// and a file may claim any.
func instant(t time.Time) *time.Time {
	t = t.UTC().Truncate(time.Millisecond)
	if t.IsZero() || t.Year() < 1 || t.Year() > 9999 {
		return nil
	}
	return &t
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// round returns a number to some decimals, or nil for what JSON cannot hold.
func round(f float64, decimals int) *float64 {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil
	}
	scale := math.Pow10(decimals)
	f = math.Round(f*scale) / scale
	return &f
}

// set collects distinct, non-empty strings in order of first use.
type set struct {
	list []string
	seen map[string]struct{}
}

// smallSet is how many values are compared one by one before a map pays.
const smallSet = 16

func (s *set) add(v string) {
	if !s.has(v) {
		s.addNew(v)
	}
}

// addNew adds a value that the caller knows is not there.
func (s *set) addNew(v string) {
	if v == "" {
		return
	}
	s.list = append(s.list, v)
	if s.seen != nil {
		s.seen[v] = struct{}{}
	}
}

func (s *set) has(v string) bool {
	if s.seen == nil && len(s.list) > smallSet {
		s.seen = make(map[string]struct{}, 2*len(s.list))
		for _, have := range s.list {
			s.seen[have] = struct{}{}
		}
	}
	if s.seen != nil {
		_, ok := s.seen[v]
		return ok
	}
	for _, have := range s.list {
		if have == v {
			return true
		}
	}
	return false
}
