package browser

import (
	"bytes"
	"errors"
	"io"
	"os"
	"regexp"
	"strconv"
)

// maxObject is how much is read of an object of the file; those that are asked for are short.
const maxObject = 64 << 10

var (
	startTable = regexp.MustCompile(`startxref\s+(\d+)\s+%%EOF\s*$`)
	tableHead  = regexp.MustCompile(`^xref\s+0 (\d+)\r?\n`)
	rootOf     = regexp.MustCompile(`/Root (\d+) 0 R`)
	pagesOf    = regexp.MustCompile(`/Pages (\d+) 0 R`)
	countOf    = regexp.MustCompile(`/Count (\d+)`)
)

var errNoPDF = errors.New("its end is not that of a PDF")

// countPages returns how many pages a PDF has, by its table of objects as Chromium writes it.
func countPages(path string) (int, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	tail, err := readAt(f, max(0, info.Size()-2048), 2048)
	if err != nil {
		return 0, err
	}
	table, err := strconv.ParseInt(submatch(startTable, tail), 10, 64)
	if err != nil {
		return 0, errNoPDF
	}
	head, err := readAt(f, table, 64)
	if err != nil {
		return 0, err
	}
	at := tableHead.FindIndex(head)
	if at == nil {
		return 0, errNoPDF
	}
	root, err := objectOf(f, table+int64(at[1]), submatch(rootOf, tail))
	if err != nil {
		return 0, err
	}
	pages, err := objectOf(f, table+int64(at[1]), submatch(pagesOf, root))
	if err != nil {
		return 0, err
	}
	n, err := strconv.Atoi(submatch(countOf, pages))
	if err != nil || n < 1 {
		return 0, errNoPDF
	}
	return n, nil
}

// objectOf returns an object by its number and where the entries of the table begin.
func objectOf(f *os.File, entries int64, number string) ([]byte, error) {
	n, err := strconv.ParseInt(number, 10, 32)
	if err != nil {
		return nil, errNoPDF
	}
	entry, err := readAt(f, entries+20*n, 10)
	if err != nil {
		return nil, err
	}
	at, err := strconv.ParseInt(string(entry), 10, 64)
	if err != nil {
		return nil, errNoPDF
	}
	b, err := readAt(f, at, maxObject)
	if end := bytes.Index(b, []byte("endobj")); end >= 0 {
		b = b[:end]
	}
	return b, err
}

func readAt(f *os.File, off int64, n int) ([]byte, error) {
	b := make([]byte, n)
	n, err := f.ReadAt(b, off)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return b[:n], err
}

func submatch(re *regexp.Regexp, b []byte) string {
	if m := re.FindSubmatch(b); m != nil {
		return string(m[1])
	}
	return ""
}
