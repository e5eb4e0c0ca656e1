package writer

import (
	"strings"

	"vitrine/media/extract/container"
)

const (
	maxRecords = 2000     // records per file; hostile files hold millions of tiny chunks
	maxNesting = 4        // how deep a record may be wrapped in records and JSON strings
	maxJSON    = 32 << 20 // bytes of one record read as JSON
	maxLines   = 1 << 20  // bytes of a text that are searched for patterns
)

// Source is a file's chunks as the writers look at them: records wrapped in
// other records are unwrapped, JSON is parsed on first use.
type Source struct {
	File     container.File
	Filename string
	Records  []*Record
}

// Record is one chunk, or one part of a chunk that holds several.
type Record struct {
	Place string // "png:tEXt:parameters", "jpeg:exif:UserComment:Comment"
	Key   string // "parameters", "UserComment"; a part's own name
	Text  string

	graph   bool // looks like a ComfyUI graph
	parsed  bool
	object  object
	claimed bool
}

// asObject gives the record parsed as a JSON object, nil when it is none.
func (r *Record) asObject() object {
	if !r.parsed {
		r.parsed = true
		r.object = parseObject(r.Text)
	}
	return r.object
}

// Open lays out the records of a file.
func Open(file container.File) *Source {
	s := &Source{File: file}
	for _, c := range file.Chunks {
		s.add(c.Place+":"+c.Key, plainKey(c), c.Text, 0)
	}
	return s
}

// plainKey gives a chunk's name without XMP's namespace: "exif:UserComment" in
// XMP is what "UserComment" is in EXIF.
func plainKey(c container.Chunk) string {
	if strings.HasSuffix(c.Place, "xmp") {
		return c.Key[strings.LastIndexByte(c.Key, ':')+1:]
	}
	return c.Key
}

// Get gives the first unclaimed record with one of these keys, without regard to case.
func (s *Source) Get(keys ...string) *Record {
	for _, key := range keys {
		for _, r := range s.Records {
			if !r.claimed && strings.EqualFold(r.Key, key) {
				return r
			}
		}
	}
	return nil
}

// text gives a record's text by key, claimed or not, or "".
func (s *Source) text(key string) string {
	for _, r := range s.Records {
		if strings.EqualFold(r.Key, key) {
			return r.Text
		}
	}
	return ""
}

// find gives the first unclaimed record whose JSON object satisfies is. The
// marker must occur in the text, which spares parsing every text for every
// writer; graphs are passed over.
func (s *Source) find(marker string, is func(object) bool) *Record {
	for _, r := range s.Records {
		if r.claimed || !strings.Contains(r.Text, marker) || r.graph {
			continue
		}
		if o := r.asObject(); o != nil && is(o) {
			return r
		}
	}
	return nil
}

// looksLikeGraph tells a ComfyUI graph by its text, without parsing it.
func looksLikeGraph(text string) bool {
	return strings.Contains(text, `"class_type"`) || strings.Contains(text, `"nodes"`) && strings.Contains(text, `"links"`)
}

// hasGraph tells whether the file carries a ComfyUI graph.
func (s *Source) hasGraph() bool {
	for _, r := range s.Records {
		if r.graph {
			return true
		}
	}
	return false
}

// claim marks records as read.
func (s *Source) claim(records ...*Record) {
	for _, r := range records {
		if r != nil {
			r.claimed = true
		}
	}
}

// Unclaimed lists the records no writer recognised.
func (s *Source) Unclaimed() []*Record {
	var left []*Record
	for _, r := range s.Records {
		if !r.claimed {
			left = append(left, r)
		}
	}
	return left
}

func (s *Source) add(place, key, text string, depth int) {
	text = strings.Trim(text, "\x00\ufeff")
	if text == "" || depth > maxNesting || len(s.Records) >= maxRecords {
		return
	}
	if inner, ok := unquoteJSON(text); ok {
		text = inner
	}
	if name, rest, ok := cutGraphPrefix(text); ok {
		key, text = name, rest
	}
	r := &Record{Place: place, Key: key, Text: text, graph: looksLikeGraph(text)}
	s.Records = append(s.Records, r)
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

// unwrap adds the parts of a record that is an object of records. A "prompt"
// that is plain text is a value, not a record, and a node of a graph that
// happens to be called "prompt" is a node.
func (s *Source) unwrap(r *Record, depth int) {
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
			r.claimed = true
		case !textCarrier(parts, key):
			continue
		default:
			inner = object{"v": r.asObject()[key]}.raw("v")
		}
		s.add(r.Place+":"+key, key, inner, depth+1)
	}
}

// isNode tells whether a JSON object is one node of a graph.
func isNode(text string) bool {
	var node struct {
		Class string `json:"class_type"`
	}
	return strings.Contains(text, "class_type") && decodeJSON([]byte(text), &node) == nil && node.Class != ""
}

// textCarrier tells whether a plain string member is a chunk of its own: only
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
