//go:build onnx && linux && (amd64 || arm64)

package embed

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"unsafe"
)

// accelerated runs the models of the driver builtin in ONNX Runtime, an engine that
// shares no code with it: what both compute must be the same, and the benchmarks set
// one beside the other.
type accelerated struct {
	*builtin
	ort *ort

	once    sync.Once
	using   sync.RWMutex // read by passes, which the end of the session waits for
	session unsafe.Pointer
	err     error
}

var errClosed = errors.New("the embedder is closed")

func openONNX(dir, runtime string) (Embedder, error) {
	e, err := openBuiltin(Config{Dir: dir})
	if err != nil {
		return nil, err
	}
	o, err := openORT(runtime)
	if err != nil {
		return nil, err
	}
	return &accelerated{builtin: e.(*builtin), ort: o}, nil
}

// Close implements Embedder.
func (a *accelerated) Close() error {
	a.using.Lock()
	defer a.using.Unlock()
	if a.session != nil {
		a.ort.releaseSession(a.session)
		a.session = nil
	}
	return nil
}

// prepare makes the graph and hands it to the runtime, once.
func (a *accelerated) prepare() error {
	a.once.Do(func() {
		f, err := os.Open(filepath.Join(a.dir, weightsFile))
		if err != nil {
			a.err = err
			return
		}
		defer f.Close()
		t, err := openTensors(f)
		if err != nil {
			a.err = err
			return
		}
		var model []byte
		if model, a.err = writeGraph(t, a.shape); a.err == nil {
			a.session, a.err = a.ort.session(model)
		}
	})
	return unreadable(a.err)
}

// ortTokens is how many tokens, padding included, go through the model together.
const ortTokens = 1024

// Embed implements Embedder. Texts of like length go together, so that little of
// what is computed is padding.
func (a *accelerated) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	if err := a.prepare(); err != nil {
		return nil, err
	}
	sequences := make([][]int32, len(texts))
	order := make([]int, len(texts))
	for i, t := range texts {
		sequences[i], order[i] = a.split.encode(t), i
	}
	slices.SortFunc(order, func(i, j int) int { return len(sequences[j]) - len(sequences[i]) })
	out := make([][]float32, len(texts))
	for _, group := range groups(order, sequences, ortTokens) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := a.pass(out, sequences, group); err != nil {
			return nil, unreadable(err)
		}
	}
	return out, nil
}

// pass embeds the sequences of a group, the longest of which is the first.
func (a *accelerated) pass(out [][]float32, sequences [][]int32, group []int) error {
	tokens, hidden := len(sequences[group[0]]), a.shape.Hidden
	ids, keep := make([]int64, len(group)*tokens), make([]float32, len(group)*tokens)
	for row, at := range group {
		for i, id := range sequences[at] {
			ids[row*tokens+i], keep[row*tokens+i] = int64(id), 1
		}
	}
	a.using.RLock()
	defer a.using.RUnlock()
	if a.session == nil {
		return errClosed
	}
	numbers, err := a.ort.means(a.session, ids, keep, len(group), tokens, hidden)
	if err != nil {
		return err
	}
	for row, at := range group {
		if v := numbers[row*hidden:][:hidden:hidden]; normalize(v) {
			out[at] = v
		}
	}
	return nil
}
