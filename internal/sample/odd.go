package sample

import (
	"fmt"
	"strings"

	"vitrine/internal/sample/draw"
	"vitrine/internal/sample/scene"
)

// The oddities real folders hold.
const (
	oddDuplicate   = "duplicate"   // the same bytes under another name
	oddTruncated   = "truncated"   // a PNG cut off in its pixels
	oddNotes       = "notes"       // a text file
	oddEmpty       = "empty"       // no byte at all
	oddMislabelled = "mislabelled" // a JPEG named .png
	oddHidden      = "hidden"      // a hidden file of some program
)

// odd plans one oddity.
func (p *planner) odd(row *share) *entry {
	e := &entry{row: row, jobSeed: p.r.Uint64()}
	switch row.name {
	case oddDuplicate, oddTruncated:
		e.source = draw.Pick(p.r, p.sources(row))
	case oddMislabelled:
		e.spec = scene.New(p.deal(), p.r)
		e.w, e.h = p.size(e.spec.Kind.Portrait)
		e.manner = scene.PickManner(p.r)
		e.job = p.job(row, e)
	}
	return e
}

// oddBytes makes the content of an oddity; the truth starts out with what the
// bytes still say about their making.
func (e *entry) oddBytes() ([]byte, Truth, error) {
	switch e.row.name {
	case oddDuplicate:
		data, truth, err := e.source.picture()
		truth.SourcePath = e.source.path
		return data, truth, err
	case oddTruncated:
		data, truth, err := e.source.picture()
		truth.SourcePath = e.source.path
		return data[:len(data)*3/5], truth, err
	case oddMislabelled:
		return e.save(formNamed("a1111-jpeg"))
	case oddNotes:
		return []byte(notes(draw.NewRand(e.jobSeed))), Truth{}, nil
	case oddHidden:
		return []byte(fmt.Sprintf("index %016x\n", e.jobSeed)), Truth{}, nil
	default:
		return nil, Truth{}, nil
	}
}

// notes is a page of somebody's remarks; it looks a little like settings, and
// must not be taken for them.
func notes(r *draw.Rand) string {
	lines := []string{
		"try the lighthouse again with less fog", "steps: 30 was enough, 60 changes nothing",
		"send the koi picture to M.", "sampler comparison: euler vs dpmpp_2m, keep seeds", "Steps, stairs, sampler sets: buy at flea market",
		"ideas: paper city, glass whale, winter market", "upscale the favourites before printing",
	}
	draw.Shuffle(r, lines)
	return "Notes\n=====\n- " + strings.Join(lines[:5], "\n- ") + "\n"
}
