package deck_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"image"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"vitrine/internal/testenv"
	"vitrine/library"
	"vitrine/media/browser"
	"vitrine/media/deck"
)

// printed prints a deck with Chromium, and has independent readers read and draw it.
func printed(t *testing.T, d deck.Deck) (r read, res deck.Result) {
	t.Helper()
	b, err := browser.Find(t.Context(), testenv.Tool(t, "chromium"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if res, err = deck.WritePage(t.Context(), dir, d); err != nil {
		t.Fatal(err)
	}
	path, pages, err := b.Print(t.Context(), dir, deck.Page)
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(testenv.Tool(t, "pdfcpu"), "validate", path).CombinedOutput(); err != nil {
		t.Errorf("pdfcpu: %v %s", err, out)
	}
	folder := t.TempDir()
	out, err := exec.Command(testenv.Tool(t, "pdf-readers"), "testdata/read.py", path+"="+folder).Output()
	if failed := (*exec.ExitError)(nil); errors.As(err, &failed) {
		t.Fatalf("%s", failed.Stderr)
	}
	if err == nil {
		err = json.Unmarshal(out, &r)
	}
	if err != nil {
		t.Fatal(err)
	}
	if keep := os.Getenv("VITRINE_DECKS"); keep != "" {
		data, _ := os.ReadFile(path)
		_ = os.WriteFile(filepath.Join(keep, "printed-"+string(d.Layout)+".pdf"), data, 0o600)
	}
	res.Pages = pages
	return r, res
}

// words returns a text without spaces, which readers place as they see fit.
func words(s string) string { return strings.Join(strings.Fields(s), "") }

func TestPrinted_ADeckOfEveryLookAndLayoutIsRead(t *testing.T) {
	t.Parallel()
	for layout, slides := range map[deck.Layout]int{deck.One: 26, deck.Grid: 21, deck.FullBleed: 26} {
		t.Run(string(layout), func(t *testing.T) {
			t.Parallel()
			d := sampleDeck(t, layout)
			d.Language = "pt-BR"
			r, res := printed(t, d)
			if res.Pages != slides || len(r.Pages) != slides || res.Pictures != 7 {
				t.Errorf("%+v, and readers find %d pages", res, len(r.Pages))
			}
			if r.Lang != "pt-BR" || r.Title != d.Title || len(r.Actions) > 0 || len(r.Problems) > 0 {
				t.Errorf("language %q, title %q, actions %q, problems %q", r.Lang, r.Title, r.Actions, r.Problems)
			}
			text := words(r.text())
			for _, want := range []string{"Aurora", "Кириллица,ελληνικά,日本語のテキスト、中文字体，한국어", "NeonfoxintherainvariationG", "StudioNord", "ComfyUI", "MadewithVitrine"} {
				if !strings.Contains(strings.ReplaceAll(text, ",", ""), strings.ReplaceAll(want, ",", "")) {
					t.Errorf("%q is not in the text", want)
				}
			}
			if got := strings.Join(r.Alts, "|"); strings.Count(got, "Neon fox in the rain, variation") != 7 {
				t.Errorf("alternative texts %q", got)
			}
			if len(r.Links) == 0 || !strings.HasPrefix(r.Links[0], "https://example.com/brief") || len(r.Outline) == 0 || !strings.Contains(strings.Join(r.Tags, " "), "/Figure") {
				t.Errorf("links %q, outline %v, tags %q", r.Links, r.Outline, r.Tags)
			}
			for n, p := range r.Pages {
				if p.Width != 960 || p.Height != 540 || n > 0 && strings.TrimSpace(p.Text) == "" {
					t.Errorf("page %d: %g by %g, %q", n+1, p.Width, p.Height, p.Text)
				}
			}
			last := r.Pages[len(r.Pages)-1]
			if layout == deck.One && (len(last.Pictures) != 1 || difference(open(t, last.Drawn), last.Pictures[0], decoded(t, drawn(t, 640, 640, 6))) > 12) {
				t.Errorf("the last picture is not drawn as it is: %v", last.Pictures)
			}
		})
	}
}

func TestPrinted_HostileTextIsText(t *testing.T) {
	t.Parallel()
	const evil = `</style></title><script>document.title="owned";document.body.innerHTML="owned"</script><img src="http://127.0.0.1:9/x" onerror="document.title='owned'"><style>*{display:none}</style>{{.}} "); } @page { size: 1pt }`
	d := deck.Deck{Title: evil, Subtitle: evil, Language: "en", Accent: evil, Layout: deck.One, Created: created, Mark: true,
		Slides: []deck.Slide{{Card: &library.TextCard{Heading: evil, Body: evil + "\x00\u202e\U0001F9FF", AccentText: evil, AccentColor: evil, Bullets: []string{evil, "javascript:alert(1)"}, Background: "gradient", Layout: evil, HeadingSize: evil}},
			{Picture: picture(t, 0, 400, 300, evil, evil)}, {Card: &library.TextCard{Heading: "Long", Body: strings.Repeat("A long text goes on. ", 400) + "The end."}}}}
	r, res := printed(t, d)
	if r.Title != evil || strings.Trim(strings.Join(r.Links, ""), "htp:/127.0.0.1:9x") != "" || len(r.Actions) > 0 || r.Pages[0].Width != 960 || res.Pages < 4 {
		t.Errorf("title %q, links %q, actions %q, %d pages", r.Title, r.Links, r.Actions, res.Pages)
	}
	if text := r.text(); !strings.Contains(words(text), "Theend.") || strings.Count(text, "<script>") < 3 {
		t.Errorf("text is missing: %.500q", text)
	}
}

func TestWritePage_LeavesOutWhatCannotBeHadAndRefusesTooMuch(t *testing.T) {
	t.Parallel()
	broken := picture(t, 1, 10, 10, "Broken")
	broken.JPEG = func(context.Context, int) ([]byte, error) { return nil, errors.New("gone") }
	garbled := picture(t, 2, 10, 10, "Garbled")
	garbled.JPEG = func(context.Context, int) ([]byte, error) { return []byte("not a JPEG"), nil }
	var failed []int
	d := deck.Deck{Title: "Gaps", Slides: []deck.Slide{{Picture: broken}, {Picture: picture(t, 0, 100, 100, "Good")}, {Picture: garbled}},
		Failed: func(p *deck.Picture, _ error) error { failed = append(failed, p.Position); return nil }}
	if res, err := deck.WritePage(t.Context(), t.TempDir(), d); err != nil || res.Pictures != 1 || len(failed) != 2 {
		t.Errorf("%+v %v %v", res, err, failed)
	}
	d.Slides = make([]deck.Slide, deck.MaxPrinted+1)
	var large *deck.TooLargeError
	if _, err := deck.WritePage(t.Context(), t.TempDir(), d); !errors.As(err, &large) {
		t.Errorf("a deck of %d slides: %v", len(d.Slides), err)
	}
}

// decoded decodes a JPEG.
func decoded(t *testing.T, data []byte) image.Image {
	t.Helper()
	m, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return m
}
