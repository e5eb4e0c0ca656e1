package query

import (
	"slices"
	"strings"
	"unicode"
)

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

// askingWords are the words with which people ask for pictures, and those that fit any
// picture. A search whose other words are found nowhere is not answered by them: a picture
// of best quality is no answer to "the best picture of a fox".
var askingWords = func() map[string]bool {
	all := map[string]bool{}
	for w := range strings.FieldsSeq("find search show display give get list look looking see view want wanted need like please help let tell " +
		"picture pictures photo photos photograph photographs image images pic pics shot shots render renders artwork " +
		"best good better great nice cool pretty favorite favourite all every something anything someone any some more most very really just only") {
		all[w] = true
	}
	return all
}()

// requestWords are those of them, and of the function words, that make a request of a query.
var requestWords = strings.Fields("what which who where when how find search show display give get list want need please looking")

// IsWeakWord reports whether a word tells little of what is looked for: grammar needs it, people
// ask with it, or it fits any picture.
func IsWeakWord(w string) bool { return isFunctionWord(w) || askingWords[bareWord(w)] }

// isRequest reports whether words ask for something as people ask one another.
func isRequest(words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(requestWords, bareWord(w)) })
}

// bareWord returns a word in lower case without the marks of sentences around it: fox? and
// «fox» are the word fox.
func bareWord(w string) string { return strings.ToLower(strings.TrimFunc(w, isSentenceMark)) }

// isSentenceMark reports whether a character at an end of a word belongs to the sentence.
func isSentenceMark(r rune) bool {
	return strings.ContainsRune(".,;:!?'\"", r) || r > 0x7f && unicode.In(r, unicode.Po, unicode.Pi, unicode.Pf, unicode.Ps, unicode.Pe)
}
