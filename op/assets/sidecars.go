package assets

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"vitrine/library"
	"vitrine/media/extract"
)

// sidecarInput is a file that lay beside the stored one and tells of its making.
type sidecarInput struct {
	Filename string `json:"filename" minLength:"1" maxLength:"1024" doc:"Its name, for example fox.json."`
	Text     string `json:"text,omitempty" doc:"Its content as text. Exactly one of text and data_base64 is required."`
	Base64   string `json:"data_base64,omitempty" doc:"Its content in base64."`
}

// maxSidecars bounds all sidecars of one file together, in bytes.
const maxSidecars = 2 << 20

// sidecarKinds are the endings of the files that generators put beside their own;
// the picture is the first frame of a video.
var sidecarKinds = []string{".json", ".txt", ".xmp", ".yaml", ".yml", ".png"}

// readSidecars decodes sidecars, or says what is wrong with each.
func readSidecars(sent []sidecarInput) ([]extract.Sidecar, []library.FieldError) {
	var out []extract.Sidecar
	var errs []library.FieldError
	size := 0
	for i, s := range sent {
		field := fmt.Sprintf("sidecars[%d]", i)
		name := library.CleanFilename(s.Filename)
		data, libErr := s.content(field)
		switch {
		case libErr != nil:
			errs = append(errs, *libErr)
		case !slices.Contains(sidecarKinds, strings.ToLower(path.Ext(name))):
			errs = append(errs, library.FieldError{Field: field + ".filename", Code: "enum",
				Message: "Expected a name that ends in .json, .txt, .xmp, .yaml or .yml, or in .png for the first frame of a video."})
		}
		size += len(data)
		out = append(out, extract.Sidecar{Name: name, Data: data})
	}
	if size > maxSidecars {
		errs = append(errs, library.FieldError{Field: "sidecars", Code: "length", Message: "Sidecars have at most 2 MB together.",
			Hint: "For an image only the metadata is needed; its pixels are ignored."})
	}
	return out, errs
}

func (s sidecarInput) content(field string) ([]byte, *library.FieldError) {
	switch {
	case (s.Text == "") == (s.Base64 == ""):
		return nil, &library.FieldError{Field: field, Code: "required", Message: "Exactly one of text and data_base64 is required."}
	case s.Text != "":
		return []byte(s.Text), nil
	}
	data, err := decodeBase64(s.Base64)
	if err != nil {
		return nil, &library.FieldError{Field: field + ".data_base64", Code: "format", Message: "Expected base64; " + err.Error() + "."}
	}
	return data, nil
}
