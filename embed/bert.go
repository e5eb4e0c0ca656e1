package embed

import (
	"fmt"
	"strconv"
)

// shape is the part of a model's config.json that the forward pass needs.
type shape struct {
	Architecture string  `json:"model_type"`
	Activation   string  `json:"hidden_act"`
	Positions    string  `json:"position_embedding_type"`
	Hidden       int     `json:"hidden_size"`
	Inner        int     `json:"intermediate_size"`
	Layers       int     `json:"num_hidden_layers"`
	Heads        int     `json:"num_attention_heads"`
	MaxTokens    int     `json:"max_position_embeddings"`
	Types        int     `json:"type_vocab_size"`
	Vocabulary   int     `json:"vocab_size"`
	Epsilon      float32 `json:"layer_norm_eps"`
}

// check refuses models that this forward pass would read wrongly.
func (s shape) check() error {
	switch {
	case s.Architecture != "bert":
		return fmt.Errorf("only models of the type bert can be run; this one is another")
	case s.Activation != "gelu":
		return fmt.Errorf("only the activation gelu can be computed; this model has another")
	case s.Positions != "" && s.Positions != "absolute":
		return fmt.Errorf("only absolute positions can be computed; this model has others")
	case !within(s.Hidden, 8192), !within(s.Inner, 65536), !within(s.Layers, 200), !within(s.Heads, s.Hidden), !within(s.MaxTokens, 1<<20),
		!within(s.Types, 1000), !within(s.Vocabulary, 1<<24), s.Hidden%max(s.Heads, 1) != 0:
		return fmt.Errorf("the sizes in config.json make no sense")
	}
	return nil
}

func within(n, most int) bool { return n >= 1 && n <= most }

// bert holds the weights of a model.
type bert struct {
	shape
	words     []float32 // vocabulary × hidden
	positions []float32 // positions × hidden, with the embedding of the first type added
	first     layerNorm
	layers    []layer
}

type layer struct {
	attention panels // query, key and value side by side: 3·hidden × hidden
	output    panels
	afterward layerNorm
	widen     panels
	narrow    panels
	last      layerNorm
}

type layerNorm struct{ scale, shift []float32 }

// loader reads tensors until the first error.
type loader struct {
	*tensors
	err error
}

func (l *loader) get(name string, shape ...int) []float32 {
	if l.err != nil {
		return nil
	}
	var v []float32
	v, l.err = l.float32s(name, shape...)
	return v
}

func (l *loader) norm(name string, n int) layerNorm {
	return layerNorm{scale: l.get(name+".weight", n), shift: l.get(name+".bias", n)}
}

// linear reads layers of the same input and lays them out as one.
func (l *loader) linear(out, in int, names ...string) panels {
	var p panels
	var weight, bias []float32
	for _, n := range names {
		weight = append(weight, l.get(n+".weight", out, in)...)
		bias = append(bias, l.get(n+".bias", out)...)
	}
	if l.err == nil {
		p.pack(weight, out*len(names), in, in, 1)
		copy(p.bias, bias)
	}
	return p
}

// prefixOf returns what stands before the names of all tensors: models that were
// trained for more than sentences have their language model under a name.
func prefixOf(t *tensors) string {
	if _, ok := t.list["bert.embeddings.word_embeddings.weight"]; ok {
		return "bert."
	}
	return ""
}

func loadBERT(t *tensors, s shape) (*bert, error) {
	l := &loader{tensors: t}
	prefix := prefixOf(t)
	m := &bert{shape: s}
	m.words = l.get(prefix+"embeddings.word_embeddings.weight", s.Vocabulary, s.Hidden)
	m.positions = l.get(prefix+"embeddings.position_embeddings.weight", s.MaxTokens, s.Hidden)
	types := l.get(prefix+"embeddings.token_type_embeddings.weight", s.Types, s.Hidden)
	m.first = l.norm(prefix+"embeddings.LayerNorm", s.Hidden)
	for i := range s.Layers {
		at := prefix + "encoder.layer." + strconv.Itoa(i) + "."
		m.layers = append(m.layers, layer{
			attention: l.linear(s.Hidden, s.Hidden, at+"attention.self.query", at+"attention.self.key", at+"attention.self.value"),
			output:    l.linear(s.Hidden, s.Hidden, at+"attention.output.dense"),
			afterward: l.norm(at+"attention.output.LayerNorm", s.Hidden),
			widen:     l.linear(s.Inner, s.Hidden, at+"intermediate.dense"),
			narrow:    l.linear(s.Hidden, s.Inner, at+"output.dense"),
			last:      l.norm(at+"output.LayerNorm", s.Hidden),
		})
	}
	if l.err != nil {
		return nil, l.err
	}
	for i := range m.positions {
		m.positions[i] += types[i%s.Hidden]
	}
	return m, nil
}
