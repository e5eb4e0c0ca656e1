//go:build !onnx || !linux || (!amd64 && !arm64)

package embed

import "vitrine/library"

func openONNX(Config) (Embedder, error) {
	return nil, library.Invalid(library.FieldError{Field: "embed_driver", Code: "enum",
		Message: "This program was built without the driver onnx. Use builtin, or build on Linux with: go build -tags onnx ./cmd/vitrine"})
}
