package sample

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"image"
	_ "image/jpeg"
	_ "image/png"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
)

// textChunk is one text of a PNG as a reader that shares no code with the
// writer finds it.
type textChunk struct{ kind, key, value string }

// walkPNG checks signature, lengths, checksums and order, and returns the texts.
func walkPNG(data []byte) (texts []textChunk, err error) {
	if !bytes.HasPrefix(data, []byte("\x89PNG\r\n\x1a\n")) {
		return nil, fmt.Errorf("no PNG signature")
	}
	var order []string
	for at := 8; at < len(data); {
		n := int(binary.BigEndian.Uint32(data[at:]))
		kind, body := string(data[at+4:at+8]), data[at+8:at+8+n]
		if crc32.ChecksumIEEE(data[at+4:at+8+n]) != binary.BigEndian.Uint32(data[at+8+n:]) {
			return nil, fmt.Errorf("checksum of %s is wrong", kind)
		}
		at += 12 + n
		if len(order) == 0 || order[len(order)-1] != kind {
			order = append(order, kind)
		}
		key, rest, _ := strings.Cut(string(body), "\x00")
		switch kind {
		case "tEXt":
			var b strings.Builder
			for i := range len(rest) {
				b.WriteRune(rune(rest[i])) // Latin-1
			}
			texts = append(texts, textChunk{kind, key, b.String()})
		case "iTXt":
			if !strings.HasPrefix(rest, "\x00\x00\x00\x00") {
				return nil, fmt.Errorf("iTXt %s is compressed or has a language", key)
			}
			texts = append(texts, textChunk{kind, key, rest[4:]})
		case "zTXt":
			z, err := zlib.NewReader(strings.NewReader(rest[1:]))
			if err != nil {
				return nil, err
			}
			plain, err := io.ReadAll(z)
			if err != nil {
				return nil, err
			}
			texts = append(texts, textChunk{kind, key, string(plain)})
		}
	}
	if order[0] != "IHDR" || order[len(order)-1] != "IEND" || order[len(order)-2] != "IDAT" {
		return nil, fmt.Errorf("chunks in the order %v", order)
	}
	return texts, nil
}

// walkJPEG returns the UserComment, following the directories by hand.
func walkJPEG(data []byte) (string, error) {
	if len(data) < 20 || data[2] != 0xff || data[3] != 0xe1 || string(data[6:12]) != "Exif\x00\x00" {
		return "", fmt.Errorf("no Exif segment after SOI")
	}
	tiff := data[12 : 4+int(binary.BigEndian.Uint16(data[4:]))]
	var order binary.ByteOrder = binary.BigEndian
	if string(tiff[:2]) == "II" {
		order = binary.LittleEndian
	}
	exif := order.Uint32(tiff[order.Uint32(tiff[4:])+10:])
	if tag := order.Uint16(tiff[exif+2:]); tag != 0x9286 {
		return "", fmt.Errorf("tag %#x instead of UserComment", tag)
	}
	n, at := order.Uint32(tiff[exif+6:]), order.Uint32(tiff[exif+10:])
	comment := tiff[at : at+n]
	if int(at+n) != len(tiff) || string(comment[:8]) != "UNICODE\x00" {
		return "", fmt.Errorf("comment of %d bytes at %d in %d does not fit", n, at, len(tiff))
	}
	units := make([]uint16, 0, n/2)
	for i := 8; i+1 < len(comment); i += 2 {
		units = append(units, order.Uint16(comment[i:]))
	}
	return string(utf16.Decode(units)), nil
}

// wantKeys are the text keys of each writer, in file order.
var wantKeys = map[string]string{
	"comfyui": "prompt workflow", "a1111": "parameters", "forge": "parameters", "invokeai": "invokeai_metadata invokeai_graph",
	"swarmui": "prompt parameters", "novelai": "Title Description Software Source Generation time Comment",
	"fooocus": "parameters fooocus_scheme", "imagetool": "Description Author Creation Time XML:com.adobe.xmp", "bare": "",
}

func TestBytes_FilesHoldTheirTruthInTheirToolsChunks(t *testing.T) {
	dir, report := write(t, Options{Count: 160, Seed: 17, MaxEdge: small})
	checked := map[string]int{}
	for _, f := range report.Files {
		family, _, _ := strings.Cut(f.Writer, "-")
		keys, isPicture := wantKeys[family]
		if !isPicture {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, f.Path))
		if err != nil {
			t.Fatal(err)
		}
		config, format, err := image.DecodeConfig(bytes.NewReader(data))
		if err != nil || config.Width > small || config.Height > small {
			t.Errorf("%s: %v, %dx%d", f.Path, err, config.Width, config.Height)
		}
		checked[f.Writer]++
		if format == "jpeg" {
			comment, err := walkJPEG(data)
			if err != nil {
				t.Errorf("%s: %v", f.Path, err)
			}
			expectText(t, f, comment)
			continue
		}
		texts, err := walkPNG(data)
		if err != nil {
			t.Errorf("%s: %v", f.Path, err)
			continue
		}
		var got []string
		var all strings.Builder
		for _, c := range texts {
			got = append(got, c.key)
			all.WriteString(c.value + "\n")
			if latin := isLatin(c.value); c.kind == "iTXt" && latin && c.key != "XML:com.adobe.xmp" {
				t.Errorf("%s: %s fits Latin-1 and is iTXt", f.Path, c.key)
			}
		}
		if diff := cmp.Diff(keys, strings.Join(got, " ")); diff != "" {
			t.Errorf("%s: keys differ (-want +got):\n%s", f.Path, diff)
		}
		if f.Tool != "" {
			expectText(t, f, all.String())
		}
	}
	for name, n := range checked {
		t.Logf("%-20s %d files checked", name, n)
	}
}

func isLatin(s string) bool { return !strings.ContainsFunc(s, func(r rune) bool { return r > 0xff }) }

// expectText checks that prompt, negative prompt, seed and models stand in the
// text, plain or with the escapes of JSON.
func expectText(t *testing.T, f Truth, text string) {
	t.Helper()
	want := map[string]string{"prompt": f.Prompt, "negative": f.Negative, "job": f.JobID}
	if f.Writer == "comfyui-concat" {
		want["prompt"] = "" // two halves; TestBytes_GraphsLeadBackToTheTruth joins them
	}
	if f.Seed != nil {
		want["seed"] = strconv.FormatUint(*f.Seed, 10)
	}
	for i, m := range f.Models {
		want[fmt.Sprint("model ", i)] = m.Name
	}
	for i, p := range f.Parents {
		want[fmt.Sprint("parent ", i)] = p
	}
	for what, value := range want {
		if !strings.Contains(text, value) && !strings.Contains(text, jsonEscaped(value)) && !strings.Contains(text, jsonASCII(value)) {
			t.Errorf("%s (%s): the %s %q is not in the file", f.Path, f.Writer, what, value)
		}
	}
}

func jsonEscaped(s string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a string always encodes
	return strings.Trim(strings.TrimSpace(b.String()), `"`)
}

func jsonASCII(s string) string {
	var b strings.Builder
	for _, u := range utf16.Encode([]rune(s)) {
		if u < 0x7f {
			b.WriteString(strings.Trim(strconv.Quote(string(rune(u))), `"`))
		} else {
			fmt.Fprintf(&b, `\u%04x`, u)
		}
	}
	return b.String()
}

// apiNode is a node of the executed graph as any reader decodes it.
type apiNode struct {
	Inputs map[string]any `json:"inputs"`
	Class  string         `json:"class_type"`
}

func TestBytes_GraphsLeadBackToTheTruth(t *testing.T) {
	var forms []string
	for _, name := range Writers() {
		if strings.HasPrefix(name, "comfyui") {
			forms = append(forms, name)
		}
	}
	dir, report := write(t, Options{Count: 90, Seed: 30, MaxEdge: small, Writers: forms})
	for _, f := range report.Files {
		data, err := os.ReadFile(filepath.Join(dir, f.Path))
		if err != nil {
			t.Fatal(err)
		}
		texts, err := walkPNG(data)
		if err != nil {
			t.Fatal(err)
		}
		graph := map[string]apiNode{}
		decode(t, texts[0].value, &graph)
		var samplers []apiNode
		for id, n := range graph {
			for name, v := range n.Inputs {
				if link, ok := v.([]any); ok {
					if _, exists := graph[link[0].(string)]; !exists {
						t.Errorf("%s: input %s of node %s links to the absent node %v", f.Path, name, id, link[0])
					}
				}
			}
			if n.Class == "KSampler" || n.Class == "KSamplerAdvanced" || n.Class == "SamplerCustomAdvanced" {
				samplers = append(samplers, n)
			}
		}
		found := false
		for _, s := range samplers {
			seed, node := sampled(graph, s)
			if fmt.Sprint(seed) == fmt.Sprint(*f.Seed) && promptOf(graph, node) == f.Prompt {
				found = true
			}
		}
		if !found {
			t.Errorf("%s (%s): no sampler has the seed %d and the prompt %q", f.Path, f.Writer, *f.Seed, f.Prompt)
		}
		checkWorkflow(t, f, texts[1].value, graph)
	}
}

// sampled returns the seed of a sampler, and the node that encodes its positive prompt.
func sampled(graph map[string]apiNode, s apiNode) (seed any, node apiNode) {
	seed = s.Inputs["seed"]
	if s.Class == "KSamplerAdvanced" {
		seed = s.Inputs["noise_seed"]
	}
	positive := s.Inputs["positive"]
	if s.Class == "SamplerCustomAdvanced" {
		seed = follow(graph, s.Inputs["noise"]).Inputs["noise_seed"]
		guider := follow(graph, s.Inputs["guider"])
		if positive = guider.Inputs["positive"]; positive == nil {
			positive = follow(graph, guider.Inputs["conditioning"]).Inputs["conditioning"]
		}
	}
	node = follow(graph, positive)
	if node.Class == "ControlNetApplyAdvanced" {
		node = follow(graph, node.Inputs["positive"])
	}
	return seed, node
}

func decode(t *testing.T, text string, into any) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(into); err != nil {
		t.Fatalf("not JSON: %v", err)
	}
}

func follow(graph map[string]apiNode, link any) apiNode {
	l, ok := link.([]any)
	if !ok {
		return apiNode{}
	}
	return graph[l[0].(string)]
}

func promptOf(graph map[string]apiNode, n apiNode) string {
	if text, ok := n.Inputs["text"].(string); ok {
		return text
	}
	join := follow(graph, n.Inputs["text"])
	a, b := follow(graph, join.Inputs["string_a"]), follow(graph, join.Inputs["string_b"])
	return fmt.Sprint(a.Inputs["value"], join.Inputs["delimiter"], b.Inputs["value"])
}

// checkWorkflow checks that the links of the editor's graph agree with its
// nodes and that it has a node for every executed one.
func checkWorkflow(t *testing.T, f Truth, text string, graph map[string]apiNode) {
	t.Helper()
	var w editorGraph
	if err := json.Unmarshal([]byte(text), &w); err != nil {
		t.Fatalf("%s: workflow: %v", f.Path, err)
	}
	inner := 0
	w.checkLinks(t, f)
	for _, sub := range w.Defs.Subgraphs {
		insides := map[int]editorNode{}
		for _, n := range sub.Nodes {
			insides[n.ID] = n
		}
		inner += len(sub.Nodes) - 1 // the host stands for them
		sub.check(t, f, insides)
	}
	if got := len(w.Nodes) + inner; got != len(graph) {
		t.Errorf("%s (%s): the editor's graph has %d nodes, %d were executed", f.Path, f.Writer, got, len(graph))
	}
}

// socket is an input or an output of a node, with its link or links.
type socket struct {
	Name  string
	Link  *int
	Links []int
}

// editorNode is a node of a graph, or of a subgraph.
type editorNode struct {
	ID              int
	Type            string
	Inputs, Outputs []socket
	Values          []any `json:"widgets_values"`
}

// subgraph is a graph that a node of the editor stands for.
type subgraph struct {
	ID              string
	Nodes           []editorNode
	Inputs, Outputs []struct {
		LinkIDs []int `json:"linkIds"`
	}
	Links []struct {
		ID         int
		OriginID   int `json:"origin_id"`
		OriginSlot int `json:"origin_slot"`
		TargetID   int `json:"target_id"`
		TargetSlot int `json:"target_slot"`
	}
}

// editorGraph is a graph as ComfyUI's editor writes it.
type editorGraph struct {
	LastNode int `json:"last_node_id"`
	LastLink int `json:"last_link_id"`
	Nodes    []editorNode
	Links    [][]any
	Defs     struct {
		Subgraphs []subgraph
	} `json:"definitions"`
}

// checkLinks checks that the links of the graph agree with its nodes, subgraphs left aside.
func (w editorGraph) checkLinks(t *testing.T, f Truth) {
	t.Helper()
	nodes := map[int]editorNode{}
	for _, n := range w.Nodes {
		nodes[n.ID] = n
		if n.ID > w.LastNode {
			t.Errorf("%s: node %d is beyond last_node_id %d", f.Path, n.ID, w.LastNode)
		}
	}
	number := func(v any) int { return int(v.(float64)) }
	for _, l := range w.Links {
		id, from, slot, to, index := number(l[0]), number(l[1]), number(l[2]), number(l[3]), number(l[4])
		if id > w.LastLink {
			t.Errorf("%s: link %d is beyond last_link_id %d", f.Path, id, w.LastLink)
		}
		if got := nodes[to].Inputs[index].Link; got == nil || *got != id {
			t.Errorf("%s (%s): link %d ends at input %d of node %d, which knows %v", f.Path, f.Writer, id, index, to, got)
		}
		if !has(nodes[from].Outputs[slot].Links, id) {
			t.Errorf("%s (%s): link %d starts at output %d of node %d, which does not know it", f.Path, f.Writer, id, slot, from)
		}
	}
}

// check checks that the links within a subgraph agree with its sockets and with its nodes.
func (sub subgraph) check(t *testing.T, f Truth, insides map[int]editorNode) {
	t.Helper()
	for _, l := range sub.Links {
		if l.OriginID == -10 && !has(sub.Inputs[l.OriginSlot].LinkIDs, l.ID) {
			t.Errorf("%s: subgraph input %d does not know link %d", f.Path, l.OriginSlot, l.ID)
		}
		if l.TargetID == -20 && !has(sub.Outputs[l.TargetSlot].LinkIDs, l.ID) {
			t.Errorf("%s: subgraph output %d does not know link %d", f.Path, l.TargetSlot, l.ID)
		}
		if n, ok := insides[l.TargetID]; ok && (n.Inputs[l.TargetSlot].Link == nil || *n.Inputs[l.TargetSlot].Link != l.ID) {
			t.Errorf("%s: inner link %d is unknown to its target", f.Path, l.ID)
		}
	}
}

func has(list []int, id int) bool {
	for _, v := range list {
		if v == id {
			return true
		}
	}
	return false
}
