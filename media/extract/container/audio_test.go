package container

import (
	"bytes"
	"strings"
	"testing"
)

// vorbisBlock makes a comment block of KEY=value texts.
func vorbisBlock(comments ...string) []byte {
	b := join(le32(3), "enc", le32(len(comments)))
	for _, c := range comments {
		b = join(b, le32(len(c)), c)
	}
	return b
}

// flacMetadata makes a metadata block.
func flacMetadata(kind int, parts ...any) []byte {
	body := join(parts...)
	return join(kind, be32(len(body))[1:], body)
}

// streamInfo is a header of 44100 Hz and two seconds.
var streamInfo = join(make([]byte, 10), "\x0a\xc4\x40\xf0", be32(88200), make([]byte, 16))

func TestAudio_FLACCommentsAreRead(t *testing.T) {
	flac := join("fLaC", flacMetadata(0, streamInfo), flacMetadata(0x84, vorbisBlock("prompt="+graph, "WORKFLOW=テスト")), "audio")
	for name, b := range map[string][]byte{"plain": flac, "behind an ID3 tag": join("ID3\x04\x00\x00", be32(0), flac)} {
		t.Run(name, func(t *testing.T) {
			f := readBytes(t, b)
			wantChunks(t, f, Chunk{Place: "flac:comment", Key: "prompt", Text: graph},
				Chunk{Place: "flac:comment", Key: "WORKFLOW", Text: "テスト"})
			if f.MIME != "audio/flac" || f.DurationMS != 2000 {
				t.Errorf("got %s of %d ms; want FLAC of 2000", f.MIME, f.DurationMS)
			}
		})
	}
}

// oggPages lays a packet out over pages of at most 255 segments.
func oggPages(flags, position int, packet []byte) []byte {
	var out []byte
	for first := true; first || len(packet) > 0; first = false {
		n := min(len(packet), 255*254)
		lacing := bytes.Repeat([]byte{255}, n/255)
		if n == len(packet) {
			lacing = append(lacing, byte(n%255))
		}
		out = join(out, "OggS", 0, flags, le32(position), le32(0), le32(7), le32(0), le32(0), len(lacing), lacing, packet[:n])
		packet, flags = packet[n:], 1
	}
	return out
}

func TestAudio_OggCommentsAreReadOfEveryCodec(t *testing.T) {
	long := strings.Repeat("テスト", 20_000) // more than a page
	comments := vorbisBlock("prompt="+graph, "workflow="+long)
	cases := map[string]struct {
		first, second []byte
		mime          string
	}{
		"Vorbis": {join("\x01vorbis", be32(0), 2, le32(44100), make([]byte, 14)), join("\x03vorbis", comments, 1), "audio/ogg"},
		"Opus":   {join("OpusHead", 1, 2, le16(0), le32(44100), 0, 0, 0), join("OpusTags", comments), "audio/ogg"},
		"FLAC":   {join("\x7fFLAC\x01\x00", be16(1), "fLaC", flacMetadata(0, streamInfo)), flacMetadata(0x84, comments), "audio/ogg"},
		"Theora": {join("\x80theora\x03\x02\x01", be16(4), be16(3), be32(64)[1:], be32(48)[1:]), join("\x81theora", comments), "video/ogg"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			f := readBytes(t, oggPages(2, 0, c.first), oggPages(0, 0, c.second), oggPages(4, 96000, []byte("audio")))
			wantChunks(t, f, Chunk{Place: "ogg:comment", Key: "prompt", Text: graph},
				Chunk{Place: "ogg:comment", Key: "workflow", Text: long})
			if f.MIME != c.mime || f.Truncated {
				t.Errorf("got %s, truncated %v; want a whole %s", f.MIME, f.Truncated, c.mime)
			}
			if name == "Opus" && f.DurationMS != 2000 {
				t.Errorf("got %d ms, want 2000", f.DurationMS)
			}
			if name == "Theora" && (f.Width != 64 || f.Height != 48) {
				t.Errorf("got %d×%d, want 64×48", f.Width, f.Height)
			}
		})
	}
}

// safe4 writes four bytes of seven bits.
func safe4(n int) []byte {
	return []byte{byte(n >> 21 & 127), byte(n >> 14 & 127), byte(n >> 7 & 127), byte(n & 127)}
}

// id3Frame makes a frame of version 3 or 4.
func id3Frame(version int, id string, parts ...any) []byte {
	body := join(parts...)
	size := be32(len(body))
	if version == 4 {
		size = safe4(len(body))
	}
	return join(id, size, 0, 0, body)
}

func id3Tagged(version, flags int, frames ...any) []byte {
	body := join(frames...)
	return join("ID3", version, 0, flags, safe4(len(body)), body, "\xff\xfb\x90\x00", make([]byte, 100))
}

func TestAudio_ID3TextIsReadInEveryCoding(t *testing.T) {
	const text = "größe テスト"
	packed := zipped("\x03k\x00" + text)
	long := strings.Repeat("x", 200) // its length differs between seven and eight bits a byte
	cases := map[string]struct {
		file []byte
		want Chunk
	}{
		"Latin-1":                   {id3Tagged(3, 0, id3Frame(3, "TXXX", 0, "prompt\x00gr\xf6\xdfe")), Chunk{Key: "prompt", Text: "größe"}},
		"UTF-8 declared as Latin-1": {id3Tagged(3, 0, id3Frame(3, "TXXX", 0, "prompt\x00", text)), Chunk{Key: "prompt", Text: text}},
		"UTF-16 with a mark": {id3Tagged(3, 0, id3Frame(3, "TXXX", 1, "\xff\xfe", utf16Bytes(le, "prompt"), 0, 0, "\xfe\xff", utf16Bytes(be, text), 0, 0)),
			Chunk{Key: "prompt", Text: text}},
		"UTF-16 big-endian":   {id3Tagged(4, 0, id3Frame(4, "TXXX", 2, utf16Bytes(be, "prompt"), 0, 0, utf16Bytes(be, text))), Chunk{Key: "prompt", Text: text}},
		"UTF-8":               {id3Tagged(4, 0, id3Frame(4, "TXXX", 3, "prompt\x00", text, 0)), Chunk{Key: "prompt", Text: text}},
		"comment":             {id3Tagged(4, 0, id3Frame(4, "COMM", 3, "eng", "\x00", text)), Chunk{Key: "COMM", Text: text}},
		"comment with a name": {id3Tagged(4, 0, id3Frame(4, "COMM", 3, "eng", "workflow\x00", text)), Chunk{Key: "COMM:workflow", Text: text}},
		"several values":      {id3Tagged(4, 0, id3Frame(4, "TPE1", 3, "a\x00b\x00")), Chunk{Key: "TPE1", Text: "a\nb"}},
		"length in eight bits against the rules": {id3Tagged(4, 0, "TXXX", be32(len(long)+8), 0, 0, 3, "prompt\x00", long, "TIT2", safe4(1), 0, 0, 3),
			Chunk{Key: "prompt", Text: long}},
		"unsynchronised": {id3Tagged(3, 0x80, id3Frame(3, "TXXX", 0, "prompt\x00\xff\xf6")[:18], "\xff\x00\xf6"), Chunk{Key: "prompt", Text: "ÿö"}},
		"in a group":     {id3Tagged(4, 0, "TXXX", safe4(15), 0, 0x41, 7, be32(10), 3, "k\x00größe"), Chunk{Key: "k", Text: "größe"}},
		"compressed":     {id3Tagged(3, 0, "TXXX", be32(4+len(packed)), 0, 0x80, be32(len(text)+3), packed), Chunk{Key: "k", Text: text}},
		"version 2":      {join("ID3\x02\x00\x00", safe4(14), "TXX", be32(8)[1:], 0, "k\x00a cat"), Chunk{Key: "k", Text: "a cat"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			c.want.Place = "mp3:id3"
			f := readBytes(t, c.file)
			wantChunks(t, f, c.want)
			if f.MIME != "audio/mpeg" {
				t.Errorf("got %s, want audio/mpeg", f.MIME)
			}
		})
	}
}

// TestAudio_MP3LengthIsReadOfHeaderOrBitRate: 128 kbit/s are 16 bytes per millisecond.
func TestAudio_MP3LengthIsReadOfHeaderOrBitRate(t *testing.T) {
	frame := "\xff\xfb\x90\x00"
	if f := readBytes(t, frame, make([]byte, 32000-4)); f.DurationMS != 2000 || f.MIME != "audio/mpeg" {
		t.Errorf("by bit rate: got %s of %d ms, want 2000", f.MIME, f.DurationMS)
	}
	if f := readBytes(t, "\xff\xf3\x80\x00", make([]byte, 17), "Info", be32(1), be32(100), make([]byte, 999)); f.DurationMS != 2612 {
		t.Errorf("by frame count, MPEG-2: got %d ms; 100 frames of 576 samples at 22050 Hz are 2612", f.DurationMS)
	}
	if f := readBytes(t, frame, make([]byte, 32), "Xing", be32(1), be32(100), make([]byte, 999)); f.DurationMS != 2612 {
		t.Errorf("by frame count: got %d ms; 100 frames of 1152 samples at 44100 Hz are 2612", f.DurationMS)
	}
}

func TestAudio_WAVInfoAndLengthAreRead(t *testing.T) {
	f := readBytes(t, riffFile("WAVE",
		riffChunk("fmt ", le16(1), le16(1), le32(8000), le32(16000), le16(2), le16(16)),
		riffChunk("data", make([]byte, 32000)),
		riffChunk("LIST", "INFO", riffChunk("ICMT", graph, 0), riffChunk("ISFT", "Lavf\x00"))))
	wantChunks(t, f, Chunk{Place: "wav:info", Key: "ICMT", Text: graph}, Chunk{Place: "wav:info", Key: "ISFT", Text: "Lavf"})
	if f.MIME != "audio/wav" || f.DurationMS != 2000 {
		t.Errorf("got %s of %d ms; want WAV of 2000", f.MIME, f.DurationMS)
	}
}

func TestAudio_AVIHeaderAndInfoAreRead(t *testing.T) {
	header := riffChunk("avih", le32(125_000), make([]byte, 12), le32(16), make([]byte, 12), le32(64), le32(48), make([]byte, 16))
	f := readBytes(t, riffFile("AVI ", riffChunk("LIST", "hdrl", header), riffChunk("LIST", "INFO", riffChunk("ICMT", graph))))
	wantChunks(t, f, Chunk{Place: "avi:info", Key: "ICMT", Text: graph})
	if f.Width != 64 || f.Height != 48 || f.Frames != 16 || f.DurationMS != 2000 || f.FPS != 8 {
		t.Errorf("got %+v; want 64×48, 16 frames, 2 s", f)
	}
}
