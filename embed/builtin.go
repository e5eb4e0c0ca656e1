package embed

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"vitrine/internal/panics"
	"vitrine/library"
)

// builtin runs a BERT sentence model in this process. The weights are read at the
// first use, so that a command which embeds nothing does not wait for them.
type builtin struct {
	dir   string
	name  string
	shape shape
	id    string
	split *wordpiece

	once    sync.Once
	model   *bert
	loadErr error
	memory  sync.Pool

	priority priority
}

// The files of a model's folder; the others may be missing.
const (
	weightsFile    = "model.safetensors"
	vocabularyFile = "vocab.txt"
	shapeFile      = "config.json"
	tokenizerFile  = "tokenizer_config.json"
	sentenceFile   = "sentence_bert_config.json"
	poolingFile    = "1_Pooling/config.json"
)

// defaultLimit is how many tokens of a text count when the model does not say.
const defaultLimit = 256

func openBuiltin(cfg Config) (Embedder, error) {
	if cfg.Dir == "" {
		return nil, library.Invalid(library.FieldError{Field: "embed_model_dir", Code: "required", Message: "The embedding backend builtin needs the folder of a model."})
	}
	b := &builtin{dir: cfg.Dir, name: filepath.Base(cfg.Dir)}
	b.memory.New = func() any { return new(work) }
	if err := b.describe(); err != nil {
		return nil, &library.Error{Kind: library.KindInvalid, Code: library.CodeValidationFailed, Cause: err,
			Detail: "The folder of embed_model_dir has no BERT embedding model: model.safetensors, vocab.txt and config.json are required."}
	}
	return b, nil
}

// describe reads everything but the weights, of which it reads only the sum.
func (b *builtin) describe() error {
	var tokenizer struct {
		LowerCase *bool `json:"do_lower_case"`
	}
	var sentence struct {
		MaxTokens int `json:"max_seq_length"`
	}
	pooling := struct {
		Mean bool `json:"pooling_mode_mean_tokens"`
	}{Mean: true}
	if err := readJSON(filepath.Join(b.dir, shapeFile), &b.shape); err != nil {
		return err
	}
	for name, into := range map[string]any{tokenizerFile: &tokenizer, sentenceFile: &sentence, poolingFile: &pooling} {
		if err := readJSON(filepath.Join(b.dir, name), into); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := b.shape.check(); err != nil {
		return err
	}
	if !pooling.Mean {
		return errors.New("only the mean of the tokens can be taken; this model takes another")
	}
	if !within(sentence.MaxTokens, b.shape.MaxTokens) {
		sentence.MaxTokens = min(defaultLimit, b.shape.MaxTokens)
	}
	if err := b.readVocabulary(sentence.MaxTokens, tokenizer.LowerCase != nil && !*tokenizer.LowerCase); err != nil {
		return err
	}
	sums := make([]string, 0, 3)
	for _, name := range []string{weightsFile, vocabularyFile, shapeFile} {
		sum, err := fileSum(filepath.Join(b.dir, name))
		if err != nil {
			return err
		}
		sums = append(sums, sum)
	}
	b.id = identity("bert", sums[0], sums[1], sums[2], fmt.Sprint(sentence.MaxTokens, b.split.keepCase))
	return nil
}

func (b *builtin) readVocabulary(limit int, keepCase bool) error {
	f, err := os.Open(filepath.Join(b.dir, vocabularyFile))
	if err != nil {
		return err
	}
	defer f.Close()
	b.split, err = readVocabulary(f, limit, keepCase)
	if err == nil && len(b.split.whole)+len(b.split.rest) > b.shape.Vocabulary {
		err = errors.New("vocab.txt has more tokens than the model")
	}
	return err
}

func readJSON(path string, into any) error {
	raw, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, into)
}

func fileSum(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

func (b *builtin) Dimensions() int { return b.shape.Hidden }
func (b *builtin) ID() string      { return b.id }
func (b *builtin) Close() error    { return nil }

func (b *builtin) Info() Info {
	return Info{Driver: Builtin, Model: b.name, MaxWords: b.split.limit}
}

// load reads the weights, once.
func (b *builtin) load() error {
	b.once.Do(func() {
		f, err := os.Open(filepath.Join(b.dir, weightsFile))
		if err != nil {
			b.loadErr = err
			return
		}
		defer f.Close()
		t, err := openTensors(f)
		if err != nil {
			b.loadErr = err
			return
		}
		b.model, b.loadErr = loadBERT(t, b.shape)
	})
	return unreadable(b.loadErr)
}

// unreadable words the error of a model that was described and cannot be used.
func unreadable(err error) error {
	if err == nil {
		return nil
	}
	return &library.Error{Kind: library.KindUnavailable, Code: CodeUnavailable, Cause: err,
		Detail: "The embedding model cannot be read. Check the folder of embed_model_dir and restart."}
}

// passTokens is how many tokens go through the model together: enough to use each
// weight often, few enough to stay in the processor's cache.
const passTokens = 192

// Embed implements Embedder. Texts of like length go together, over all processors
// but one, which answers searches meanwhile. Background work gives way to other calls
// between passes.
func (b *builtin) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	if err := b.load(); err != nil {
		return nil, err
	}
	sequences := make([][]int32, len(texts))
	order := make([]int, len(texts))
	for i, t := range texts {
		sequences[i], order[i] = b.split.encode(t), i
	}
	slices.SortFunc(order, func(i, j int) int { return len(sequences[j]) - len(sequences[i]) })
	background := isBackground(ctx)
	if !background {
		defer b.priority.enter()()
	}
	out := make([][]float32, len(texts))
	var g errgroup.Group
	g.SetLimit(max(1, runtime.GOMAXPROCS(0)-1))
	for _, group := range groups(order, sequences, passTokens) {
		g.Go(func() error {
			if background {
				if err := b.priority.yield(ctx); err != nil {
					return err
				}
			}
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return panics.Try(func() error { b.pass(out, sequences, group); return nil })
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	return out, nil
}

// pass embeds the sequences of a group.
func (b *builtin) pass(out [][]float32, sequences [][]int32, group []int) {
	w := b.memory.Get().(*work)
	defer b.memory.Put(w)
	own := make([][]int32, len(group))
	for i, at := range group {
		own[i] = sequences[at]
	}
	for i, v := range b.model.forward(w, own) {
		if normalize(v) {
			out[group[i]] = v
		}
	}
}

// groups cuts an order into runs of about so many tokens each.
func groups(order []int, sequences [][]int32, tokens int) [][]int {
	var out [][]int
	from, sum := 0, 0
	for i, at := range order {
		if n := len(sequences[at]); sum > 0 && sum+n > tokens {
			out = append(out, order[from:i])
			from, sum = i, n
		} else {
			sum += n
		}
	}
	if from < len(order) {
		out = append(out, order[from:])
	}
	return out
}
