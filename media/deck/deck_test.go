package deck_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	_ "image/jpeg"
	"image/png"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"vitrine/internal/randtest"
	"vitrine/internal/testenv"
	"vitrine/library"
	"vitrine/media/deck"
)

// read is what independent readers find in a document.
type read struct {
	Problems, Tags, Alts, Links, Actions, Fonts, Accessible []string
	Outline                                                 [][2]any
	Lang, Title                                             string
	XMPTitle                                                string `json:"xmp_title"`
	Open                                                    bool
	Images                                                  int
	Pages                                                   []struct {
		Width, Height float64
		Text, Drawn   string
		Pictures      [][4]float64
	}
}

// text returns the text of all pages.
func (r read) text() string {
	var b strings.Builder
	for _, p := range r.Pages {
		b.WriteString(p.Text + "\n")
	}
	return b.String()
}

// written writes decks and has independent readers read them; with drawn, their pages are drawn.
func written(t *testing.T, drawn bool, decks ...deck.Deck) (list []read) {
	t.Helper()
	dir := t.TempDir()
	args := []string{"testdata/read.py"}
	for i, d := range decks {
		var b bytes.Buffer
		if _, err := deck.Write(t.Context(), &b, d); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, fmt.Sprint(i, ".pdf"))
		if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command(testenv.Tool(t, "pdfcpu"), "validate", "-m", "strict", path).CombinedOutput(); err != nil {
			t.Errorf("pdfcpu: %v %s", err, out)
		}
		if drawn {
			if err := os.Mkdir(path+".pages", 0o700); err != nil {
				t.Fatal(err)
			}
			path += "=" + path + ".pages"
		}
		args = append(args, path)
	}
	out, err := exec.Command(testenv.Tool(t, "pdf-readers"), args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v %s", err, out)
	}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var r read
		if err := d.Decode(&r); errors.Is(err, io.EOF) {
			return list
		} else if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if len(r.Problems)+len(r.Actions)+len(r.Accessible) > 0 || r.Open {
			t.Errorf("problems %q, actions %q, not accessible %q, opens %v", r.Problems, r.Actions, r.Accessible, r.Open)
		}
		list = append(list, r)
	}
}

func TestDeck_EveryLayoutAndEveryLookOfCardsIsReadByOthers(t *testing.T) {
	t.Parallel()
	var decks []deck.Deck
	for _, l := range deck.Layouts {
		decks = append(decks, sampleDeck(t, l))
	}
	cards := len(sampleCards())
	for i, r := range written(t, false, decks...) {
		want := map[deck.Layout]int{deck.One: 7, deck.FullBleed: 7, deck.Two: 4, deck.Grid: 2}[decks[i].Layout]
		if len(r.Pages) != 1+cards+want {
			t.Errorf("%s: %d pages", decks[i].Layout, len(r.Pages))
		}
		if r.Lang != "en" || r.Title != decks[i].Title || r.XMPTitle != decks[i].Title {
			t.Errorf("%q %q %q", r.Lang, r.Title, r.XMPTitle)
		}
		if r.Images != 8 || len(r.Alts) != 8 || !slices.Contains(r.Alts, "Neon fox in the rain, variation C") {
			t.Errorf("%s: %d pictures, alternative texts %q", decks[i].Layout, r.Images, r.Alts)
		}
		if !slices.Equal(slices.Compact(slices.Clone(r.Links)), []string{"https://example.com/brief"}) || len(r.Links) != 12 {
			t.Errorf("links %q", r.Links)
		}
		if len(r.Outline) != 1+cards {
			t.Errorf("%d entries in the outline: %v", len(r.Outline), r.Outline)
		}
		for _, tag := range []string{"/Document", "/H1", "/P", "/L", "/LI", "/LBody", "/Figure", "/Link", "/Caption"} {
			if !slices.Contains(r.Tags, tag) {
				t.Errorf("no element %s", tag)
			}
		}
		for _, phrase := range []string{"Ночь в городе", "Νύχτα στην πόλη", "夜の街", "한국어", "中文字体", "Ảo giác đêm", "Łódź", "CHAPTER ONE", "AI-generated", "Made with Vitrine"} {
			if !strings.Contains(r.text(), phrase) {
				t.Errorf("%s: the text %q cannot be found", decks[i].Layout, phrase)
			}
		}
		if len(r.Fonts) != 5 {
			t.Errorf("fonts %q", r.Fonts)
		}
	}
}

func TestDeck_WithoutTheMarkDoesNotNameVitrine(t *testing.T) {
	t.Parallel()
	d := sampleDeck(t, deck.Grid)
	d.Mark = false
	if r := written(t, false, d)[0]; strings.Contains(r.text(), "Vitrine") {
		t.Error("the mark is still there")
	}
}

// open reads a PNG file.
func open(t *testing.T, path string) image.Image {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	m, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// difference returns how much two pictures differ on average, from 0 to 255, where the second one
// stands in a rectangle of the first.
func difference(page image.Image, at [4]float64, want image.Image) float64 {
	var sum, n float64
	b := want.Bounds()
	for y := 2; y < int(at[3]-at[1])-2; y += 3 {
		for x := 2; x < int(at[2]-at[0])-2; x += 3 {
			u, v := (float64(x)+0.5)/(at[2]-at[0]), (float64(y)+0.5)/(at[3]-at[1])
			r, g, bl, _ := page.At(int(at[0])+x, int(at[1])+y).RGBA()
			wr, wg, wb, _ := want.At(int(u*float64(b.Dx())), int(v*float64(b.Dy()))).RGBA()
			sum += math.Abs(float64(r>>8)-float64(wr>>8)) + math.Abs(float64(g>>8)-float64(wg>>8)) + math.Abs(float64(bl>>8)-float64(wb>>8))
			n += 3
		}
	}
	return sum / n
}

func TestDeck_PicturesAreDrawnWholeAndWhereTheyBelong(t *testing.T) {
	t.Parallel()
	var decks []deck.Deck
	for _, l := range []deck.Layout{deck.One, deck.Two, deck.Grid} {
		d := sampleDeck(t, l)
		d.Slides, d.Cover = d.Slides[len(sampleCards()):], nil
		d.Slides[6].Picture.Film = false // nothing stands on a picture
		decks = append(decks, d)
	}
	for i, r := range written(t, true, decks...) {
		n := 0
		for _, p := range r.Pages[1:] {
			page := open(t, p.Drawn)
			for _, at := range p.Pictures {
				want := decks[i].Slides[n].Picture
				data, err := want.JPEG(t.Context(), 640)
				if err != nil {
					t.Fatal(err)
				}
				m, _, err := image.Decode(bytes.NewReader(data))
				if err != nil {
					t.Fatal(err)
				}
				if d := difference(page, at, m); d > 8 || math.Abs((at[2]-at[0])/(at[3]-at[1])-float64(want.Width)/float64(want.Height)) > 0.03 {
					t.Errorf("%s: picture %d differs by %.1f of 255, drawn at %v", decks[i].Layout, n, d, at)
				}
				if at[0] < 40 || at[1] < 30 || at[2] > 920 || at[3] > 510 {
					t.Errorf("%s: picture %d reaches over the margins: %v", decks[i].Layout, n, at)
				}
				n++
			}
		}
		if n != 7 {
			t.Errorf("%s: %d pictures", decks[i].Layout, n)
		}
	}
}

func TestDeck_CardsHaveTheirColors(t *testing.T) {
	t.Parallel()
	d := deck.Deck{Title: "Colors", Created: created}
	for _, c := range sampleCards() {
		d.Slides = append(d.Slides, deck.Slide{Card: &c})
	}
	r := written(t, true, d)[0]
	for i, c := range sampleCards() {
		page := open(t, r.Pages[i+1].Drawn)
		at := func(x, y int) (sum int) {
			r, g, b, _ := page.At(x, y).RGBA()
			return int(r>>8) + int(g>>8) + int(b>>8)
		}
		corner, other := at(3, 3), at(955, 535)
		switch {
		case c.Background == "light" && corner < 700, c.Background == "dark" && corner > 90, c.Background == "gradient" && corner-other < 60:
			t.Errorf("%s: corners %d and %d", c.Background, corner, other)
		}
		ink, middle := 0, 0 // where text stands: what differs from the background of its row
		for y := 60; y < 480; y += 2 {
			for x := 40; x < 920; x += 2 {
				if d := at(x, y) - at(20, y); d > 150 || d < -150 {
					ink, middle = ink+1, middle+x
				}
			}
		}
		if ink < 800 {
			t.Errorf("%s %s: the text can hardly be seen: %d points", c.Background, c.Layout, ink)
			continue
		}
		if centered := math.Abs(float64(middle)/float64(ink)-480) < 25; c.HeadingSize == "xl" && c.Background != "gradient" && centered != (c.Layout == "centered") {
			t.Errorf("%s %s: text stands around %d", c.Background, c.Layout, middle/ink)
		}
	}
}

func TestDeck_LongTextGoesOnOnFurtherSlides(t *testing.T) {
	t.Parallel()
	c := library.TextCard{Heading: strings.Repeat("Heading ", 24), HeadingSize: "xl", Body: strings.TrimSpace(strings.Repeat("Words of a body that is long. ", 166)) + " THE END."}
	for range 20 {
		c.Bullets = append(c.Bullets, strings.Repeat("A bullet that is long. ", 21))
	}
	c.Bullets[19] += "LAST BULLET."
	r := written(t, false, deck.Deck{Title: "Long", Created: created, Slides: []deck.Slide{{Card: &c}}})[0]
	if len(r.Pages) < 4 {
		t.Errorf("%d slides", len(r.Pages))
	}
	all := strings.Join(strings.Fields(r.text()), " ")
	if n := strings.Count(all, "that is long."); n != 166+20*21 || !strings.Contains(all, "THE END.") || !strings.Contains(all, "LAST BULLET.") {
		t.Errorf("%d sentences of %d are there", n, 166+20*21)
	}
}

func TestDeck_PicturesThatFailAreLeftOutAndOthersMoveUp(t *testing.T) {
	t.Parallel()
	d := sampleDeck(t, deck.Two)
	d.Slides = d.Slides[len(sampleCards()):]
	bad := errors.New("gone")
	d.Slides[1].Picture.JPEG = func(context.Context, int) ([]byte, error) { return nil, bad }
	d.Slides[4].Picture.JPEG = func(context.Context, int) ([]byte, error) { return []byte("GIF89a"), nil }
	var failed []int
	d.Failed = func(p *deck.Picture, err error) error {
		failed = append(failed, p.Position)
		return nil
	}
	res, err := deck.Write(t.Context(), io.Discard, d)
	if err != nil || res.Pictures != 5 || res.Pages != 1+3 || !slices.Equal(failed, []int{1, 4}) {
		t.Errorf("%+v %v, failed %v", res, err, failed)
	}
	d.Failed = func(*deck.Picture, error) error { return bad }
	if _, err := deck.Write(t.Context(), io.Discard, d); !errors.Is(err, bad) {
		t.Errorf("an error that ends the deck: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := deck.Write(ctx, io.Discard, d); !errors.Is(err, context.Canceled) {
		t.Errorf("a context that has ended: %v", err)
	}
	if _, err := deck.Write(t.Context(), full{}, d); err == nil {
		t.Error("a disk that is full is no error")
	}
}

// full is a disk without room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left") }

// hostile returns a text of any characters.
func hostile(r *rand.Rand) string {
	var b strings.Builder
	for range r.IntN(60) {
		switch r.IntN(9) {
		case 0:
			b.WriteRune(rune(r.IntN(0x110000)))
		case 1:
			b.WriteByte(byte(r.IntN(256)))
		case 2:
			b.WriteString([]string{"\u202e", "\u200d", "\ufe0f", "\u0301\u0302\u0303", "👩‍👩‍👧‍👦", "🇩🇪", "\U000F0000", "\x00", "\r\n", "\ufffe"}[r.IntN(10)])
		case 3:
			b.WriteString([]string{") Tj ET (", ">> endobj", "<feff", "stream\n", "/JavaScript", "%%EOF", "javascript:alert(1)", "https://example.com/)>>(%", "http://"}[r.IntN(9)])
		case 4:
			b.WriteRune(rune(0x590 + r.IntN(0x170)))
		case 5:
			b.WriteString(strings.Repeat("w", r.IntN(300)))
		default:
			b.WriteRune(rune(0x4e00 + r.IntN(0x5000)))
		}
	}
	return b.String()
}

func TestDeck_NoTextOrCharacterBreaksADocument(t *testing.T) {
	t.Parallel()
	randtest.Run(t, func(t *testing.T, r *rand.Rand) {
		d := deck.Deck{Title: hostile(r), Subtitle: hostile(r), Accent: hostile(r), Created: created, Layout: deck.Layouts[r.IntN(4)]}
		one := drawn(t, 64, 48, 1)
		for n := range 20 {
			if r.IntN(3) == 0 {
				p := &deck.Picture{Title: hostile(r), Alt: hostile(r), Caption: []string{hostile(r), hostile(r), hostile(r)}, Position: n, Width: r.IntN(3), Height: r.IntN(3)}
				p.JPEG = func(context.Context, int) ([]byte, error) { return one, nil }
				d.Slides = append(d.Slides, deck.Slide{Picture: p})
				continue
			}
			c := &library.TextCard{Heading: hostile(r), Body: hostile(r), Bullets: []string{hostile(r), hostile(r)}, AccentText: hostile(r), AccentColor: hostile(r), Layout: hostile(r), Background: "gradient", HeadingSize: hostile(r)}
			d.Slides = append(d.Slides, deck.Slide{Card: c})
		}
		for _, link := range written(t, false, d)[0].Links {
			if !strings.HasPrefix(link, "http://") && !strings.HasPrefix(link, "https://") {
				t.Errorf("a link to %q", link)
			}
		}
	})
}

func TestDeck_EveryCharacterCanBeWritten(t *testing.T) {
	t.Parallel()
	d := deck.Deck{Title: "All of Unicode", Created: created}
	for from := rune(0); from < 0x30000; from += 4000 {
		var b strings.Builder
		for r := from; r < from+4000; r++ {
			b.WriteRune(r)
		}
		d.Slides = append(d.Slides, deck.Slide{Card: &library.TextCard{Body: b.String()}})
	}
	if res, err := deck.Write(t.Context(), io.Discard, d); err != nil || res.Pages < 50 {
		t.Errorf("%+v %v", res, err)
	}
}

func TestDeck_TakesLittleMemoryForManyPictures(t *testing.T) { //nolint:paralleltest // it measures the process
	one := drawn(t, 1600, 900, 2)
	d := deck.Deck{Title: "Many", Created: created}
	for n := range 800 {
		p := &deck.Picture{Position: n, JPEG: func(context.Context, int) ([]byte, error) { // each another file
			return append(slices.Clone(one), fmt.Sprint(n)...), nil
		}}
		d.Slides = append(d.Slides, deck.Slide{Picture: p})
	}
	var most uint64
	d.Done = func(n int) error {
		if n%100 == 0 {
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			most = max(most, m.HeapAlloc)
		}
		return nil
	}
	runtime.GC()
	var before runtime.MemStats
	runtime.ReadMemStats(&before)
	size := &counter{}
	if _, err := deck.Write(t.Context(), size, d); err != nil {
		t.Fatal(err)
	}
	if grown := int64(most) - int64(before.HeapAlloc); grown > 12<<20 || size.n < 30<<20 {
		t.Errorf("the heap grew by %d MB for a document of %d MB", grown>>20, size.n>>20)
	}
}

type counter struct{ n int64 }

func (c *counter) Write(p []byte) (int, error) {
	c.n += int64(len(p))
	return len(p), nil
}
