package embed

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// wordpiece splits text into the tokens of a BERT vocabulary. The names of the
// special tokens mean nothing in a text: no text can end its own sequence.
type wordpiece struct {
	whole map[string]int32 // words and beginnings of words
	rest  map[string]int32 // continuations, without their "##"

	start, end, unknown int32
	limit               int  // tokens of a sequence, with start and end
	keepCase            bool // also keeps accents
	longest             int  // bytes of the longest entry
}

// maxWordRunes is the length from which on a word is unknown as a whole.
const maxWordRunes = 100

// readVocabulary reads vocab.txt: one token per line, its number is the line's.
func readVocabulary(r io.Reader, limit int, keepCase bool) (*wordpiece, error) {
	w := &wordpiece{whole: map[string]int32{}, rest: map[string]int32{}, limit: limit, keepCase: keepCase}
	var n int32
	for s := bufio.NewScanner(r); ; n++ {
		if !s.Scan() {
			if err := s.Err(); err != nil {
				return nil, err
			}
			break
		}
		token := s.Text()
		if part, ok := strings.CutPrefix(token, "##"); ok && part != "" {
			w.rest[part] = n
		} else {
			w.whole[token] = n
		}
		w.longest = max(w.longest, len(token))
	}
	for name, id := range map[string]*int32{"[CLS]": &w.start, "[SEP]": &w.end, "[UNK]": &w.unknown} {
		n, ok := w.whole[name]
		if !ok {
			return nil, fmt.Errorf("the vocabulary has no %s", name)
		}
		*id = n
	}
	return w, nil
}

// encode returns the token numbers of a text, start and end included. What is
// beyond the limit is left out.
func (w *wordpiece) encode(text string) []int32 {
	ids := make([]int32, 1, min(w.limit, len(text)/3+2))
	ids[0] = w.start
	room := w.limit - 1
	words(text, w.keepCase, func(word string) bool {
		ids = w.split(ids, word)
		return len(ids) < room
	})
	return append(ids[:min(len(ids), room)], w.end)
}

// split appends the tokens of one word: always the longest that fits next. A
// word that the vocabulary cannot spell is unknown as a whole.
func (w *wordpiece) split(ids []int32, word string) []int32 {
	if id, ok := w.whole[word]; ok {
		return append(ids, id)
	}
	if len(word) > maxWordRunes && len([]rune(word)) > maxWordRunes {
		return append(ids, w.unknown)
	}
	before, entries := len(ids), w.whole
	for at := 0; at < len(word); {
		id, n := w.longestAt(entries, word[at:])
		if n == 0 {
			return append(ids[:before], w.unknown)
		}
		ids = append(ids, id)
		at += n
		entries = w.rest
	}
	return ids
}

func (w *wordpiece) longestAt(entries map[string]int32, s string) (id int32, length int) {
	for n := min(len(s), w.longest); n > 0; n-- {
		if id, ok := entries[s[:n]]; ok {
			return id, n
		}
	}
	return 0, 0
}
