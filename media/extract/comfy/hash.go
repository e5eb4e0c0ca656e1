package comfy

import (
	"crypto/sha1"
	"encoding/hex"
	"slices"
	"strconv"
)

// structureHash is a SHA-1 over what a graph is made of and how it is wired:
// classes, input names and links. Values, node ids and layout do not count, so
// runs of one workflow with other seeds, texts and files have one hash.
func (g *graph) structureHash() string {
	h := hasher{sums: map[*node][sha1.Size]byte{}, open: map[*node]bool{}}
	var all [][]byte
	for _, n := range g.nodes {
		s := h.sum(n)
		all = append(all, strconv.AppendInt(s[:], int64(n.uses), 10)) // uses tell two alike nodes from one used twice
	}
	slices.SortFunc(all, slices.Compare)
	total := sha1.New()
	for _, s := range all {
		total.Write(s)
	}
	return hex.EncodeToString(total.Sum(nil))
}

type hasher struct {
	sums map[*node][sha1.Size]byte
	open map[*node]bool
}

// sum hashes a node over the hashes of what it is linked to. A link that closes
// a cycle counts by its class alone.
func (h *hasher) sum(n *node) [sha1.Size]byte {
	if s, done := h.sums[n]; done {
		return s
	}
	if h.open[n] {
		return sha1.Sum([]byte(n.class))
	}
	h.open[n] = true
	var lines []string
	for i := range n.inputs {
		in := &n.inputs[i]
		if in.linked() {
			s := h.sum(in.from.node)
			lines = append(lines, in.written()+"\x00"+strconv.Itoa(in.from.slot)+"\x00"+string(s[:]))
		}
	}
	slices.Sort(lines)
	w := sha1.New()
	w.Write([]byte(n.class))
	for _, l := range lines {
		w.Write([]byte{1})
		w.Write([]byte(l))
	}
	s := [sha1.Size]byte(w.Sum(nil))
	delete(h.open, n)
	h.sums[n] = s
	return s
}
