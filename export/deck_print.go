package export

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"

	"vitrine/media/browser"
	"vitrine/media/deck"
)

// maxNote is the longest reason that is kept of why a browser did not draw a deck, in bytes.
const maxNote = 300

// print has a browser draw the deck. Where there is none, or it fails, the deck is not done and notes the reason; only
// what would end any deck is an error.
func (f *deckFile) print(ctx context.Context, w io.Writer, d deck.Deck) (done bool, err error) {
	dir, err := os.MkdirTemp("", "vitrine-deck-")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)
	path, res, err := f.printed(ctx, dir, d)
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	if err != nil {
		f.export.Note = reasonOf(err)
		return false, nil
	}
	file, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer file.Close()
	if _, err := io.Copy(w, file); err != nil {
		return false, err
	}
	f.export.Files, f.export.Pages, f.export.Renderer = res.Pictures, res.Pages, "chromium"
	return true, nil
}

// printed writes the deck as a page and prints it, in a folder, and returns where the PDF is.
func (f *deckFile) printed(ctx context.Context, dir string, d deck.Deck) (string, deck.Result, error) {
	if f.builder.Browser == nil {
		return "", deck.Result{}, browser.ErrNone
	}
	b, err := f.builder.Browser()
	if err != nil {
		return "", deck.Result{}, err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return "", deck.Result{}, err
	}
	res, err := deck.WritePage(ctx, dir, d)
	if err != nil {
		return "", res, err
	}
	path, pages, err := b.Print(ctx, dir, deck.Page)
	res.Pages = pages
	return path, res, err
}

// reasonOf returns why a browser did not draw a deck, as it is shown.
func reasonOf(err error) string {
	if large := (*deck.TooLargeError)(nil); errors.As(err, &large) {
		return large.Detail
	}
	if errors.Is(err, browser.ErrNone) {
		return "No Chromium is installed where the service runs."
	}
	text := []rune("Chromium could not draw the deck: " + err.Error())
	return string(text[:min(len(text), maxNote)])
}
