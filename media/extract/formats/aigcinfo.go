package formats

import (
	"strings"

	"vitrine/library"
)

// readAIGCInfo reads the mark by which Dreamina, Jimeng and CapCut say that a file
// was generated: {"aigc_info":{"aigc_label_type":0,"source_info":"dreamina"}}. It
// names the service and holds no prompt.
func readAIGCInfo(src *Source) (Record, bool) {
	r := src.find("aigc_info", func(o object) bool { return o.object("aigc_info") != nil })
	if r == nil {
		return Record{}, false
	}
	src.markUsed(r)
	o := r.asObject()
	tool := o.object("aigc_info").name("source_info")
	if product := o.object("data").name("product"); tool == "" {
		tool = product
	}
	if tool == "" || len(tool) > 40 {
		return Record{}, false
	}
	l := library.Lineage{Tool: strings.ToLower(tool)}
	if id := o.object("data").name("pictureId"); id != "" && id != "0" && len(id) <= 64 {
		addExtra(&l, "picture_id", id)
	}
	return Record{Lineage: l, Place: r.Place}, true
}
