package bench

import (
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vitrine/library"
)

func madeCorpus(t *testing.T, seed uint64, n int) (*corpus, []asset) {
	t.Helper()
	c := newCorpus(seed)
	list := make([]asset, n)
	for i := range list {
		var err error
		if list[i], err = c.next(); err != nil {
			t.Fatal(err)
		}
	}
	return c, list
}

func TestCorpus_TheSameSeedMakesTheSameAssets(t *testing.T) {
	a, first := madeCorpus(t, 7, 300)
	b, second := madeCorpus(t, 7, 300)
	for i := range first {
		if diff := cmp.Diff(first[i].Asset, second[i].Asset); diff != "" || string(first[i].doc) != string(second[i].doc) {
			t.Fatalf("asset %d differs: %s", i, diff)
		}
	}
	if diff := cmp.Diff(a.vectors, b.vectors); diff != "" {
		t.Fatal("the vectors differ")
	}
	if _, other := madeCorpus(t, 8, 1); other[0].Hash == first[0].Hash {
		t.Error("another seed makes the same assets")
	}
}

func TestCorpus_EveryWordIsAnother(t *testing.T) {
	seen := map[string]bool{}
	at := 0
	for kind, k := range wordKinds {
		for n := range k.words {
			w := word(kind, n)
			if seen[w] {
				t.Fatalf("%s is there twice", w)
			}
			seen[w] = true
			if gotKind, gotN, ok := readWord(w); !ok || gotKind != kind || gotN != at {
				t.Fatalf("word %d of kind %d is %s, which is read as %d of kind %d, %v", n, kind, w, gotN, gotKind, ok)
			}
			at++
		}
	}
	for _, w := range []string{"", "castle", "aaaaaa", "baba"} {
		if _, _, ok := readWord(w); ok {
			t.Errorf("%q is taken for a word of the corpus", w)
		}
	}
}

func TestCorpus_WordsAreAsFrequentAsInALanguage(t *testing.T) {
	z, r := newZipf(1000), newCorpus(1).r
	count := make([]int, 1000)
	for range 200_000 {
		count[z.draw(r)]++
	}
	for _, n := range []int{1, 4, 9} {
		if ratio := float64(count[0]) / float64(count[n]); math.Abs(ratio/float64(n+1)-1) > 0.1 {
			t.Errorf("the first word is %.1f times as frequent as word %d", ratio, n+1)
		}
	}
}

func TestCorpus_AlikeTextsAreNear(t *testing.T) {
	c := newCorpus(1)
	base := c.vectorOf(some("S1 A1 E1 M1"))
	alike, other := dot(base, c.vectorOf(some("S1 A1 E1 M2"))), dot(base, c.vectorOf(some("S2 A2 E2 M3")))
	if length := norm(base); math.Abs(float64(length)-1) > 1e-4 || alike < other+0.3 {
		t.Errorf("length %v, alike %v, other %v", length, alike, other)
	}
}

func TestCorpus_RecallCountsWhatIsAsNearAsTheLast(t *testing.T) {
	c := newCorpus(1)
	hash := func(i int) library.AssetHash { return library.AssetHash(fmt.Sprint("asset ", i)) }
	near := []float32{0.9, 0.8, 0.7, 0.6}
	for i, vector := range []int32{0, 1, 1, 2, 3} { // two assets have one text
		c.assets = append(c.assets, generated{vector: vector, shelf: uint8(i & 1)})
		c.byHash[hash(i)] = int32(i)
	}
	for _, tt := range []struct {
		hits    []int
		mask    uint8
		recall  float64
		matches int
	}{
		{[]int{0, 1}, 0, 1, 5}, {[]int{0, 2}, 0, 1, 5}, {[]int{0, 3}, 0, 0.5, 5}, {[]int{3, 4}, 0, 0, 5},
		{[]int{1, 3}, 1, 1, 2}, {[]int{0, 1}, 1, 0.5, 2}, {nil, 4, 1, 0},
	} {
		hits := make([]library.AssetHash, len(tt.hits))
		for i, n := range tt.hits {
			hits[i] = hash(n)
		}
		if recall, matches := c.share(hits, near, tt.mask, 2); recall != tt.recall || matches != tt.matches {
			t.Errorf("hits %v on shelf %d: recall %v of %d, want %v of %d", tt.hits, tt.mask, recall, matches, tt.recall, tt.matches)
		}
	}
}
