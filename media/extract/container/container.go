// Package container takes the metadata out of media files: text chunks, EXIF and
// XMP fields, tags, headers, each with the place it stood in.
//
// In goes any file as an io.ReaderAt; out comes what kind of file it is, its
// pixel size, and its chunks of metadata as text. It reads only the byte ranges
// that can hold metadata, never decodes pixels (but for ReadStealth, which looks
// for text hidden in their lowest bits), never trusts a length that a file
// declares, and understands nothing of prompts: that is its callers' work.
package container

// Chunk is one piece of metadata as a file holds it.
type Chunk struct {
	// Place names where it stood, coarse to fine: "png:tEXt", "png:iTXt",
	// "jpeg:exif", "jpeg:comment", "webp:exif", "mp4:ilst", "mkv:tag",
	// "png:stealth", "xmp", "c2pa", "glb:extras", "sidecar:json" … The whole list
	// is in docs/design/extract-container.md.
	Place string `json:"place"`
	// Key is the chunk's own name as the file spells it: a PNG keyword
	// ("parameters"), an EXIF tag's standard name ("UserComment", "Make",
	// "Model", "ImageDescription"), an XMP property ("dc:description"), a tag key
	// ("prompt", "COMMENT", "©cmt"). At most 256 bytes.
	Key string `json:"key"`
	// Text is the value decoded to valid UTF-8 without NUL, whatever encoding the
	// file used; never empty unless Data is set. Binary values (C2PA's boxes) are
	// in Data instead.
	Text string `json:"text,omitempty"`
	Data []byte `json:"data,omitempty"`
}

// File is what a container says about a file.
type File struct {
	MIME       string // sniffed from the bytes, never from the name
	Width      int    // pixels; 0 when the format has none or the header cannot be read
	Height     int
	DurationMS int64    // milliseconds; 0 for stills
	Frames     int      // of an animation or a video, pages of a TIFF; 0 for one still and when unknown
	FPS        float64  // 0 when unknown
	Codec      string   // of the first track with a picture, as the container names it: avc1, V_VP9; empty when unknown
	AudioCodec string   // of the first track with sound; empty: it has none, or unknown
	Chunks     []Chunk  // in file order
	Warnings   []string // what could not be read, in words for people
	Truncated  bool     // the file ends before its format says so
}

// Text returns the first chunk with this key, comparing keys without regard to case.
func (f *File) Text(key string) (Chunk, bool) {
	for _, c := range f.Chunks {
		if len(c.Key) == len(key) && equalFold(c.Key, key) {
			return c, true
		}
	}
	return Chunk{}, false
}

func equalFold(a, b string) bool {
	for i := range len(a) {
		x, y := a[i], b[i]
		if x|0x20 != y|0x20 || (x != y && (x|0x20 < 'a' || x|0x20 > 'z')) {
			return false
		}
	}
	return true
}

// setDuration sets the length of an animation and, when its frames are known,
// their rate.
func (f *File) setDuration(ms float64) {
	if !(ms > 0) || ms > 1e15 {
		return
	}
	f.DurationMS = int64(ms + 0.5)
	if f.Frames > 0 && f.FPS == 0 {
		f.FPS = 1000 * float64(f.Frames) / ms
	}
}
