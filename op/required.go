package op

import (
	"strings"

	"vitrine/library"
)

// requiredErrors checks what Meta.AnyOf and Meta.OneOf require of a call's arguments.
func (o Operation) requiredErrors(args map[string]any) []library.FieldError {
	if len(o.AnyOf) > 0 && len(sent(o.AnyOf, args)) == 0 {
		return []library.FieldError{{Field: o.AnyOf[0], Code: "required",
			Message: "At least one of " + enumerate(o.AnyOf, "and") + " is required.", Hint: "Send the fields to change."}}
	}
	if len(o.OneOf) == 0 {
		return nil
	}
	rule := "Exactly one of " + enumerate(o.OneOf, "and") + " is required, and "
	switch names := sent(o.OneOf, args); len(names) {
	case 0:
		return []library.FieldError{{Field: o.OneOf[0], Code: "required", Message: rule + "none was sent."}}
	case 1:
		return nil
	default:
		return []library.FieldError{{Field: names[1], Code: "conflict", Message: rule + enumerate(names, "and") + " were sent."}}
	}
}

func sent(names []string, args map[string]any) (list []string) {
	for _, name := range names {
		if args[name] != nil {
			list = append(list, name)
		}
	}
	return list
}

// enumerate joins names as a sentence does: a, b and c.
func enumerate(names []string, last string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " " + last + " " + names[len(names)-1]
}
