package formats

import (
	"cmp"

	"vitrine/library"
	"vitrine/media/extract/c2pa"
)

// readCredentials reads C2PA content credentials: who claims to have made the
// file, and what it was made from. They hold no prompt, and none is made of them.
func readCredentials(src *Source) (Record, bool) {
	for _, chunk := range src.File.Chunks {
		if chunk.Place != "c2pa" || len(chunk.Data) == 0 {
			continue
		}
		claim, err := c2pa.Read(chunk.Data)
		if err != nil {
			return Record{Place: chunk.Key, Lineage: library.Lineage{Warnings: []string{"the content credentials could not be read"}}}, true
		}
		if claim.InstanceID == "" {
			claim.InstanceID = src.xmpInstance()
		}
		l := library.Lineage{C2PA: claim}
		for _, in := range claim.Ingredients {
			p := library.Parent{Kind: "c2pa_ingredient", Name: in.Title}
			if id := cmp.Or(in.ManifestID, in.InstanceID); id != "" {
				p.Hash = "c2pa:" + id
			}
			if p.Name != "" || p.Hash != "" {
				l.Parents = append(l.Parents, p)
			}
		}
		return Record{Lineage: l, Place: chunk.Key}, true
	}
	return Record{}, false
}

// xmpInstance returns the file's instance id where only its XMP has one.
func (s *Source) xmpInstance() string {
	for _, chunk := range s.File.Chunks {
		if chunk.Key == "xmpMM:InstanceID" {
			return chunk.Text
		}
	}
	return ""
}
