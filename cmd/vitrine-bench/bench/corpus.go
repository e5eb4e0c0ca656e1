package bench

import (
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"vitrine/embed"
	"vitrine/library"
)

// A corpus makes the assets of the search benchmark, one after the other and the
// same for the same seed. Each begins as a spec: a subject with attributes, in a
// style, a setting and a mood. Its prompt is made of the words of the spec, and
// so is its vector, with noise: near is what is alike, and what is nearest can be
// computed. Words are as frequent as in a language: the n-th of its kind 1/n as
// often as the first.
type corpus struct {
	r      *rand.Rand
	seed   uint64
	kinds  [kindCount]zipf
	recent []spec // of the last assets, for variants of them

	directions [][]float32 // of every word that has a meaning
	vectors    [][]float32 // of every distinct text
	byText     map[string]int32
	assets     []generated
	byHash     map[library.AssetHash]int32
}

// generated is what the benchmark must remember of an asset.
type generated struct {
	vector int32 // which of corpus.vectors
	shelf  uint8 // which shelves it stands on, a bit each
}

// The kinds of words.
const (
	kindSubject = iota
	kindAttribute
	kindStyle
	kindSetting
	kindMood
	kindDetail
	kindCount
)

// wordKinds is how many words each kind has, and how much a word of it means.
var wordKinds = [kindCount]struct {
	words  int
	weight float32
}{{1200, 2}, {800, 1}, {200, 0.8}, {400, 1}, {150, 0.5}, {8000, 0}}

// shelves are tags of random assets, one of every so many, to filter by.
var shelves = []struct {
	tag   string
	every int
}{{"tenth", 10}, {"hundredth", 100}, {"thousandth", 1000}}

// spec is what a picture is of.
type spec struct {
	words  [kindMood + 1]int // by kind, the rank of the word
	second int               // a second attribute
	detail []int
	prose  bool // the prompt is a sentence, not a list
}

func newCorpus(seed uint64) *corpus {
	c := &corpus{r: rand.New(rand.NewPCG(seed, 1)), seed: seed, byText: map[string]int32{}, byHash: map[library.AssetHash]int32{}}
	meaningful := 0
	for k, kind := range wordKinds {
		c.kinds[k] = newZipf(kind.words)
		if kind.weight > 0 {
			meaningful += kind.words
		}
	}
	c.directions = make([][]float32, meaningful)
	for i := range c.directions {
		c.directions[i] = gaussian(rand.New(rand.NewPCG(seed, uint64(i)+2)))
	}
	return c
}

// Words have three syllables, so none is a part of a name that has other words.
const (
	consonants = "bdfghklmnprstvz"
	vowels     = "aeiou"
	syllables  = len(consonants) * len(vowels)
	allWords   = syllables * syllables * syllables
	stride     = 104729 // prime to allWords: every number gives another word
)

// word returns the n-th most frequent word of a kind, from 0.
func word(kind, n int) string {
	for k := range kind {
		n += wordKinds[k].words
	}
	x := (n*stride + 4242) % allWords
	var b [6]byte
	for i := 0; i < len(b); i += 2 {
		s := x % syllables
		b[i], b[i+1] = consonants[s%len(consonants)], vowels[s/len(consonants)]
		x /= syllables
	}
	return string(b[:])
}

func (c *corpus) spec() spec {
	if len(c.recent) > 0 && c.r.IntN(10) < 3 { // the same prompt with another seed, as people do
		return c.recent[c.r.IntN(len(c.recent))]
	}
	s := spec{second: c.kinds[kindAttribute].draw(c.r), prose: c.r.IntN(2) == 0}
	for k := range s.words {
		s.words[k] = c.kinds[k].draw(c.r)
	}
	for range 4 + c.r.IntN(12) {
		s.detail = append(s.detail, c.kinds[kindDetail].draw(c.r))
	}
	c.recent = append(c.recent, s)
	if len(c.recent) > 64 {
		c.recent = slices.Delete(c.recent, 0, 1)
	}
	return s
}

func (s *spec) of(kind int) string { return word(kind, s.words[kind]) }

func (s *spec) prompt() string {
	details := make([]string, len(s.detail))
	for i, d := range s.detail {
		details[i] = word(kindDetail, d)
	}
	if s.prose {
		return fmt.Sprintf("a %s %s with %s %s in the %s, %s style, %s mood, %s", s.of(kindAttribute), s.of(kindSubject), word(kindAttribute, s.second),
			details[0], s.of(kindSetting), s.of(kindStyle), s.of(kindMood), strings.Join(details[1:], " "))
	}
	return strings.Join(append([]string{"best quality", s.of(kindSubject), s.of(kindAttribute), word(kindAttribute, s.second), s.of(kindSetting),
		s.of(kindStyle), "(" + s.of(kindMood) + ":1.2)"}, details...), ", ")
}

// asset is a generated asset as the database takes it.
type asset struct {
	library.Asset
	lineage *library.Lineage // nil for a file that says nothing
	doc     []byte           // its JSON
	text    string           // what is embedded
	fresh   bool             // no earlier asset has this text
}

// next makes one more asset.
func (c *corpus) next() (asset, error) {
	i := len(c.assets)
	s := c.spec()
	a := asset{Asset: c.file(i, &s)}
	prompt := ""
	if c.r.IntN(20) > 0 {
		prompt = s.prompt()
		a.lineage = c.lineageOf(prompt)
		var err error
		if a.doc, err = json.Marshal(a.lineage); err != nil {
			return a, err
		}
	}
	g := generated{}
	for bit, shelf := range shelves {
		if c.r.IntN(shelf.every) == 0 {
			g.shelf |= 1 << bit
			a.Tags = append(a.Tags, shelf.tag)
		}
	}
	a.text = embed.Text(a.Title, prompt, a.Description, a.Tags)
	var known bool
	if g.vector, known = c.byText[a.text]; !known {
		g.vector = int32(len(c.vectors))
		c.byText[a.text] = g.vector
		c.vectors = append(c.vectors, c.vectorOf(a.text))
	}
	a.fresh = !known
	c.byHash[a.Hash] = int32(i)
	c.assets = append(c.assets, g)
	return a, nil
}

var (
	mimeTypes = []string{"image/png", "image/jpeg", "image/webp", "video/mp4"}
	extension = map[string]string{"image/png": "png", "image/jpeg": "jpg", "image/webp": "webp", "video/mp4": "mp4"}
	edges     = []int{512, 768, 832, 1024, 1216, 1344, 1536, 2048}
	firstDay  = time.Date(2023, 1, 1, 0, 0, 0, 0, time.UTC)
)

const days = 3 * 365

// file makes what the file system and people say of an asset.
func (c *corpus) file(i int, s *spec) library.Asset {
	sha := sha1.Sum(fmt.Appendf(nil, "bench %d %d", c.seed, i))
	long := sha256.Sum256(sha[:])
	a := library.Asset{Hash: library.AssetHash(hex.EncodeToString(sha[:])), SHA256: hex.EncodeToString(long[:]), BLAKE3: hex.EncodeToString(long[:]),
		MIMEType: often(c.r, mimeTypes), Size: 200_000 + c.r.Int64N(4_000_000), Width: pick(c.r, edges), Height: pick(c.r, edges),
		Status: often(c.r, library.Statuses), CreatedAt: firstDay.Add(time.Duration(c.r.IntN(days*24*60)) * time.Minute), DocVersion: 1 + c.r.Int64N(9)}
	a.Filename = fmt.Sprintf("img_%08d.%s", i, extension[a.MIMEType])
	a.SourcePath = a.CreatedAt.Format("2006/01/") + a.Filename
	a.Title = capital(s.of(kindSubject)) + " " + s.of(kindSetting)
	if c.r.IntN(5) == 0 {
		a.Description = "The " + s.of(kindSubject) + " of the " + s.of(kindMood) + " series."
	}
	tags := map[string]bool{s.of(kindSubject): true, s.of(kindStyle): true}
	a.Tags = []string{s.of(kindSubject), s.of(kindStyle)}
	for range c.r.IntN(5) {
		if t := word(kindDetail, c.kinds[kindDetail].draw(c.r)); !tags[t] {
			tags[t] = true
			a.Tags = append(a.Tags, t)
		}
	}
	return a
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

func pick[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }

// often picks the first of a list most often, and each further one half as often.
func often[T any](r *rand.Rand, list []T) T {
	for _, v := range list[:len(list)-1] {
		if r.IntN(2) == 0 {
			return v
		}
	}
	return list[len(list)-1]
}

// zipf draws numbers from 0, the n-th of them 1/n as often as the first.
type zipf []float64

func newZipf(n int) zipf {
	sums, sum := make(zipf, n), 0.0
	for i := range sums {
		sum += 1 / float64(i+1)
		sums[i] = sum
	}
	return sums
}

func (z zipf) draw(r *rand.Rand) int {
	i, _ := slices.BinarySearch(z, r.Float64()*z[len(z)-1])
	return min(i, len(z)-1)
}
