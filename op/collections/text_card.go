package collections

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"vitrine/library"
	"vitrine/op"
	"vitrine/store"
)

// maxBullet is how many characters a bullet may have.
const maxBullet = 500

// emptyCard is what is wrong with a card without a text, or nothing.
func emptyCard(c library.TextCard) []library.FieldError {
	var errs []library.FieldError
	if strings.TrimSpace(c.Heading+c.Body+c.AccentText+strings.Join(c.Bullets, "")) == "" {
		errs = append(errs, library.FieldError{Field: "heading", Code: "required", Message: "A text card needs at least one of heading, body, bullets and accent_text."})
	}
	for i, b := range c.Bullets {
		if utf8.RuneCountInString(b) > maxBullet {
			errs = append(errs, library.FieldError{Field: fmt.Sprintf("bullets[%d]", i), Code: "length", Message: "A bullet has at most 500 characters."})
		}
	}
	return errs
}

// cardOutput is a text card as a write left it.
type cardOutput struct {
	CardH    string                 `json:"card_h"`
	Hash     library.CollectionHash `json:"collection_h"`
	Position int                    `json:"position" doc:"0-based, among assets and text cards."`
	Card     library.TextCard       `json:"card"`
	op.Undoable
	version int64
}

// ResourceVersion implements op.Versioned.
func (o cardOutput) ResourceVersion() int64 { return o.version }

func describeCard(c store.CardChange) cardOutput {
	return cardOutput{CardH: c.ID, Hash: c.Collection.Hash, Position: c.Position, Card: c.Card, Undoable: op.Undoable{OperationID: c.OperationID}, version: c.Version}
}
