package mappings

import (
	"strconv"
	"strings"

	"vitrine/library"
)

// NormTag is the form of a tag in tags_norm: underscores read as blanks, so
// red_hair and "red hair" are one tag to a search.
func NormTag(tag string) string {
	return library.FoldTag(strings.ReplaceAll(tag, "_", " "))
}

// NodeProp is one scalar input of a workflow node in gt_node_props, for example
// "KSampler.cfg=7". It is empty for a value too long to be worth searching whole.
func NodeProp(class, input, value string) string {
	if len(value) >= MaxNodeValue {
		return ""
	}
	return class + "." + input + "=" + CanonicalNumber(value)
}

// Param is one generation setting in params, next to its bare value.
func Param(key, value string) string { return key + "=" + CanonicalNumber(value) }

// WeightPair is one model and its weight in model_weight_pairs: "name=0.80".
func WeightPair(name string, weight float64) string {
	return library.FoldModelName(name) + "=" + strconv.FormatFloat(weight, 'f', 2, 64)
}

// CanonicalNumber writes a decimal number in its shortest form, so that 7, 7.0
// and 7.00 are one value to a search. Anything else comes back unchanged, as do
// numbers of more than 15 digits, which a float would round.
func CanonicalNumber(s string) string {
	if len(s) == 0 || len(s) > 15 || strings.Trim(s, "0123456789.-") != "" {
		return s
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return s
	}
	return strconv.FormatFloat(f, 'f', -1, 64)
}

// The media types that MediaType returns.
const (
	MediaImage    = "image"
	MediaVideo    = "video"
	MediaAudio    = "audio"
	MediaModel3D  = "model3d"
	MediaDocument = "document"
	MediaOther    = "other"
)

var mediaTypes = []string{MediaImage, MediaVideo, MediaAudio, MediaModel3D, MediaDocument, MediaOther}

// MediaType sorts a MIME type into the few classes that people filter by.
func MediaType(mime string) string {
	class, sub, _ := strings.Cut(strings.ToLower(mime), "/")
	switch class {
	case "image", "video", "audio":
		return class
	case "model":
		return MediaModel3D
	case "text":
		return MediaDocument
	}
	if sub == "pdf" || sub == "json" {
		return MediaDocument
	}
	return MediaOther
}

// OriginalValues are the states of files that are referenced in place.
var OriginalValues = []string{"in_place", "changed", "missing"}

// OriginalValue returns the value of the field original for a state of the store; empty for
// files that are not referenced in place.
func OriginalValue(state string) string {
	if state == "intact" {
		return OriginalValues[0]
	}
	return state
}

// CollectionRank returns how a document keeps the rank that the asset has in a collection,
// which is named by its path or its collection_h: what comes behind CollectionRank(name, "")
// sorts assets by their position.
func CollectionRank(name, rank string) string { return name + "/" + rank }
