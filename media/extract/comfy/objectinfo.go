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
		c := &Class{}
		if !changesWidgets(input) {
			c.Widgets = widgetsOf(input, m.Val.Get("input_order"))
		}
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

// changesWidgets reports whether a class has inputs that come and go with a choice: which
// widgets a node has is then said by the node alone.
func changesWidgets(input value) bool {
	for _, group := range []string{"required", "optional"} {
		for _, m := range input.Get(group).Members {
			if len(m.Val.List) > 0 && strings.HasPrefix(m.Val.List[0].Str(), "COMFY_DYNAMIC") {
				return true
			}
		}
	}
	return false
}

// widgetsOf lists the inputs that the editor shows as widgets, required ones first. Behind
// these stand the buttons to upload a file, which have values too.
func widgetsOf(input, order value) []string {
	var out []string
	for _, group := range []string{"required", "optional"} {
		inputs := input.Get(group)
		var buttons []string
		for _, name := range inputNames(inputs, order.Get(group)) {
			spec := inputs.Get(name)
			if !isWidgetSpec(spec) {
				continue
			}
			out = append(out, name)
			if len(spec.List) > 1 {
				buttons = append(buttons, uploadButtons(spec.List[1])...)
			}
		}
		out = append(out, buttons...)
	}
	return out
}

// inputNames returns the names of a group of inputs in the order in which the class
// declares them.
func inputNames(inputs, order value) []string {
	names := make([]string, 0, len(inputs.Members))
	for _, name := range order.List {
		names = append(names, name.Str())
	}
	for _, m := range inputs.Members {
		if !slices.Contains(names, m.Name) {
			names = append(names, m.Name)
		}
	}
	return names
}

// uploadButtons returns the widgets that the editor adds for an input with these options.
func uploadButtons(options value) []string {
	switch {
	case options.Get("widgetType").Kind == jsonscan.String:
		return nil // a widget of its own kind has the button inside
	case options.Get("image_upload").Text == "true", options.Get("video_upload").Text == "true":
		return []string{"upload"}
	case options.Get("audio_upload").Text == "true":
		return []string{"audioUI", "upload"}
	}
	return nil
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
	case "INT", "FLOAT", "STRING", "BOOLEAN", "COMBO", "COLOR":
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
