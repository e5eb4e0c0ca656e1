package embed

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vitrine/internal/testenv"
	"vitrine/library"
)

func openModel(t testing.TB, dir string) *builtin {
	t.Helper()
	e, err := Open(Config{Driver: Builtin, Dir: dir})
	if err != nil {
		t.Fatalf("opening the model: %v", describe(err))
	}
	return e.(*builtin)
}

func describe(err error) string {
	if f := library.AsError(err); f != nil {
		return fmt.Sprintf("%s %v: %v", f.Detail, f.Fields, f.Cause)
	}
	return err.Error()
}

func embedOne(t testing.TB, e Embedder, text string) []float32 {
	t.Helper()
	v, err := e.Embed(t.Context(), []string{text})
	if err != nil {
		t.Fatal(err)
	}
	return v[0]
}

// The numbers are those that the model's authors' own library gives.
func TestBuiltin_TheReferenceSentenceHasItsKnownVector(t *testing.T) {
	e := openModel(t, testenv.Model(t))
	if e.Dimensions() != 384 || e.Info() != (Info{Driver: Builtin, Model: e.name, MaxWords: 256}) || len(e.ID()) != 40 {
		t.Fatalf("dimensions %d, info %+v, id %q", e.Dimensions(), e.Info(), e.ID())
	}
	v := embedOne(t, e, "This is an example sentence")
	for i, want := range []float32{0.0677, 0.0635, 0.0487, 0.0793} {
		if math.Abs(float64(v[i]-want)) > 0.00006 {
			t.Errorf("number %d is %.5f, want %.4f", i, v[i], want)
		}
	}
}

func TestBuiltin_NearTextsHaveNearVectors(t *testing.T) {
	e := openModel(t, testenv.Model(t))
	v, err := e.Embed(t.Context(), []string{"a fox in the snow", "an arctic animal in winter", "quarterly revenue spreadsheet"})
	if err != nil {
		t.Fatal(err)
	}
	if near, far := cosine(v[0], v[1]), cosine(v[0], v[2]); near < far+0.2 {
		t.Errorf("cosine to the near text %.3f, to the far one %.3f", near, far)
	}
}

func TestBuiltin_ABatchGivesWhatSingleTextsGive(t *testing.T) {
	e := openModel(t, tinyModel(t))
	var texts []string
	for i := range 100 {
		texts = append(texts, strings.Repeat([]string{"red ", "fox ", "snow, ", "zebra "}[i%4], i%37)+"in foxs")
	}
	batch, err := e.Embed(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range texts {
		one := embedOne(t, e, text)
		if c := cosine(one, batch[i]); c < 0.99999 {
			t.Errorf("text %d alone and in a batch: cosine %.6f", i, c)
		}
		if n := cosine(one, one); math.Abs(n-1) > 1e-5 {
			t.Errorf("text %d has a vector of length² %.6f, want 1", i, n)
		}
	}
}

func TestBuiltin_OddTextsHaveVectors(t *testing.T) {
	e := openModel(t, tinyModel(t))
	for name, text := range map[string]string{"none": "", "blanks": " \n\t", "no UTF-8": "\xff\xfe red", "very long": strings.Repeat("red fox ", 100_000), "one long word": strings.Repeat("a", 1<<20)} {
		if v := embedOne(t, e, text); len(v) != e.Dimensions() {
			t.Errorf("%s: %d numbers, want %d", name, len(v), e.Dimensions())
		}
	}
	if v, err := e.Embed(t.Context(), nil); err != nil || len(v) != 0 {
		t.Errorf("no texts give %v, %v", v, err)
	}
}

func TestBuiltin_EmbeddingEndsWithItsContext(t *testing.T) {
	e := openModel(t, tinyModel(t))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.Embed(ctx, []string{"red"}); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
}

func TestBuiltin_TheIdentityFollowsWhatVectorsDependOn(t *testing.T) {
	first, second := tinyModel(t), tinyModel(t)
	for _, name := range []string{weightsFile, vocabularyFile, shapeFile} {
		raw, err := os.ReadFile(filepath.Join(first, name))
		if err != nil {
			t.Fatal(err)
		}
		write(t, second, name, string(raw))
	}
	id := openModel(t, first).ID()
	if other := openModel(t, second).ID(); other != id {
		t.Errorf("the same model in another folder has another identity")
	}
	write(t, second, sentenceFile, `{"max_seq_length": 8}`)
	if other := openModel(t, second).ID(); other == id {
		t.Errorf("a model that reads fewer tokens has the same identity")
	}
	replace(t, first, vocabularyFile, "red\nfox", "fox\nred")
	if other := openModel(t, first).ID(); other == id {
		t.Errorf("a model with another vocabulary has the same identity")
	}
}

func TestBuiltin_AFolderThatIsNoModelNamesItsSetting(t *testing.T) {
	cases := map[string]struct {
		spoil func(t *testing.T, dir string)
		cause string
	}{
		"no config":         {func(t *testing.T, dir string) { remove(t, dir, shapeFile) }, shapeFile},
		"no vocabulary":     {func(t *testing.T, dir string) { remove(t, dir, vocabularyFile) }, vocabularyFile},
		"no weights":        {func(t *testing.T, dir string) { remove(t, dir, weightsFile) }, weightsFile},
		"not JSON":          {func(t *testing.T, dir string) { write(t, dir, shapeFile, "{") }, "JSON"},
		"another kind":      {func(t *testing.T, dir string) { replace(t, dir, shapeFile, `"bert"`, `"t5"`) }, "bert"},
		"another function":  {func(t *testing.T, dir string) { replace(t, dir, shapeFile, `"gelu"`, `"relu"`) }, "gelu"},
		"senseless sizes":   {func(t *testing.T, dir string) { replace(t, dir, shapeFile, `heads":3`, `heads":5`) }, "sizes"},
		"another pooling":   {func(t *testing.T, dir string) { write(t, dir, poolingFile, `{"pooling_mode_mean_tokens":false}`) }, "mean"},
		"no unknown":        {func(t *testing.T, dir string) { replace(t, dir, vocabularyFile, "[UNK]", "x") }, "[UNK]"},
		"too many words":    {func(t *testing.T, dir string) { replace(t, dir, shapeFile, `vocab_size":15`, `vocab_size":14`) }, "more tokens"},
		"a folder too deep": {func(t *testing.T, dir string) { remove(t, dir, shapeFile); write(t, dir, "model/x", "") }, shapeFile},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			dir := tinyModel(t)
			c.spoil(t, dir)
			_, err := Open(Config{Driver: Builtin, Dir: dir})
			if err == nil {
				t.Fatal("the folder was taken")
			}
			f := library.AsError(err)
			if f.Kind != library.KindInvalid || !strings.Contains(f.Detail, "embed_model_dir") || !strings.Contains(fmt.Sprint(f.Cause), c.cause) {
				t.Errorf("the error is %s; want one about embed_model_dir and %q", describe(err), c.cause)
			}
		})
	}
	if _, err := Open(Config{Driver: Builtin}); err == nil || library.AsError(err).Fields[0].Field != "embed_model_dir" {
		t.Errorf("without a folder the error is %v", err)
	}
}

func remove(t testing.TB, dir, name string) {
	t.Helper()
	if err := os.Remove(filepath.Join(dir, name)); err != nil {
		t.Fatal(err)
	}
}

// Weights are read at the first use, so what is wrong with them shows then.
func TestBuiltin_SpoiltWeightsMakeTheEmbedderUnavailable(t *testing.T) {
	for name, spoil := range map[string]func(t *testing.T, dir string){
		"cut short":     func(t *testing.T, dir string) { truncate(t, filepath.Join(dir, weightsFile), 9000) },
		"no header":     func(t *testing.T, dir string) { truncate(t, filepath.Join(dir, weightsFile), 3) },
		"another shape": func(t *testing.T, dir string) { replace(t, dir, weightsFile, "[32,18]", "[18,32]") },
		"another type":  func(t *testing.T, dir string) { replace(t, dir, weightsFile, `"F32"`, `"I32"`) },
		"a tensor short": func(t *testing.T, dir string) {
			replace(t, dir, weightsFile, "layer.1.output.dense", "layer.7.output.dense")
		},
		"huge header": func(t *testing.T, dir string) { write(t, dir, weightsFile, "\xff\xff\xff\xff\xff\xff\xff\x7f{}") },
	} {
		t.Run(name, func(t *testing.T) {
			dir := tinyModel(t)
			spoil(t, dir)
			_, err := openModel(t, dir).Embed(t.Context(), []string{"red"})
			if err == nil || library.AsError(err).Code != CodeUnavailable {
				t.Errorf("the error is %v; want %s", err, CodeUnavailable)
			}
		})
	}
}

func truncate(t testing.TB, path string, size int64) {
	t.Helper()
	if err := os.Truncate(path, size); err != nil {
		t.Fatal(err)
	}
}

func TestBuiltin_DriversAndNone(t *testing.T) {
	for _, driver := range []string{"", None} {
		if e, err := Open(Config{Driver: driver}); e != nil || err != nil {
			t.Errorf("driver %q gives %v, %v; want no embedder", driver, e, err)
		}
	}
	if _, err := Open(Config{Driver: "cuda"}); err == nil || library.AsError(err).Fields[0].Field != "embed_driver" {
		t.Errorf("an unknown driver gives %v", err)
	}
}

func TestBuiltin_TheFastTileEqualsThePortableOne(t *testing.T) {
	p := panels{}
	const rows, in, out = 13, 31, 37
	weight, a := make([]float32, in*out), make([]float32, rows*in)
	for i := range weight {
		weight[i] = float32(math.Sin(float64(i)))
	}
	for i := range a {
		a[i] = float32(math.Cos(float64(i)))
	}
	p.pack(weight, out, in, in, 1)
	for i := range out {
		p.bias[i] = float32(i)
	}
	got := make([]float32, rows*out)
	p.multiply(got, out, a, in, rows)
	for r := range rows {
		for o := range out {
			want := float64(o)
			for i := range in {
				want += float64(a[r*in+i]) * float64(weight[o*in+i])
			}
			if math.Abs(float64(got[r*out+o])-want) > 1e-4 {
				t.Fatalf("row %d, output %d: %f, want %f", r, o, got[r*out+o], want)
			}
		}
	}
	var fastTile, slowTile [tileRows * tileCols]float32
	tile(in, a, in, p.data, p.bias, fastTile[:], tileCols)
	tilePortable(in, a, in, p.data, p.bias, slowTile[:], tileCols)
	for i := range fastTile {
		if math.Abs(float64(fastTile[i]-slowTile[i])) > 1e-4 {
			t.Fatalf("number %d: %f and %f", i, fastTile[i], slowTile[i])
		}
	}
}

func TestBuiltin_GELU(t *testing.T) {
	for x := -7.0; x < 7; x += 0.00037 {
		v := []float32{float32(x)}
		gelu(v)
		if want := x / 2 * (1 + math.Erf(x/math.Sqrt2)); math.Abs(float64(v[0])-want) > 2e-6 {
			t.Fatalf("gelu(%f) = %g, want %g", x, v[0], want)
		}
	}
}

func TestBuiltin_NarrowNumbersAreWidened(t *testing.T) {
	half := decode([]byte{0x00, 0x3c, 0x00, 0xc0, 0x01, 0x00, 0xff, 0x7b, 0x00, 0x80}, "F16", 5)
	if diff := cmp.Diff([]float32{1, -2, 1.0 / (1 << 24), 65504, 0}, half); diff != "" {
		t.Errorf("binary16 (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]float32{1, -2}, decode([]byte{0x80, 0x3f, 0x00, 0xc0}, "BF16", 2)); diff != "" {
		t.Errorf("bfloat16 (-want +got):\n%s", diff)
	}
}

// BenchmarkBuiltin counts texts per second of processor time, which says the same on a
// busy machine as on an idle one.
func BenchmarkBuiltin(b *testing.B) {
	e := openModel(b, testenv.Model(b))
	benchmarkEmbedder(b, e)
}

func benchmarkEmbedder(b *testing.B, e Embedder) {
	prompt := strings.Repeat("a red fox in snow, ", 5) // 33 tokens
	for _, n := range []int{1, 32, 256} {
		var texts []string
		for i := range n {
			texts = append(texts, fmt.Sprint(prompt, i))
		}
		embedOne(b, e, texts[0])
		b.Run(fmt.Sprintf("%d texts", n), func(b *testing.B) {
			before := processorTime(b)
			for b.Loop() {
				if _, err := e.Embed(b.Context(), texts); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(n*b.N)/(processorTime(b)-before).Seconds(), "texts/cpu-s")
		})
	}
}

func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

func TestBuiltin_UnrelatedTextsAreAlikeByChanceAndRelatedOnesMore(t *testing.T) {
	e := openModel(t, testenv.Model(t))
	baseline, err := MeasureBaseline(t.Context(), e)
	chance := baseline.Unrelated
	if err != nil || chance < 0.1 || chance > 0.4 {
		t.Fatalf("%v, %v", chance, err)
	}
	for _, c := range []struct {
		query, prompt string
		alike         bool
	}{
		{"castle", "a medieval fortress on a cliff, dramatic sky, masterpiece, best quality", true},
		{"bearded grandpa", "portrait of a grandfather with a white beard, soft light", true},
		{"kubernetes cluster", "a medieval fortress on a cliff, dramatic sky, masterpiece, best quality", false},
		{"chocolate cake recipe", "portrait of a grandfather with a white beard, soft light", false},
	} {
		if got := cosine(embedOne(t, e, c.query), embedOne(t, e, c.prompt)); got > chance != c.alike {
			t.Errorf("%q and %q: %.2f, by chance %.2f", c.query, c.prompt, got, chance)
		}
	}
}

func TestBaseline_AGeneralQueryIsLikeAnyPictureAndAParticularOneIsNot(t *testing.T) {
	e := openModel(t, testenv.Model(t))
	b, err := MeasureBaseline(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	for query, general := range map[string]bool{"fox": false, "kitten taking a nap": false, "red fox in the snow": false, "the best picture": true, "a beautiful photo": true} {
		v := embedOne(t, e, query)
		if got := b.MinSimilarity(v); got < b.Unrelated || got > b.Unrelated != general {
			t.Errorf("%q: texts are like it by chance up to %.2f, any two up to %.2f", query, got, b.Unrelated)
		}
	}
	if got := (Baseline{Unrelated: 0.3}).MinSimilarity([]float32{1}); got != 0.3 {
		t.Errorf("without pictures: %g", got)
	}
}
