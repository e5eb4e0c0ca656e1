package formats

import (
	"strings"

	"vitrine/media/extract/container"
)

const (
	maxEntries = 2000     // entries per file; hostile files hold millions of tiny chunks
	maxNesting = 4        // how deep an entry may be wrapped in entries and JSON strings
	maxJSON    = 32 << 20 // bytes of one entry read as JSON
	maxLines   = 1 << 20  // bytes of a text that are searched for patterns
)

// Source is a file's chunks as the formats look at them: entries wrapped in
// other entries are unwrapped, JSON is parsed on first use.
type Source struct {
	File     container.File
	Filename string
	Entries  []*Entry
}

// Entry is one chunk, or one part of a chunk that holds several.
type Entry struct {
	Place string // "png:tEXt:parameters", "jpeg:exif:UserComment:Comment"
	Key   string // "parameters", "UserComment"; a part's own name
	Text  string

	graph  bool // looks like a ComfyUI graph
	parsed bool
	prompt bool // a text whose prompt is a JSON object, not a JSON document
	object object
	used   bool
}

// asObject returns the entry parsed as a JSON object, nil when it is none.
func (r *Entry) asObject() object {
	if !r.parsed {
		r.parsed = true
		r.object = parseObject(r.Text)
	}
	return r.object
}

// Open returns the entries of a file.
func Open(file container.File) *Source {
	s := &Source{File: file}
	for _, c := range file.Chunks {
		s.add(c.Place+":"+c.Key, plainKey(c), c.Text, 0)
	}
	return s
}

// plainKey returns a chunk's name without XMP's namespace: "exif:UserComment" in
// XMP is what "UserComment" is in EXIF.
func plainKey(c container.Chunk) string {
	if strings.HasSuffix(c.Place, "xmp") {
		return c.Key[strings.LastIndexByte(c.Key, ':')+1:]
	}
	return c.Key
}

// Get returns the first unused entry with one of these keys, without regard to case.
func (s *Source) Get(keys ...string) *Entry {
	for _, key := range keys {
		for _, r := range s.Entries {
			if !r.used && strings.EqualFold(r.Key, key) {
				return r
			}
		}
	}
	return nil
}

// text returns an entry's text by key, used or not, or "".
func (s *Source) text(key string) string {
	for _, r := range s.Entries {
		if strings.EqualFold(r.Key, key) {
			return r.Text
		}
	}
	return ""
}

// find returns the first unused entry whose JSON object satisfies is. The
// marker must occur in the text, which spares parsing every text for every
// writer; graphs are passed over.
func (s *Source) find(marker string, is func(object) bool) *Entry {
	for _, r := range s.Entries {
		if r.used || !strings.Contains(r.Text, marker) || r.graph {
			continue
		}
		if o := r.asObject(); o != nil && is(o) {
			return r
		}
	}
	return nil
}

// looksLikeGraph reports whether a text may be a ComfyUI graph, without parsing it.
func looksLikeGraph(text string) bool {
	return strings.Contains(text, `"class_type"`) || strings.Contains(text, `"nodes"`) && strings.Contains(text, `"links"`)
}

// hasGraph reports whether the file carries a ComfyUI graph.
func (s *Source) hasGraph() bool {
	for _, r := range s.Entries {
		if r.graph {
			return true
		}
	}
	return false
}

// markUsed marks entries as read.
func (s *Source) markUsed(entries ...*Entry) {
	for _, r := range entries {
		if r != nil {
			r.used = true
		}
	}
}

// Unused returns the entries that no format recognised.
func (s *Source) Unused() []*Entry {
	var left []*Entry
	for _, r := range s.Entries {
		if !r.used {
			left = append(left, r)
		}
	}
	return left
}

func (s *Source) add(place, key, text string, depth int) {
	text = strings.Trim(text, "\x00\ufeff")
	if text == "" || depth > maxNesting || len(s.Entries) >= maxEntries {
		return
	}
	if inner, ok := unquoteJSON(text); ok {
		text = inner
	}
	if name, rest, ok := cutGraphPrefix(text); ok {
		key, text = name, rest
	}
	r := &Entry{Place: place, Key: key, Text: text, graph: looksLikeGraph(text)}
	s.Entries = append(s.Entries, r)
	if r.prompt = settingsFollow(text); r.prompt {
		r.parsed = true // as no object
		return
	}
	s.unwrap(r, depth)
}

// cutGraphPrefix splits "workflow:{…}", the form in which graphs stand in EXIF
// tags. Writers put the two graphs in different tags, so only the prefix tells
// them apart.
func cutGraphPrefix(text string) (name, rest string, ok bool) {
	name, rest, ok = strings.Cut(text, ":")
	if !ok || len(name) > 20 {
		return "", "", false
	}
	name = strings.ToLower(strings.TrimSpace(name))
	rest = strings.TrimSpace(rest)
	if name != "prompt" && name != "workflow" && name != "parameters" {
		return "", "", false
	}
	if inner, quoted := unquoteJSON(rest); quoted {
		rest = inner
	}
	return name, rest, looksLikeObject(rest)
}

// carried are the chunk names that writers and converters also use as members of
// one JSON object when a container offers a single text field.
var carried = map[string]bool{
	"prompt": true, "workflow": true, "parameters": true, "Comment": true, "Description": true,
	"Software": true, "Source": true, "Title": true, "UserComment": true,
	"invokeai_metadata": true, "invokeai_graph": true, "invokeai_workflow": true, "sd-metadata": true, "Dream": true,
	"generation_data": true, "smproj": true, "parameters-json": true, "fooocus_scheme": true,
}

// unwrap adds the parts of an entry that is an object of entries. A "prompt"
// that is plain text is a value, not an entry, and a node of a graph that
// happens to be called "prompt" is a node.
func (s *Source) unwrap(r *Entry, depth int) {
	if !mayCarry(r.Text) {
		return
	}
	parts := rawMembers(r.Text)
	for _, key := range sortedKeys(parts) {
		if !carried[key] {
			continue
		}
		inner, _ := unquoteJSON(parts[key])
		switch {
		case looksLikeObject(inner):
			if isNode(inner) {
				return
			}
			r.used = true
		case !textCarrier(parts, key):
			continue
		default:
			inner = object{"v": r.asObject()[key]}.raw("v")
		}
		s.add(r.Place+":"+key, key, inner, depth+1)
	}
}

// isNode reports whether a JSON object is one node of a graph.
func isNode(text string) bool {
	return strings.Contains(text, "class_type") && len(rawMembers(text)["class_type"]) > len(`""`)
}

// textCarrier reports whether a plain string member is a chunk of its own: only
// where its object is a bundle of chunks, which the names beside it show.
func textCarrier(parts map[string]string, key string) bool {
	switch key {
	case "Software", "Source", "Title", "Description":
		return parts["Comment"] != ""
	case "parameters", "Dream", "UserComment", "fooocus_scheme":
		return true
	}
	return false
}

func mayCarry(text string) bool {
	if !looksLikeObject(text) {
		return false
	}
	for key := range carried {
		if strings.Contains(text, `"`+key+`"`) {
			return true
		}
	}
	return false
}
