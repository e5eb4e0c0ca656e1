package query

import "strings"

// warnForeignSyntax warns of words that mean something in other query languages. They stay
// text: a pasted prompt may hold them.
func (r *reader) warnForeignSyntax(t token) {
	if !t.plain {
		return
	}
	if f, sign, value, ok := missingColon(t.text); ok {
		w := r.warn(MissingColon, t.at, "%s was read as text: a condition on %s has a colon", excerpt(t.text), f.Name)
		w.Field, w.Suggestion = f.Name, f.Name+":"+sign+value
		switch sign {
		case "=", "==":
			w.Suggestion = f.Name + ":" + value
		case "!=":
			w.Suggestion = "-" + f.Name + ":" + value
		}
	}
	if i := strings.IndexByte(strings.TrimFunc(t.text, isSentenceMark), '?'); i > 0 && !strings.Contains(t.text, "://") {
		r.warnQuestionMark(t, "")
	}
	if meant := foreignOperator(t.text); meant != "" {
		r.warn(NotAnOperator, t.at, "%s is not an operator", t.text).Suggestion = meant
	}
}

// warnQuestionMark warns of a ? that may be meant as a wildcard.
func (r *reader) warnQuestionMark(t token, field string) {
	w := r.warn(QuestionMark, t.at, "%s: a question mark stands for itself; the wildcard is *", excerpt(t.text))
	w.Field, w.Suggestion = field, strings.ReplaceAll(t.text, "?", "*")
	if field != "" {
		w.Suggestion = field + ":" + w.Suggestion
	}
}

// missingColon recognizes a field compared without a colon, as in steps>20 and
// lora=detail.
func missingColon(s string) (f *Field, sign, value string, ok bool) {
	i := strings.IndexAny(s, "<>=!")
	if i < 1 {
		return nil, "", "", false
	}
	for _, sign := range []string{"==", "!=", ">=", "<=", "=", ">", "<"} {
		if value, found := strings.CutPrefix(s[i:], sign); found {
			f := LookupField(s[:i])
			return f, sign, value, f != nil && value != ""
		}
	}
	return nil, "", "", false
}

// foreignOperator returns how an operator of other languages is written here.
func foreignOperator(s string) string {
	switch s {
	case "&&":
		return "write AND, or nothing"
	case "||":
		return "write OR"
	}
	return ""
}
