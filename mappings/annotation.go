package mappings

import (
	"crypto/sha256"
	"encoding/hex"
)

// AnnotationsField and PrivateAnnotationsField hold the texts of annotations; see
// PrivateAnnotation.
const (
	AnnotationsField        = "annotations"
	PrivateAnnotationsField = "private_annotations"
	AnnotationAuthorsField  = "annotation_authors"
)

// AnnotationEnd is the word that ends every private annotation in the index. No text that
// people write holds it.
var AnnotationEnd = word("end of an annotation")

// AnnotationAuthor returns the word that stands for an author in the index.
func AnnotationAuthor(id string) string { return word("author " + id) }

// PrivateAnnotation returns a private annotation as the index holds it: the author's
// word, the text, the end. A search finds an author's words by the words that follow the
// author's without an end between them. The index keeps no nested documents because it is
// sorted.
func PrivateAnnotation(author, content string) string {
	return AnnotationAuthor(author) + " " + content + " " + AnnotationEnd
}

// word returns a word that the analyzers leave as it is and that nobody writes.
func word(of string) string {
	sum := sha256.Sum256([]byte(of))
	return "vq" + hex.EncodeToString(sum[:12])
}
