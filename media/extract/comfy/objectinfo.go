package comfy

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"vitrine/internal/jsonscan"
)

// Bounds of a description of a ComfyUI's classes.
const (
	maxObjectInfo    = 4_000_000 // values of the document: choices of a thousand files in a thousand classes
	maxObjectClasses = 50_000
)

// ErrNoObjectInfo means that a document is not what ComfyUI gives at /object_info.
var ErrNoObjectInfo = errors.New("the document is not a ComfyUI's list of node classes (/object_info)")

// FromObjectInfo turns what a ComfyUI says of its classes at /object_info into a
// class file: the widgets of each class in the order in which its editor stores
// them, and the names of its outputs. about says where the document is from.
func FromObjectInfo(doc []byte, about string) (file ClassFile, err error) {
	budget := maxObjectInfo
	info, ok := jsonscan.ParseAll(string(doc), &budget)
	if !ok || info.Kind != jsonscan.Object {
		return file, ErrNoObjectInfo
	}
	file = ClassFile{About: about, Nodes: map[string]*Class{}}
	for _, m := range info.Members {
		input := m.Val.Get("input")
		if input.Kind != jsonscan.Object || len(file.Nodes) >= maxObjectClasses {
			continue
		}
		c := &Class{Widgets: widgetsOf(input, m.Val.Get("input_order"))}
		for _, name := range m.Val.Get("output_name").List {
			c.Outputs = append(c.Outputs, strings.ToLower(name.Str()))
		}
		file.Nodes[m.Name] = c
	}
	if len(file.Nodes) == 0 {
		return file, ErrNoObjectInfo
	}
	return file, nil
}

// widgetsOf lists the inputs that the editor shows as widgets, required ones first.
func widgetsOf(input, order value) []string {
	var out []string
	for _, group := range []string{"required", "optional"} {
		inputs := input.Get(group)
		names := make([]string, 0, len(inputs.Members))
		for _, name := range order.Get(group).List {
			names = append(names, name.Str())
		}
		for _, m := range inputs.Members {
			if !slices.Contains(names, m.Name) {
				names = append(names, m.Name)
			}
		}
		for _, name := range names {
			if spec := inputs.Get(name); isWidgetSpec(spec) {
				out = append(out, name)
				if len(spec.List) > 1 && (spec.List[1].Get("image_upload").Text == "true" || spec.List[1].Get("video_upload").Text == "true") {
					out = append(out, "upload") // the button has a value too
				}
			}
		}
	}
	return out
}

// isWidgetSpec reports whether an input is a widget: a choice, a number, a text or a
// yes and no, unless it must be linked.
func isWidgetSpec(spec value) bool {
	if len(spec.List) == 0 {
		return false
	}
	if len(spec.List) > 1 {
		if o := spec.List[1]; o.Get("forceInput").Text == "true" || o.Get("rawLink").Text == "true" {
			return false
		}
	}
	if spec.List[0].Kind == jsonscan.Array {
		return true
	}
	switch spec.List[0].Str() {
	case "INT", "FLOAT", "STRING", "BOOLEAN", "COMBO":
		return true
	}
	return false
}

// Encode returns the file as it is kept in nodes.d, one class a line.
func (f ClassFile) Encode() ([]byte, error) {
	names := make([]string, 0, len(f.Nodes))
	for name := range f.Nodes {
		names = append(names, name)
	}
	slices.Sort(names)
	head, err := json.Marshal(struct {
		Pack  string `json:"pack"`
		About string `json:"about,omitempty"`
	}{f.Pack, f.About})
	if err != nil {
		return nil, err
	}
	out := append(head[:len(head)-1], ",\n\"nodes\": {\n"...)
	for i, name := range names {
		key, err := json.Marshal(name)
		if err != nil {
			return nil, err
		}
		class, err := json.Marshal(f.Nodes[name])
		if err != nil {
			return nil, fmt.Errorf("class %q: %w", name, err)
		}
		out = append(append(append(out, key...), ": "...), class...)
		if i < len(names)-1 {
			out = append(out, ',')
		}
		out = append(out, '\n')
	}
	return append(out, "}}\n"...), nil
}
