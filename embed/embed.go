package embed

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"math"
	"time"

	"vitrine/library"
)

// Embedder makes vectors. It may be used by any number of goroutines.
type Embedder interface {
	// Embed returns one unit vector per text, in their order. A nil vector says
	// that the provider refuses just this text. An error says nothing of the
	// texts; of kind unavailable, it may pass.
	Embed(ctx context.Context, texts []string) ([][]float32, error)
	// Dimensions is the length of every vector.
	Dimensions() int
	// ID identifies the configuration: 40 hex digits, equal wherever equal texts
	// get equal vectors.
	ID() string
	// Info describes the configuration to people.
	Info() Info
	// Close ends the use of the embedder.
	Close() error
}

// Info is what people may know of a configuration. It holds no secret.
type Info struct {
	Driver   string // builtin or openai
	Model    string // the model's own name
	MaxWords int    // tokens of a text that count; 0 when only the provider knows
}

// The drivers.
const (
	None    = "none"
	Builtin = "builtin"
	OpenAI  = "openai"
)

// Config chooses a driver and sets it up.
type Config struct {
	Driver     string        // none, builtin or openai; "" means none
	Dir        string        // builtin: the folder with model.safetensors, vocab.txt and config.json
	URL        string        // openai: the address of the API, up to and including its version, such as https://api.openai.com/v1
	Key        string        // openai: sent as a bearer token; may be empty
	Model      string        // openai: the name the provider knows the model by
	Dimensions int           // openai: the length of the model's vectors, 1 to 16000
	Timeout    time.Duration // openai: of one request; 0 means 30 s
	Log        *slog.Logger  // nil means slog.Default()
}

// CodeUnavailable is the code of the error that a provider cannot be reached or
// is given a rest after failures.
const CodeUnavailable = "EMBEDDER_UNAVAILABLE"

// Open makes the embedder of a configuration, and none (nil) for the driver none.
// It reads the files of a model and talks to no server. The error is an error of
// kind invalid that names what is wrong with which setting.
func Open(cfg Config) (Embedder, error) {
	if cfg.Log == nil {
		cfg.Log = slog.Default()
	}
	switch cfg.Driver {
	case "", None:
		return nil, nil
	case Builtin:
		return openBuiltin(cfg)
	case OpenAI:
		return openProvider(cfg)
	}
	return nil, library.Invalid(library.FieldError{Field: "embed_driver", Code: "enum", Message: "Allowed are none, builtin and openai."})
}

// identity hashes what the vectors depend on.
func identity(parts ...string) string {
	h := sha256.New()
	for _, p := range append(parts, recipe) {
		fmt.Fprintf(h, "%d:%s;", len(p), p)
	}
	return hex.EncodeToString(h.Sum(nil))[:40]
}

// normalize scales a vector to length 1 and reports whether that was possible: a
// vector of zeros, or with a number that is none, points nowhere.
func normalize(v []float32) bool {
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if sum == 0 || math.IsNaN(sum) || math.IsInf(sum, 0) {
		return false
	}
	scale := float32(1 / math.Sqrt(sum))
	for i := range v {
		v[i] *= scale
	}
	return true
}
