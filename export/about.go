package export

import (
	"io"
	"strings"

	"vitrine/library"
	"vitrine/media/extract/container"
	"vitrine/media/strip"
	"vitrine/store"
)

// About is what may be said of an asset where it is exported. Nothing of it is guessed.
type About struct {
	SourceType string // IPTC's term, where the file was generated
	System     string // what generated it
	Creator    string // as the file or its uploader names them
	Rights     string
	License    string // the address of a license, or its name
}

// describe returns what an export may say of an asset.
func describe(d store.AssetDetail, r io.ReaderAt, spec library.ExportSpec) About {
	a := AboutAsset(d.Asset, d.Lineage)
	if spec.Creator && (a.Creator == "" || a.Rights == "") {
		if f, err := container.Read(r, d.Asset.Size); err == nil {
			a.Creator = firstOf(a.Creator, f, "dc:creator", "By-line", "Artist")
			a.Rights = firstOf(a.Rights, f, "dc:rights", "CopyrightNotice", "Copyright")
		}
	}
	return a
}

func firstOf(have string, f container.File, keys ...string) string {
	for _, key := range keys {
		if c, ok := f.Text(key); ok && have == "" {
			have = strings.TrimSpace(c.Text)
		}
	}
	return have
}

// AboutAsset returns what the library knows without the file. The digital source type is the
// one that content credentials state, or else that of generated media where the file says
// how it was generated.
func AboutAsset(asset library.Asset, l library.Lineage) About {
	a := About{Creator: textOf(asset.Metadata, "creator"), Rights: textOf(asset.Metadata, "copyright"), License: textOf(asset.Metadata, "license")}
	if a.Rights == "" {
		a.Rights = textOf(asset.Metadata, "rights")
	}
	switch {
	case l.C2PA != nil && strings.HasPrefix(l.C2PA.SourceType, strip.SourceTypes):
		a.SourceType = l.C2PA.SourceType
	case l.HasGenerationData() || l.ImageTool != nil:
		a.SourceType = strip.SourceTypes + "trainedAlgorithmicMedia"
	}
	if a.SourceType != "" && l.Tool != "" {
		a.System = strings.TrimSpace(l.Tool + " " + l.ToolVersion)
	}
	return a
}

func textOf(metadata map[string]any, name string) string {
	s, _ := metadata[name].(string)
	return strings.TrimSpace(s)
}

// disclosure returns what is written into a file.
func (a About) disclosure(spec library.ExportSpec) *strip.Disclosure {
	d := &strip.Disclosure{}
	if spec.Disclosure {
		d.SourceType, d.AISystem = a.SourceType, a.System
	}
	if spec.Creator {
		d.Creator, d.Rights = a.Creator, a.Rights
	}
	return d
}
