package pipeline

import (
	"fmt"
	"unicode/utf8"
)

// position names a place in a text, for people.
func position(text string, offset int) string {
	if offset >= len(text) {
		return " The problem is at its end."
	}
	return fmt.Sprintf(" The problem is at character %d.", utf8.RuneCountInString(text[:offset])+1)
}
