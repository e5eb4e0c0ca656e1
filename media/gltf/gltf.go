// Package gltf reads binary glTF 2.0 files (GLB): what they say of their scene, and a picture of it.
//
// In comes a file that strangers have made; out come facts such as the number of its vertices, and pixels.
// Pictures are drawn by the processor alone: no graphics card, no other program. The package draws triangles
// with their base colors, textures, normals and skins, as they rest; it does not decompress meshes (Draco,
// meshopt), does not follow references to other files and does not play animations.
package gltf

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"

	"vitrine/internal/jsonscan"
)

// ErrNothing reports a file of which no picture can be drawn, although it may be sound: what it returns with says why.
var ErrNothing = errors.New("the 3D model cannot be drawn")

// errDamaged reports a file that contradicts itself.
var errDamaged = errors.New("the 3D model is damaged")

// Limits of what is read of a file. Those of a list bound what a few bytes of JSON can make this process allocate.
const (
	maxDocument = 16 << 20 // bytes of JSON
	maxList     = 1 << 16  // elements of each list that is read
)

// DocumentCost returns how many bytes reading the document of a file takes at most, by the file's first 20 bytes.
func DocumentCost(head []byte) int64 {
	if len(head) < 20 {
		return 0
	}
	// Two bytes can make an element of a list; lists are bounded, and so is the document.
	n := int64(binary.LittleEndian.Uint32(head[12:]))
	return 64<<10 + min(n, maxDocument)*3 + min(n*80, 64<<20)
}

type document struct {
	asset struct {
		Version   string `json:"version"`
		Generator string `json:"generator"`
		Copyright string `json:"copyright"`
	}
	required, used []string
	scene          int
	scenes         []scene
	nodes          []node
	meshes         []mesh
	accessors      []accessor
	views          []bufferView
	materials      []material
	textures       []texture
	images         []picture
	skins          []skin
	animations     int
	lights, camera int
}

type scene struct {
	Nodes []int `json:"nodes"`
}

type node struct {
	Mesh        *int        `json:"mesh"`
	Skin        *int        `json:"skin"`
	Children    []int       `json:"children"`
	Matrix      *matrix     `json:"matrix"`
	Translation [3]float64  `json:"translation"`
	Rotation    *[4]float64 `json:"rotation"`
	Scale       *[3]float64 `json:"scale"`
}

type mesh struct {
	Primitives json.RawMessage `json:"primitives"`
	primitives []primitive
}

type primitive struct {
	Attributes map[string]int             `json:"attributes"`
	Indices    *int                       `json:"indices"`
	Material   *int                       `json:"material"`
	Mode       *int                       `json:"mode"`
	Extensions map[string]json.RawMessage `json:"extensions"`
}

type accessor struct {
	BufferView *int            `json:"bufferView"`
	ByteOffset int64           `json:"byteOffset"`
	Component  int             `json:"componentType"`
	Normalized bool            `json:"normalized"`
	Count      int64           `json:"count"`
	Type       string          `json:"type"`
	Min        []float64       `json:"min"`
	Max        []float64       `json:"max"`
	Sparse     json.RawMessage `json:"sparse"`
}

type bufferView struct {
	Buffer     int             `json:"buffer"`
	ByteOffset int64           `json:"byteOffset"`
	ByteLength int64           `json:"byteLength"`
	ByteStride int64           `json:"byteStride"`
	Extensions json.RawMessage `json:"extensions"`
}

type material struct {
	Name        string          `json:"name"`
	AlphaMode   string          `json:"alphaMode"`
	AlphaCutoff *float64        `json:"alphaCutoff"`
	Emissive    [3]float64      `json:"emissiveFactor"`
	PBR         surface         `json:"pbrMetallicRoughness"`
	Extensions  json.RawMessage `json:"extensions"`
}

type surface struct {
	Color     *[4]float64 `json:"baseColorFactor"`
	Texture   *textureRef `json:"baseColorTexture"`
	Metallic  *float64    `json:"metallicFactor"`
	Roughness *float64    `json:"roughnessFactor"`
}

type textureRef struct {
	Index    int `json:"index"`
	TexCoord int `json:"texCoord"`
}

type texture struct {
	Source *int `json:"source"`
}

type picture struct {
	BufferView *int   `json:"bufferView"`
	MIMEType   string `json:"mimeType"`
}

type skin struct {
	Joints  []int `json:"joints"`
	Inverse *int  `json:"inverseBindMatrices"`
}

// File is an open GLB file whose document was read.
type File struct {
	doc    document
	r      io.ReaderAt
	binary int64 // where the binary chunk begins
	length int64 // its bytes; 0: the file has none
}

// Is reports whether a file begins like a GLB of version 2.
func Is(head []byte) bool {
	return len(head) >= 8 && string(head[:4]) == "glTF" && binary.LittleEndian.Uint32(head[4:]) == 2
}

// Open reads the document of a GLB file, which takes DocumentCost bytes at most.
func Open(r io.ReaderAt, size int64) (*File, error) {
	head := make([]byte, 20)
	if _, err := r.ReadAt(head, 0); err != nil || !Is(head) || string(head[16:]) != "JSON" {
		return nil, fmt.Errorf("%w: it does not begin with a document", errDamaged)
	}
	n := int64(binary.LittleEndian.Uint32(head[12:]))
	switch {
	case 20+n > size:
		return nil, fmt.Errorf("%w: it ends within its document", errDamaged)
	case n > maxDocument:
		return nil, fmt.Errorf("%w: its document has %d MB, and %d MB are read", ErrNothing, n>>20, maxDocument>>20)
	}
	text := make([]byte, n)
	if _, err := r.ReadAt(text, 20); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	f := &File{r: r}
	if err := f.doc.read(string(text)); err != nil {
		return nil, err
	}
	if _, err := r.ReadAt(head[:8], 20+n); err == nil && string(head[4:8]) == "BIN\x00" {
		f.binary = 28 + n
		f.length = min(int64(binary.LittleEndian.Uint32(head)), size-f.binary)
	}
	return f, nil
}

// read reads the members of a document that are known here.
func (d *document) read(text string) error {
	r := jsonscan.NewText(text)
	d.scene = -1
	lists := map[string]func(raw string) error{
		"scenes": into(&d.scenes), "nodes": into(&d.nodes), "meshes": into(&d.meshes), "accessors": into(&d.accessors), "bufferViews": into(&d.views), "materials": into(&d.materials),
		"textures": into(&d.textures), "images": into(&d.images), "skins": into(&d.skins), "extensionsRequired": into(&d.required), "extensionsUsed": into(&d.used),
		"animations": count(&d.animations), "cameras": count(&d.camera),
		"asset": func(raw string) error { return json.Unmarshal([]byte(raw), &d.asset) },
		"scene": func(raw string) error { return json.Unmarshal([]byte(raw), &d.scene) },
	}
	err := r.Object(func(key string) error {
		raw, err := r.Raw()
		if read := lists[key]; err == nil && read != nil {
			err = read(raw)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("%w: its document: %w", errDamaged, err)
	}
	left := maxList // of all meshes together
	for i := range d.meshes {
		if err := into(&d.meshes[i].primitives)(string(d.meshes[i].Primitives)); err != nil {
			return fmt.Errorf("%w: a mesh: %w", errDamaged, err)
		}
		d.meshes[i].Primitives = nil
		if left -= len(d.meshes[i].primitives); left < 0 {
			return errLong
		}
	}
	return nil
}

// errLong reports more than is read.
var errLong = fmt.Errorf("%w: it has lists of more than %d elements", ErrNothing, maxList)

// into returns a function that reads a list.
func into[T any](list *[]T) func(raw string) error {
	return func(raw string) error {
		return each(raw, func(raw string) error {
			var v T
			*list = append(*list, v)
			return json.Unmarshal([]byte(raw), &(*list)[len(*list)-1])
		})
	}
}

// count returns a function that counts the elements of a list.
func count(n *int) func(raw string) error {
	return func(raw string) error { return each(raw, func(string) error { *n++; return nil }) }
}

func each(raw string, element func(raw string) error) error {
	if raw == "" {
		return nil
	}
	r, n := jsonscan.NewText(raw), 0
	return r.Array(func() error {
		one, err := r.Raw()
		if n++; err == nil && n > maxList {
			err = errLong
		}
		if err == nil {
			err = element(one)
		}
		return err
	})
}

// at returns an element of a list, nil for an index that is none.
func at[T any](list []T, i int) *T {
	if i < 0 || i >= len(list) {
		return nil
	}
	return &list[i]
}

// finite reports whether numbers are some.
func finite(list ...float64) bool {
	for _, v := range list {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return false
		}
	}
	return true
}
