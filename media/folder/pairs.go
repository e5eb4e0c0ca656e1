package folder

import (
	"bytes"
	"encoding/binary"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// What a service takes of sidecars with one file.
const (
	MaxSidecars   = 5
	SidecarsLimit = 2 << 20 // bytes together
)

// sidecarKinds are the endings of the text files that generators put beside the
// media files they write, those that tell most first.
var sidecarKinds = []string{".json", ".txt", ".yaml", ".yml", ".xmp"}

const (
	// soundMark ends the name of a video that VideoHelperSuite made of another by
	// adding sound; the first frame keeps the name without it.
	soundMark = "-audio"
	// swarmMark stands before the ending of the text that SwarmUI writes beside
	// what cannot hold it: clip.mp4 has clip.swarm.json.
	swarmMark = ".swarm"
)

// Listing is the names of the files of one folder, by what they share. It is not for
// concurrent use while names are added.
type Listing struct {
	stems map[string][]string // folded stem → names
}

// NewListing returns the listing of some names.
func NewListing(names []string) *Listing {
	l := &Listing{stems: make(map[string][]string, len(names))}
	for _, name := range names {
		s := strings.ToLower(stemOf(name))
		l.stems[s] = append(l.stems[s], name)
	}
	return l
}

func stemOf(name string) string { return strings.TrimSuffix(name, path.Ext(name)) }

// sameStem returns the names that share a stem.
func (l *Listing) sameStem(stem string) []string { return l.stems[strings.ToLower(stem)] }

// MediaOf returns the name of the media file that a text file goes with, or nothing:
// fox.png for fox.txt and for fox.png.json.
func (l *Listing) MediaOf(name string) string {
	if !slices.Contains(sidecarKinds, strings.ToLower(path.Ext(name))) {
		return ""
	}
	stem := strings.TrimSuffix(stemOf(name), swarmMark)
	candidates := l.sameStem(stem)
	if MediaName(stem) {
		candidates = slices.Concat(named(l.sameStem(stemOf(stem)), stem), candidates)
	}
	for _, name := range candidates {
		if MediaName(name) {
			return name
		}
	}
	return ""
}

func named(names []string, want string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !strings.EqualFold(name, want) })
}

// SidecarsOf returns the names of a media file's sidecars, those that tell most
// first; of what moves also the picture of the same name, which holds its first
// frame: ComfyUI's video nodes write the graph there.
func (l *Listing) SidecarsOf(name string, moves bool) []string {
	stem := stemOf(name)
	names := slices.Concat(l.sameStem(stem), l.sameStem(name), l.sameStem(stem+swarmMark))
	kinds := sidecarKinds
	if moves {
		kinds = append(slices.Clone(kinds), ".png")
		if silent, found := strings.CutSuffix(stem, soundMark); found {
			names = append(names, l.sameStem(silent)...)
		}
	}
	var out []string
	for _, kind := range kinds {
		for _, beside := range names {
			if beside != name && strings.EqualFold(path.Ext(beside), kind) && len(out) < MaxSidecars && !slices.Contains(out, beside) {
				out = append(out, beside)
			}
		}
	}
	return out
}

// VideoOf returns the video that a picture may hold the first frame of, by its name, or
// nothing.
func (l *Listing) VideoOf(name string) string {
	if !strings.EqualFold(path.Ext(name), ".png") {
		return ""
	}
	stem := stemOf(name)
	for _, beside := range slices.Concat(l.sameStem(stem), l.sameStem(stem+soundMark)) {
		if beside != name && videoName(beside) {
			return beside
		}
	}
	return ""
}

// combineNode is the node of ComfyUI-VideoHelperSuite that writes a video and, beside it, a
// picture of its first frame that holds the graph.
const combineNode = "VHS_VideoCombine"

// IsFirstFrame reports whether a PNG was written beside a video to hold its graph: the graph
// in it ends in the node that writes videos.
func IsFirstFrame(png io.ReadSeeker) bool {
	metadata, err := WithoutPixels(png, SidecarsLimit)
	return err == nil && bytes.Contains(metadata, []byte(combineNode))
}

// MovesHead is how many bytes of a file's beginning Moves reads.
const MovesHead = 21

// Moves reports whether a file is a video or an animation; head is its beginning.
func Moves(mime string, head []byte) bool {
	switch {
	case strings.HasPrefix(mime, "video/"), mime == "image/gif":
		return true
	case mime != "image/webp" || len(head) < MovesHead:
		return false
	}
	// RIFF size WEBP VP8X size flags, of which the second bit says that it moves.
	return string(head[12:16]) == "VP8X" && head[20]&2 != 0
}

// ReadSidecar reads at most one byte more than limit of an open sidecar of a name; of a
// picture, its metadata alone.
func ReadSidecar(f fs.File, name string, limit int64) ([]byte, error) {
	seeker, can := f.(io.ReadSeeker)
	if can && strings.EqualFold(path.Ext(name), ".png") {
		return WithoutPixels(seeker, limit)
	}
	return io.ReadAll(io.LimitReader(f, limit+1))
}

const pngSignature = "\x89PNG\r\n\x1a\n"

// WithoutPixels returns a PNG file without its picture: only its metadata is of use.
// What is no PNG, and what comes after a damage, is left out.
func WithoutPixels(f io.ReadSeeker, limit int64) ([]byte, error) {
	head := make([]byte, 8)
	if _, err := io.ReadFull(f, head); err != nil || string(head) != pngSignature {
		return nil, nil //nolint:nilerr // no PNG, so no metadata of one
	}
	out := bytes.NewBufferString(pngSignature)
	for int64(out.Len()) <= limit {
		if _, err := io.ReadFull(f, head); err != nil {
			return out.Bytes(), nil //nolint:nilerr // the end
		}
		size, kind := int64(binary.BigEndian.Uint32(head)), string(head[4:])
		if kind == "IDAT" || kind == "fdAT" {
			if _, err := f.Seek(size+4, io.SeekCurrent); err != nil {
				return nil, err
			}
			continue
		}
		out.Write(head)
		if _, err := io.CopyN(out, f, min(size, limit)+4); err != nil {
			return nil, nil //nolint:nilerr // a broken chunk: nothing of it is of use
		}
	}
	return out.Bytes(), nil
}
