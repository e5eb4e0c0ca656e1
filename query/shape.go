package query

import "strings"

// Sentence reports whether the words of a query are a sentence rather than names,
// tags or a few keywords. What a sentence means is more than its words, so nearness of
// meaning counts more for it. It goes by the query alone: by words that only grammar
// needs, and by commas, which separate tags.
func (s *Search) Sentence() bool { return isSentence(s.TextForEmbedding) }

// Bounds of what is a sentence.
const (
	minSentence    = 4 // words
	functionShare  = 7 // at least one of so many is a function word
	commasOfASheet = 3 // at most one of so many ends with a comma
)

func isSentence(text string) bool {
	words := strings.Fields(text)
	function, commas := 0, 0
	for _, w := range words {
		if strings.HasSuffix(w, ",") {
			commas++
		}
		if isFunctionWord(w) {
			function++
		}
	}
	return len(words) >= minSentence && function*functionShare >= len(words) && commas*commasOfASheet <= len(words)
}

// functionWords are the words that hold English sentences together.
var functionWords = func() map[string]bool {
	all := map[string]bool{}
	for w := range strings.FieldsSeq("a an the this that these those some any each every no of in on at by with without from to into onto over under " +
		"near behind between through during for about as and or but nor so if than then is are was were be been being has have had do does did " +
		"can could may might must shall should will would it its he she they we you i his her their our your my him them us me " +
		"who whom whose which what when where why how there here not while because after before") {
		all[w] = true
	}
	return all
}()
