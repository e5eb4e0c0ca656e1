package embed

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// tinyVocabulary is enough for the sentences of the tests.
const tinyVocabulary = "[PAD]\n[UNK]\n[CLS]\n[SEP]\nred\nfox\nin\nsnow\n##s\n,\n!\na\nb\nc\nd\n"

// tinyModel writes a folder with a model of random weights: two layers of 18
// numbers, three heads.
func tinyModel(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	const hidden, inner, words, places = 18, 40, 15, 32
	shapes := map[string][]int{
		"embeddings.word_embeddings.weight": {words, hidden}, "embeddings.position_embeddings.weight": {places, hidden},
		"embeddings.token_type_embeddings.weight": {2, hidden},
		"embeddings.LayerNorm.weight":             {hidden}, "embeddings.LayerNorm.bias": {hidden},
	}
	for _, layer := range []string{"encoder.layer.0.", "encoder.layer.1."} {
		for _, n := range []string{"attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense"} {
			shapes[layer+n+".weight"], shapes[layer+n+".bias"] = []int{hidden, hidden}, []int{hidden}
		}
		shapes[layer+"intermediate.dense.weight"], shapes[layer+"intermediate.dense.bias"] = []int{inner, hidden}, []int{inner}
		shapes[layer+"output.dense.weight"], shapes[layer+"output.dense.bias"] = []int{hidden, inner}, []int{hidden}
		for _, n := range []string{"attention.output.LayerNorm", "output.LayerNorm"} {
			shapes[layer+n+".weight"], shapes[layer+n+".bias"] = []int{hidden}, []int{hidden}
		}
	}
	writeTensors(t, filepath.Join(dir, weightsFile), shapes)
	write(t, dir, vocabularyFile, tinyVocabulary)
	write(t, dir, shapeFile, `{"model_type":"bert","hidden_act":"gelu","hidden_size":18,"intermediate_size":40,"num_hidden_layers":2,
		"num_attention_heads":3,"max_position_embeddings":32,"type_vocab_size":2,"vocab_size":15,"layer_norm_eps":1e-12}`)
	return dir
}

func write(t testing.TB, dir, name, content string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// writeTensors writes random numbers in the safetensors format.
func writeTensors(t testing.TB, path string, shapes map[string][]int) {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	header := map[string]tensorInfo{}
	var data []byte
	for name, shape := range shapes {
		from, count := int64(len(data)), 1
		for _, n := range shape {
			count *= n
		}
		for range count {
			data = binary.LittleEndian.AppendUint32(data, math.Float32bits(float32(random.NormFloat64()/3)))
		}
		header[name] = tensorInfo{Type: "F32", Shape: shape, Offsets: [2]int64{from, int64(len(data))}}
	}
	raw, err := json.Marshal(header)
	if err != nil {
		t.Fatal(err)
	}
	file := append(binary.LittleEndian.AppendUint64(nil, uint64(len(raw))), raw...)
	if err := os.WriteFile(path, append(file, data...), 0o644); err != nil {
		t.Fatal(err)
	}
}

// replace changes a file of a model.
func replace(t testing.TB, dir, name, old, fresh string) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(raw), old) {
		t.Fatalf("%s does not hold %q", name, old)
	}
	write(t, dir, name, strings.Replace(string(raw), old, fresh, 1))
}
