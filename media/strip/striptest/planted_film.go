package striptest

import (
	"bytes"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"vitrine/internal/testenv"
)

func riff(kind, data string) string {
	s := kind + string(binary.LittleEndian.AppendUint32(nil, uint32(len(data)))) + data
	if len(data)%2 == 1 {
		s += "\x00"
	}
	return s
}

// plantedWebP has texts in chunks of every name, in a frame of an animation, and behind the end.
func plantedWebP(t *testing.T) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	for name, file := range map[string][]byte{"one": Written(t)["a.webp"], "lossless": Written(t)["b.webp"], "animated": Written(t)["c.webp"]} {
		body := string(file[12:])
		for _, kind := range []string{"EXIF", "XMP ", "C2PA", "PRMT", "JUNK"} {
			text := Canary
			if kind == "C2PA" {
				text = jumbf()
			}
			body += riff(kind, text)
		}
		whole := "RIFF" + string(binary.LittleEndian.AppendUint32(nil, uint32(4+len(body)))) + "WEBP" + body
		out[name] = []byte(whole + Canary)
	}
	return out
}

func isoBox(kind, body string) string {
	return string(binary.BigEndian.AppendUint32(nil, uint32(8+len(body)))) + kind + body
}

// film writes a film with ffmpeg.
func film(t *testing.T, name string, options ...string) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	args := append([]string{"-y", "-loglevel", "error", "-f", "lavfi", "-i", "testsrc=size=64x48:rate=8:duration=1"}, options...)
	if out, err := exec.CommandContext(t.Context(), testenv.Tool(t, "ffmpeg"), append(args, path)...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v %s", name, err, out)
	}
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// relabeled puts the text in place of the words that x265 writes beside its pictures.
func relabeled(t *testing.T, file []byte) []byte {
	t.Helper()
	before := []byte("x265 (build ")
	if !bytes.Contains(file, before) {
		t.Fatal("x265 wrote no settings")
	}
	for at := bytes.Index(file, before); at >= 0; at = bytes.Index(file, before) {
		copy(file[at:], Canary)
	}
	return file
}

// plantedFilms have texts beside the coded pictures, as encoders write them, and in boxes and elements
// that play no part in showing the film.
func plantedFilms(t *testing.T) map[string][]byte {
	t.Helper()
	avc := []string{"-c:v", "libx264", "-threads", "1", "-bsf:v", "h264_metadata=sei_user_data=086f3693-b7b3-4f2c-9653-21492feee5b8+" + Canary}
	hevc := []string{"-c:v", "libx265", "-x265-params", "log-level=none:pools=1"}
	with := func(options []string, more ...string) []string {
		return append(append([]string{}, options...), more...)
	}
	sound := []string{"-f", "lavfi", "-i", "sine=duration=1"}
	out := map[string][]byte{
		"avc.mp4":          film(t, "a.mp4", avc...),
		"avc-first.mov":    film(t, "a.mov", with(avc, "-movflags", "faststart")...),
		"avc-fragment.mp4": film(t, "a.mp4", with(avc, "-movflags", "frag_keyframe+empty_moov+default_base_moof")...),
		"avc-old.mp4":      film(t, "a.mp4", with(with(sound, avc...), "-movflags", "frag_keyframe+empty_moov")...),
		"avc.mkv":          film(t, "a.mkv", with(with(sound, avc...), "-c:a", "libvorbis", "-metadata:s:a", "title="+Canary, "-metadata", "comment="+Canary)...),
		"hevc.mp4":         relabeled(t, film(t, "a.mp4", with(hevc, "-tag:v", "hvc1")...)),
		"hevc.mkv":         relabeled(t, film(t, "a.mkv", with(with(sound, hevc...), "-c:a", "flac")...)),
	}
	for name, file := range out {
		if !bytes.Contains(file, []byte(Canary)) {
			t.Fatalf("%s: the text is not in the film", name)
		}
	}
	const c2pa = "\xd8\xfe\xc3\xd6\x1b\x0e\x48\x3c\x92\x97\x58\x28\x87\x7e\xc4\x81"
	const xmpID = "\xbe\x7a\xcf\xcb\x97\xa9\x42\xe8\x9c\x71\x99\x94\x91\xe3\xaf\xac"
	boxes := isoBox("uuid", c2pa+"\x00\x00\x00\x00manifest\x00\x00\x00\x00\x00\x00\x00\x00\x00"+jumbf()) + isoBox("uuid", xmpID+xmp) + isoBox("free", Canary) + isoBox("skip", Canary) + isoBox("udta", isoBox("\xa9xyz", "\x00\x12\x15\xc7+48.2+016.3/"+Canary)) +
		isoBox("meta", "\x00\x00\x00\x00"+isoBox("hdlr", "\x00\x00\x00\x00\x00\x00\x00\x00mdir"+Canary)) + isoBox("prmt", Canary)
	out["boxes.mp4"] = append(film(t, "a.mp4", "-c:v", "mpeg4"), boxes+Canary...)
	out["boxes.avif"] = append(bytes.Clone(Written(t)["a.avif"]), isoBox("uuid", c2pa+jumbf())+isoBox("free", Canary)+isoBox("prmt", Canary)...)
	out["elements.webm"] = plantedWebM(t)
	return out
}

// plantedWebM has texts in a cluster, and in elements of a film and of a track that nobody knows.
func plantedWebM(t *testing.T) []byte {
	t.Helper()
	file := film(t, "a.webm", "-c:v", "libvpx", "-metadata", "title="+Canary, "-cluster_time_limit", "400")
	text := string([]byte{0x80 | byte(len(Canary))}) + Canary
	for _, x := range []string{"\xec" + text, "\x42\x86" + text, "\x7f\xa7" + text} { // Void and two that are unknown, in a segment of unknown size's end
		file = append(file, x...)
	}
	segment := bytes.Index(file, []byte{0x18, 0x53, 0x80, 0x67}) + 4
	binary.BigEndian.PutUint64(file[segment:], 1<<56|uint64(len(file)-segment-8))
	return file
}
