package query

import "strings"

// repair turns any token list into one that the grammar accepts, and says what
// it changed. Known fields without a value become tokEmpty; unknown prefixes
// disappear, their values are text.
type repair struct {
	r       *reader
	out     []token
	open    []int // positions in out of the groups that are open
	operand bool  // an operand is complete: an operator may follow
	lone    bool  // there is nothing that operators could work on: they are text
}

func (r *reader) repair(tokens []token) []token {
	p := &repair{r: r, out: make([]token, 0, len(tokens)+2), lone: onlyOperators(tokens)}
	for i := 0; i < len(tokens); i++ { //nolint:intrange // a word may take the token behind it
		t := p.asText(tokens[i])
		switch t.kind {
		case tokField:
			p.field(t, tokens, i)
		case tokUnknown:
			p.unknown(t, tokens, i)
		case tokOpen:
			p.open = append(p.open, len(p.out))
			p.push(t, false)
		case tokClose:
			p.close(t)
		case tokAnd, tokOr:
			p.binary(t)
		case tokNot:
			p.push(t, false)
		case tokWord:
			if len(p.open) > 0 && i+1 < len(tokens) && tokens[i+1].kind == tokClose && tokens[i+1].glued && p.last() != tokField {
				t = withoutWeight(t)
			}
			switch {
			case t.text == "":
			case !p.lone && p.isPunctuation(t):
				p.skip(t)
			default:
				p.word(t, tokens, &i)
			}
		case tokPhrase:
			p.value(t)
		}
	}
	p.dropOperators()
	for len(p.open) > 0 {
		at := p.out[p.open[len(p.open)-1]].at
		w := r.warn(UnclosedParen, at, "a parenthesis is not closed; it was closed at the end")
		w.Suggestion = "add a closing )"
		p.endGroup(token{kind: tokClose, at: span{len(r.text), len(r.text)}})
		p.dropOperators()
	}
	return join(p.out)
}

// onlyOperators reports whether a text holds operators or punctuation and nothing
// beside them that says what to look for.
func onlyOperators(tokens []token) bool {
	some := false
	for _, t := range tokens {
		switch t.kind {
		case tokAnd, tokOr:
			some = true
		case tokNot:
			some = some || t.text != ""
		case tokWord:
			if !t.onlyPunctuation() {
				return false
			}
			some = true
		case tokPhrase:
			if strings.TrimFunc(t.text, isBlank) != "" {
				return false
			}
		case tokField, tokUnknown:
			return false
		}
	}
	return some
}

// asText makes a word of an operator that stands alone.
func (p *repair) asText(t token) token {
	if !p.lone || t.text == "" || t.kind != tokAnd && t.kind != tokOr && t.kind != tokNot {
		return t
	}
	w := p.r.warn(DanglingOperator, t.at, "%s has no operand and was read as a word", t.text)
	w.Suggestion = `to look for the word itself, write "` + t.text + `"`
	return token{kind: tokWord, text: t.text, at: t.at}
}

// onlyPunctuation reports whether a word has nothing that text analysis would keep.
// What was escaped was meant.
func (t token) onlyPunctuation() bool {
	return t.kind == tokWord && t.plain && !t.model && len(t.stars) == 0 && !hasWord(t.text)
}

// isPunctuation reports whether a word is punctuation that stands alone, as in
// "fox , cat". A value is what it is, but for the commas in a group of values.
func (p *repair) isPunctuation(t token) bool {
	if !t.onlyPunctuation() || p.last() == tokField {
		return false
	}
	return p.fieldHere() == nil || withoutComma(t.text) == ""
}

// skip leaves a word out, together with an operator before it.
func (p *repair) skip(t token) {
	p.r.warnForeignSyntax(t)
	switch p.last() {
	case tokAnd, tokOr, tokNot:
		if len(p.out) > 0 {
			p.push(token{kind: tokEmpty, at: t.at}, true)
		}
	}
}

// join lets each value and each group carry its field and its negation, and
// drops AND, so that the grammar sees leaves, parentheses and OR only.
func join(tokens []token) []token {
	out := tokens[:0]
	not := false
	var field *Field
	var fieldAt int
	for _, t := range tokens {
		switch t.kind {
		case tokAnd:
			continue
		case tokNot:
			not = !not
			continue
		case tokField:
			field, fieldAt = t.field, t.at.start
			continue
		case tokWord, tokPhrase, tokEmpty, tokOpen:
			if field != nil {
				t.field, t.at.start = field, fieldAt
			}
			t.not = not
			not, field = false, nil
		}
		out = append(out, t)
	}
	return out
}

func (p *repair) push(t token, operand bool) {
	p.out = append(p.out, t)
	p.operand = operand
}

func (p *repair) last() tokenKind {
	if len(p.out) == 0 {
		return tokOpen
	}
	return p.out[len(p.out)-1].kind
}

// value takes a word or phrase. An empty phrase says nothing and is left out;
// behind a field it is a value that matches nothing.
func (p *repair) value(t token) {
	if t.kind == tokPhrase && strings.TrimFunc(t.text, isBlank) == "" {
		if p.last() == tokField {
			p.emptyField(t.at)
			return
		}
		p.r.warn(EmptyValue, t.at, "an empty phrase was ignored")
		return
	}
	p.push(t, true)
}

// word takes a word; behind a field, a lone comparison sign takes the value that follows it.
func (p *repair) word(t token, tokens []token, i *int) {
	t = p.withoutComma(t)
	if p.last() == tokField && t.plain && isComparison(t.text) && *i+1 < len(tokens) && tokens[*i+1].isValue() {
		*i++
		v := tokens[*i]
		p.r.warn(SpaceAfterColon, t.at, "the space after %s was ignored", t.text).Field = p.out[len(p.out)-1].field.Name
		t.text += v.text
		t.stars = nil
		t.at.end = v.at.end
	}
	p.value(t)
}

// withoutComma takes the comma off a value in a list such as tag:a, tag:b.
func (p *repair) withoutComma(t token) token {
	f := p.fieldHere()
	value := withoutComma(t.text)
	if f == nil || f.Type == TypeText || !t.plain || value == "" || len(value) == len(t.text) {
		return t
	}
	n := len(t.text) - len(value)
	w := p.r.warn(TrailingComma, span{t.at.end - n, t.at.end}, "%s after a value of %s: was ignored", t.text[len(value):], f.Name)
	w.Field, w.Suggestion = f.Name, `separate conditions by blanks; a value that ends so is written in "quotes"`
	t.text, t.at.end = value, t.at.end-n
	return t
}

// fieldHere is the field whose value comes next: the one before it, or before the
// group that it stands in.
func (p *repair) fieldHere() *Field {
	before := len(p.out)
	if p.last() != tokField && len(p.open) > 0 {
		before = p.open[len(p.open)-1]
	}
	if before == 0 {
		return nil
	}
	return p.out[before-1].field
}

// field takes a known field when a value or a group follows it.
func (p *repair) field(t token, tokens []token, i int) {
	if i+1 < len(tokens) {
		next := tokens[i+1]
		if next.isValue() || next.kind == tokOpen {
			if !next.glued {
				w := p.r.warn(SpaceAfterColon, t.at, "the space after %s: was ignored", t.field.Name)
				w.Field = t.field.Name
				w.Suggestion = "write " + t.field.Name + ":value without a blank"
			}
			p.push(t, false)
			return
		}
	}
	p.push(t, false)
	p.emptyField(t.at)
}

// emptyField replaces the field at the end of out by a clause that is ignored: while
// somebody types tag:fox, there is a moment of tag: alone.
func (p *repair) emptyField(at span) {
	f := p.out[len(p.out)-1]
	at.start = f.at.start
	p.r.warnEmpty(f.field, at)
	p.out = p.out[:len(p.out)-1]
	p.push(token{kind: tokEmpty, at: at}, true)
}

// unknown drops an unknown prefix. Without a value of its own the prefix is
// prose, as in "note: red cat", and stays as a word. (word:1.2) is the weight
// notation of prompts.
func (p *repair) unknown(t token, tokens []token, i int) {
	var next token
	if i+1 < len(tokens) && tokens[i+1].glued {
		next = tokens[i+1]
	}
	weighted := len(p.open) > 0 && next.kind == tokWord && isWeight(":"+next.text) && len(next.stars) == 0 &&
		i+2 < len(tokens) && tokens[i+2].kind == tokClose && tokens[i+2].glued
	if weighted {
		p.push(token{kind: tokWord, text: t.text, at: t.at}, true)
		tokens[i+1] = token{kind: tokWord, text: ":" + next.text, colon: 1, glued: true, at: next.at} // dropped as a weight
		return
	}
	w := p.r.warn(UnknownField, t.at, "%s is not a field; it was ignored and its value searched as text", excerpt(t.text))
	w.Field = t.text
	if w.Code != "" {
		w.Suggestion = nearestField(t.text)
	}
	if !(next.at.end > 0 && (next.isValue() && !next.onlyPunctuation() || next.kind == tokOpen)) {
		p.push(token{kind: tokWord, text: t.text, at: t.at}, true)
	}
}

// withoutWeight cuts the ":1.2" off the last word of a group, as in
// (sub-pixel:1.2) and ("red cat":1.2). 16:9 stays as it is.
func withoutWeight(t token) token {
	i := t.colon - 1
	if i < 0 || !isWeight(t.text[i:]) || (i == 0 && !t.glued) || (i > 0 && strings.Trim(t.text[:i], "0123456789") == "") {
		return t
	}
	t.text = t.text[:i]
	return t
}

// isWeight recognizes ":1.2", the emphasis of a prompt.
func isWeight(s string) bool {
	s, ok := strings.CutPrefix(s, ":")
	if !ok {
		return false
	}
	s = strings.TrimPrefix(strings.TrimPrefix(s, "-"), "+")
	whole, frac, _ := strings.Cut(s, ".")
	return whole+frac != "" && strings.Trim(whole, "0123456789") == "" && strings.Trim(frac, "0123456789") == ""
}

// binary takes AND or OR when an operand stands before it.
func (p *repair) binary(t token) {
	if !p.operand {
		p.dropNots()
	}
	if !p.operand {
		p.dangling(t)
		return
	}
	p.push(t, false)
}

func (p *repair) dangling(t token) {
	name := t.text
	if name == "" {
		name = "-"
	}
	p.r.warn(DanglingOperator, t.at, "%s has no operand and was ignored", name)
}

// dropNots drops the NOTs at the end of out: nothing follows them.
func (p *repair) dropNots() {
	for p.last() == tokNot {
		p.dangling(p.out[len(p.out)-1])
		p.out = p.out[:len(p.out)-1]
		p.operand = len(p.out) > 0 && p.endsOperand()
	}
}

// dropOperators drops every operator at the end of out.
func (p *repair) dropOperators() {
	for !p.operand {
		switch p.last() {
		case tokNot, tokAnd, tokOr:
			if len(p.out) == 0 {
				return
			}
			p.dangling(p.out[len(p.out)-1])
			p.out = p.out[:len(p.out)-1]
			p.operand = len(p.out) > 0 && p.endsOperand()
		default:
			return
		}
	}
}

func (p *repair) endsOperand() bool {
	switch p.last() {
	case tokWord, tokPhrase, tokClose, tokEmpty:
		return true
	}
	return false
}

// close takes a ) when a group is open.
func (p *repair) close(t token) {
	if len(p.open) == 0 {
		p.r.warn(UnopenedParen, t.at, "this parenthesis closes nothing and was ignored")
		return
	}
	p.dropOperators()
	p.endGroup(t)
}

// endGroup closes the innermost group; an empty one disappears.
func (p *repair) endGroup(t token) {
	start := p.open[len(p.open)-1]
	p.open = p.open[:len(p.open)-1]
	if start < len(p.out)-1 {
		p.push(t, true)
		return
	}
	at := span{p.out[start].at.start, t.at.end}
	p.out = p.out[:start]
	p.operand = p.endsOperand() && len(p.out) > 0
	if len(p.out) > 0 && p.last() == tokField {
		p.emptyField(at)
		return
	}
	p.r.warn(EmptyGroup, at, "an empty group was ignored")
}
