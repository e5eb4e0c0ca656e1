//go:build onnx && linux && (amd64 || arm64)

package embed

import (
	"encoding/binary"
	"fmt"
	"math"
)

// The names of the graph's inputs and of its output.
const (
	inputIDs    = "ids"    // int64, texts × tokens; padded with any token
	inputPlaces = "places" // int64, tokens: 0, 1, 2, …
	inputKeep   = "keep"   // float32, texts × tokens: 1, and 0 for padding
	outputMean  = "mean"   // float32, texts × hidden
)

// graph writes the forward pass of a model as an ONNX file: the operators of
// opset 20, with the weights inside. It writes protocol buffers by hand, for which
// a few lines suffice.
type graph struct {
	loader
	shape   shape
	nodes   []byte // of GraphProto, one field per node
	weights []byte
	named   int
}

// The numbers that ONNX gives types.
const (
	onnxFloat = 1
	onnxInt64 = 7
)

// writeGraph returns the file. The weights are in it once more, so it is as large
// as the model.
func writeGraph(t *tensors, s shape) ([]byte, error) {
	g := &graph{loader: loader{tensors: t}, shape: s}
	p := prefixOf(t)
	words := g.matrix("words", g.get(p+"embeddings.word_embeddings.weight", s.Vocabulary, s.Hidden), s.Vocabulary, s.Hidden)
	places := g.matrix("positions", g.placesWithType(p), s.MaxTokens, s.Hidden)
	x := g.node("Add", ins(g.node("Gather", ins(words, inputIDs)), g.node("Gather", ins(places, inputPlaces))))
	x = g.layerNorm(x, p+"embeddings.LayerNorm")
	penalty := g.penalty()
	for i := range s.Layers {
		x = g.layer(x, penalty, fmt.Sprintf("%sencoder.layer.%d.", p, i))
	}
	g.mean(x)
	if g.err != nil {
		return nil, g.err
	}
	return g.file(), nil
}

func ins(names ...string) []string { return names }

// placesWithType adds the embedding of the first type to every position: texts
// have only that type.
func (g *graph) placesWithType(prefix string) []float32 {
	places := g.get(prefix+"embeddings.position_embeddings.weight", g.shape.MaxTokens, g.shape.Hidden)
	types := g.get(prefix+"embeddings.token_type_embeddings.weight", g.shape.Types, g.shape.Hidden)
	if g.err != nil {
		return nil
	}
	for i := range places {
		places[i] += types[i%g.shape.Hidden]
	}
	return places
}

// penalty is what is added to the scores of padding: so much that it gets no share.
func (g *graph) penalty() string {
	minus := g.node("Sub", ins(inputKeep, g.scalar(1)))
	return g.node("Unsqueeze", ins(g.node("Mul", ins(minus, g.scalar(1e9))), g.integers(1, 2)))
}

func (g *graph) layer(x, penalty, at string) string {
	h, d := g.shape.Hidden, g.shape.Hidden/g.shape.Heads
	heads := g.integers(0, 0, int64(g.shape.Heads), int64(d))
	split := func(name string, order ...int64) string {
		return g.node("Transpose", ins(g.node("Reshape", ins(g.linear(x, at+"attention.self."+name, h, h), heads))), ints("perm", order...))
	}
	q, k, v := split("query", 0, 2, 1, 3), split("key", 0, 2, 3, 1), split("value", 0, 2, 1, 3)
	scores := g.node("Mul", ins(g.node("MatMul", ins(q, k)), g.scalar(float32(1/math.Sqrt(float64(d))))))
	shares := g.node("Softmax", ins(g.node("Add", ins(scores, penalty))), integer("axis", -1))
	joined := g.node("Transpose", ins(g.node("MatMul", ins(shares, v))), ints("perm", 0, 2, 1, 3))
	joined = g.node("Reshape", ins(joined, g.integers(0, 0, int64(h))))
	x = g.layerNorm(g.node("Add", ins(x, g.linear(joined, at+"attention.output.dense", h, h))), at+"attention.output.LayerNorm")
	wide := g.node("Gelu", ins(g.linear(x, at+"intermediate.dense", g.shape.Inner, h)))
	return g.layerNorm(g.node("Add", ins(x, g.linear(wide, at+"output.dense", h, g.shape.Inner))), at+"output.LayerNorm")
}

// mean averages the tokens of each text that are no padding.
func (g *graph) mean(x string) {
	axis := g.integers(1)
	kept := g.node("Mul", ins(x, g.node("Unsqueeze", ins(inputKeep, g.integers(2)))))
	sum := g.node("ReduceSum", ins(kept, axis), integer("keepdims", 0))
	g.nodes = field(g.nodes, 1, nodeProto("Div", ins(sum, g.node("ReduceSum", ins(inputKeep, axis), integer("keepdims", 1))), outputMean))
}

// linear multiplies by a weight that lies output by output, which ONNX wants
// input by input, and adds the bias.
func (g *graph) linear(x, name string, out, in int) string {
	weight, bias := g.get(name+".weight", out, in), g.get(name+".bias", out)
	if g.err != nil {
		return ""
	}
	turned := make([]float32, len(weight))
	for o := range out {
		for i := range in {
			turned[i*out+o] = weight[o*in+i]
		}
	}
	product := g.node("MatMul", ins(x, g.matrix(name+".weight", turned, in, out)))
	return g.node("Add", ins(product, g.matrix(name+".bias", bias, out)))
}

func (g *graph) layerNorm(x, name string) string {
	h := g.shape.Hidden
	scale := g.matrix(name+".weight", g.get(name+".weight", h), h)
	return g.node("LayerNormalization", ins(x, scale, g.matrix(name+".bias", g.get(name+".bias", h), h)),
		integer("axis", -1), float("epsilon", g.shape.Epsilon))
}

// node adds an operator and gives the name of its output.
func (g *graph) node(operator string, inputs []string, attributes ...[]byte) string {
	g.named++
	out := fmt.Sprintf("%s_%d", operator, g.named)
	g.nodes = field(g.nodes, 1, nodeProto(operator, inputs, out, attributes...))
	return out
}

func nodeProto(operator string, inputs []string, output string, attributes ...[]byte) []byte {
	var n []byte
	for _, in := range inputs {
		n = field(n, 1, []byte(in))
	}
	n = field(n, 2, []byte(output))
	n = field(n, 4, []byte(operator))
	for _, a := range attributes {
		n = field(n, 5, a)
	}
	return n
}

// matrix adds a tensor of numbers and gives its name.
func (g *graph) matrix(name string, values []float32, dims ...int) string {
	var t []byte
	for _, d := range dims {
		t = number(t, 1, uint64(d))
	}
	t = number(t, 2, onnxFloat)
	t = field(t, 8, []byte(name))
	raw := make([]byte, 0, 4*len(values))
	for _, v := range values {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(v))
	}
	g.weights = field(g.weights, 5, field(t, 9, raw))
	return name
}

// scalar adds one number.
func (g *graph) scalar(v float32) string {
	g.named++
	return g.matrix(fmt.Sprintf("scalar_%d", g.named), []float32{v})
}

// integers adds a list of integers: axes and shapes.
func (g *graph) integers(list ...int64) string {
	g.named++
	name := fmt.Sprintf("integers_%d", g.named)
	t := number(nil, 1, uint64(len(list)))
	t = number(t, 2, onnxInt64)
	for _, v := range list {
		t = number(t, 7, uint64(v))
	}
	g.weights = field(g.weights, 5, field(t, 8, []byte(name)))
	return name
}

// file puts the model around nodes and weights.
func (g *graph) file() []byte {
	body := append(g.nodes, field(nil, 2, []byte("sentence"))...)
	body = append(body, g.weights...)
	body = field(body, 11, value(inputIDs, onnxInt64, "texts", "tokens"))
	body = field(body, 11, value(inputPlaces, onnxInt64, "tokens"))
	body = field(body, 11, value(inputKeep, onnxFloat, "texts", "tokens"))
	body = field(body, 12, value(outputMean, onnxFloat, "texts", "hidden"))
	model := number(nil, 1, 9)                                        // version of the format
	model = field(model, 8, number(field(nil, 1, []byte("")), 2, 20)) // opset 20
	return field(model, 7, body)
}

// value declares an input or output whose sides have names instead of lengths.
func value(name string, kind uint64, sides ...string) []byte {
	var dims []byte
	for _, s := range sides {
		dims = field(dims, 1, field(nil, 2, []byte(s)))
	}
	tensor := field(number(nil, 1, kind), 2, dims)
	return field(field(nil, 1, []byte(name)), 2, field(nil, 1, tensor))
}

// The attributes of nodes, by their type.
func integer(name string, v int64) []byte {
	return number(number(field(nil, 1, []byte(name)), 3, uint64(v)), 20, 2)
}

func ints(name string, list ...int64) []byte {
	a := field(nil, 1, []byte(name))
	for _, v := range list {
		a = number(a, 8, uint64(v))
	}
	return number(a, 20, 7)
}

func float(name string, v float32) []byte {
	a := binary.AppendUvarint(field(nil, 1, []byte(name)), 2<<3|5)
	return number(binary.LittleEndian.AppendUint32(a, math.Float32bits(v)), 20, 1)
}

// field appends a field of bytes, number one that holds an integer.
func field(dst []byte, id uint64, content []byte) []byte {
	dst = binary.AppendUvarint(dst, id<<3|2)
	dst = binary.AppendUvarint(dst, uint64(len(content)))
	return append(dst, content...)
}

func number(dst []byte, id, v uint64) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(dst, id<<3), v)
}
