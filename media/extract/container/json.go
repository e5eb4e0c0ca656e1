package container

import (
	"strings"

	"vitrine/internal/jsonscan"
)

// maxDocument bounds a JSON document that is read; reading copies it.
const maxDocument = 16 << 20

// members calls visit with the members of a JSON object as they are written, in
// their order. It is false for what is no object, after the members that precede
// the error.
func members(object string, visit func(key, raw string)) bool {
	object = strings.TrimPrefix(object, "\ufeff")
	if !strings.HasPrefix(strings.TrimLeft(object, " \t\r\n"), "{") {
		return false
	}
	r := jsonscan.NewText(object)
	return r.Object(func(key string) error {
		raw, err := r.Raw()
		if err == nil {
			visit(key, raw)
		}
		return err
	}) == nil
}

// jsonFields calls visit with the members of a JSON object in their order: strings
// without their quotes, everything else as it is written. It does nothing for
// what is no object.
func jsonFields(object string, visit func(key, text string)) {
	members(object, func(key, raw string) {
		if strings.HasPrefix(raw, `"`) {
			if s, err := jsonscan.NewText(raw).Text(); err == nil {
				raw = s
			}
		}
		visit(key, raw)
	})
}
