package strip

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"io"
	"slices"
	"strings"
)

// gltfMetadata are the extensions that hold metadata alone.
var gltfMetadata = []string{"KHR_xmp_json_ld", "KHR_xmp"}

// planGLB rewrites the description of a binary glTF without metadata. Pictures within are
// stripped in their place; what stands behind the last chunk that is known goes.
func planGLB(in input, e edit) (*plan, error) {
	head, err := in.bytes(0, 20)
	if err != nil {
		return nil, err
	}
	n := int64(binary.LittleEndian.Uint32(head[12:]))
	if string(head[16:20]) != "JSON" {
		return nil, damaged("its first chunk is no description")
	}
	text, err := in.bytes(20, n)
	if err != nil {
		return nil, err
	}
	p := &plan{}
	g := &gltf{in: in, edit: e, plan: p}
	if off := 20 + n; off+8 <= in.size {
		bin, err := in.bytes(off, 8)
		if err != nil {
			return nil, err
		}
		if string(bin[4:]) == "BIN\x00" {
			g.bin, g.binSize = off+8, min(int64(binary.LittleEndian.Uint32(bin)), in.size-off-8)
		}
		if end := max(off, g.bin+g.binSize); end+3 < in.size {
			p.drop("chunks behind the data")
		}
	}
	text, err = g.rewrite(bytes.TrimRight(text, "\x00 "))
	if err != nil {
		return nil, err
	}
	for len(text)%4 != 0 {
		text = append(text, ' ')
	}
	total, padding := int64(20+len(text)), (4-g.binSize%4)%4
	if g.bin > 0 {
		total += 8 + g.binSize + padding
	}
	front := binary.LittleEndian.AppendUint32([]byte("glTF\x02\x00\x00\x00"), uint32(total))
	front = append(binary.LittleEndian.AppendUint32(front, uint32(len(text))), "JSON"...)
	p.put(append(front, text...))
	if g.bin > 0 {
		p.put(append(binary.LittleEndian.AppendUint32(nil, uint32(g.binSize+padding)), "BIN\x00"...))
		g.data()
		p.zeros(padding)
	}
	return p, nil
}

// planGLTF rewrites a glTF of text.
func planGLTF(in input, e edit) (*plan, error) {
	text, err := in.bytes(0, in.size)
	if err != nil {
		return nil, err
	}
	g := &gltf{in: in, edit: e, plan: &plan{}}
	if text, err = g.rewrite(text); err != nil {
		return nil, err
	}
	g.plan.put(text)
	return g.plan, nil
}

// gltf is a model that is rewritten.
type gltf struct {
	in      input
	edit    edit
	plan    *plan
	bin     int64 // where the data begins; 0: there is none
	binSize int64
	blanks  blanks // within the data
}

// data copies the data with the pictures in it that were rewritten.
func (g *gltf) data() {
	all := &plan{}
	g.blanks.plan(all, g.bin+g.binSize)
	at := int64(0)
	for _, x := range all.parts { // the part before the data is written anew
		n := x.n
		if x.data != nil {
			n = int64(len(x.data))
		}
		if skip := g.bin - at; skip > 0 {
			x.off, x.n = x.off+min(skip, n), n-min(skip, n)
		}
		at += n
		switch {
		case x.data != nil:
			g.plan.put(x.data)
		case x.off < 0:
			g.plan.zeros(x.n)
		default:
			g.plan.copy(x.off, x.n)
		}
	}
}

// rewrite returns the description without metadata.
func (g *gltf) rewrite(text []byte) ([]byte, error) {
	if g.edit.keep == (Keep{Generation: true, EXIF: true, GPS: true, IPTC: true}) {
		return text, nil
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var doc map[string]any
	if d.Decode(&doc) != nil {
		return nil, damaged("its description is no JSON object")
	}
	if asset, ok := doc["asset"].(map[string]any); ok {
		for name := range asset {
			if name != "version" && name != "minVersion" {
				g.plan.drop("asset." + name)
				delete(asset, name)
			}
		}
	}
	for _, list := range []string{"extensionsUsed", "extensionsRequired"} {
		if names, ok := doc[list].([]any); ok {
			doc[list] = slices.DeleteFunc(names, func(n any) bool { s, _ := n.(string); return slices.Contains(gltfMetadata, s) })
			if len(doc[list].([]any)) == 0 {
				delete(doc, list)
			}
		}
	}
	g.clean(doc)
	if err := g.images(doc); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	w := json.NewEncoder(&out)
	w.SetEscapeHTML(false)
	err := w.Encode(doc)
	return bytes.TrimRight(out.Bytes(), "\n"), err
}

// clean removes extras, and extensions of metadata, at any depth.
func (g *gltf) clean(v any) {
	switch x := v.(type) {
	case map[string]any:
		for name, inner := range x {
			if name == "extras" || slices.Contains(gltfMetadata, name) {
				g.plan.drop(name)
				delete(x, name)
				continue
			}
			g.clean(inner)
		}
	case []any:
		for _, inner := range x {
			g.clean(inner)
		}
	}
}

// images strips the pictures that a model brings with it.
func (g *gltf) images(doc map[string]any) error {
	list, _ := doc["images"].([]any)
	for _, one := range list {
		image, _ := one.(map[string]any)
		if uri, ok := image["uri"].(string); ok {
			clean, err := g.dataURI(uri)
			if err != nil {
				return err
			}
			image["uri"] = clean
			continue
		}
		if at, ok := index(image["bufferView"]); ok {
			if err := g.view(doc, at); err != nil {
				return err
			}
		}
	}
	return nil
}

func index(v any) (int, bool) {
	n, ok := v.(json.Number)
	if !ok {
		return 0, false
	}
	i, err := n.Int64()
	return int(i), err == nil && i >= 0 && i < maxBoxes
}

// strip returns a picture without metadata.
func (g *gltf) strip(r io.ReaderAt, size int64) ([]byte, error) {
	var out bytes.Buffer
	res, err := Write(g.in.ctx, &out, r, size, Options{Keep: g.edit.keep})
	for _, name := range res.Removed {
		g.plan.drop("image " + name)
	}
	return out.Bytes(), err
}

func (g *gltf) dataURI(uri string) (string, error) {
	head, data, ok := strings.Cut(uri, ";base64,")
	if !ok || !strings.HasPrefix(head, "data:image/") {
		if strings.HasPrefix(uri, "data:") {
			return "", &Error{CodeUnsupported, "The model holds a picture in a form that cannot be stripped."}
		}
		return uri, nil
	}
	raw, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		return "", damaged("a picture in it is not base64")
	}
	clean, err := g.strip(bytes.NewReader(raw), int64(len(raw)))
	return head + ";base64," + base64.StdEncoding.EncodeToString(clean), err
}

// view strips a picture in the data. It becomes shorter, or stays as long, in its place.
func (g *gltf) view(doc map[string]any, at int) error {
	views, _ := doc["bufferViews"].([]any)
	if at >= len(views) {
		return damaged("a picture names a part that does not exist")
	}
	view, _ := views[at].(map[string]any)
	off, _ := index64(view["byteOffset"])
	n, ok := index64(view["byteLength"])
	if buffer, _ := index64(view["buffer"]); buffer != 0 || g.bin == 0 {
		return &Error{CodeUnsupported, "The model holds a picture outside of its own data, which cannot be stripped."}
	}
	if !ok || off > g.binSize || n > g.binSize-off {
		return damaged("a picture reaches beyond its data")
	}
	clean, err := g.strip(g.in.section(g.bin+off, n), n)
	if err != nil {
		return err
	}
	if int64(len(clean)) > n {
		return &Error{CodeUnsupported, "A picture in the model would become larger without its metadata. Export the model with the preset archive."}
	}
	g.blanks.put(g.bin+off, append(clean, make([]byte, n-int64(len(clean)))...))
	view["byteLength"] = len(clean)
	return nil
}

func index64(v any) (int64, bool) {
	n, ok := v.(json.Number)
	if !ok {
		return 0, false
	}
	i, err := n.Int64()
	return max(0, i), err == nil && i >= 0
}
