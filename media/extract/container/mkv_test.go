package container

import (
	"math"
	"testing"
)

// ebml makes an element with an eight-byte size.
func ebml(id int, parts ...any) []byte {
	body := join(parts...)
	size := be64(len(body))
	size[0] |= 0x01
	return join(ebmlID(id), size, body)
}

// openEBML makes an element of unknown size.
func openEBML(id int, parts ...any) []byte {
	return join(ebmlID(id), "\x01\xff\xff\xff\xff\xff\xff\xff", join(parts...))
}

func ebmlID(id int) []byte {
	b := be32(id)
	for len(b) > 1 && b[0] == 0 {
		b = b[1:]
	}
	return b
}

func simpleTag(name, text string, nested ...any) []byte {
	return ebml(idSimpleTag, ebml(idTagName, name), ebml(idTagString, text), join(nested...))
}

func mkvHeader(docType string) []byte { return ebml(idEBML, ebml(idDocType, docType)) }

var (
	mkvInfo  = ebml(idInfo, ebml(idTimestampScale, be32(1_000_000)), ebml(idDuration, be64(int(math.Float64bits(2000)))))
	mkvTrack = ebml(idTracks, ebml(idTrackEntry, ebml(idDefaultDuration, be32(125_000_000)),
		ebml(idVideo, ebml(idPixelWidth, be16(64)), ebml(idPixelHeight, 48))))
	mkvTags  = ebml(idTags, ebml(idTag, simpleTag("PROMPT", graph), simpleTag("COMMENT", "outer", simpleTag("inner", "テスト"))))
	mkvBlock = ebml(0xA3, "pixels")
)

func TestMKV_MatroskaTagsAreFoundWhereverTheyStand(t *testing.T) {
	cluster := ebml(idCluster, mkvBlock, mkvBlock)
	seekTo := func(at int) []byte {
		return ebml(idSeekHead, ebml(idSeek, ebml(idSeekID, ebmlID(idTags)), ebml(idSeekPosition, be32(at))))
	}
	// The seek head is the only way past a byte that is no element.
	front := len(seekTo(0)) + len(mkvInfo) + len(mkvTrack) + 1
	cases := map[string][]byte{
		"before the clusters":               ebml(idSegment, mkvInfo, mkvTrack, mkvTags, cluster),
		"behind the clusters":               ebml(idSegment, mkvInfo, mkvTrack, cluster, cluster, mkvTags),
		"segment of unknown size":           openEBML(idSegment, mkvInfo, mkvTrack, cluster, mkvTags),
		"behind clusters of unknown size":   openEBML(idSegment, mkvInfo, mkvTrack, openEBML(idCluster, mkvBlock, mkvBlock), openEBML(idCluster, mkvBlock), mkvTags),
		"where only the seek head leads":    ebml(idSegment, seekTo(front), mkvInfo, mkvTrack, 0, mkvTags),
		"where the seek head leads as well": ebml(idSegment, seekTo(front-1), mkvInfo, mkvTrack, mkvTags),
	}
	for name, segment := range cases {
		t.Run(name, func(t *testing.T) {
			f := readBytes(t, mkvHeader("matroska"), segment)
			wantChunks(t, f, Chunk{Place: "mkv:tag", Key: "PROMPT", Text: graph},
				Chunk{Place: "mkv:tag", Key: "COMMENT", Text: "outer"},
				Chunk{Place: "mkv:tag", Key: "COMMENT/inner", Text: "テスト"})
			if f.MIME != "video/x-matroska" || f.Width != 64 || f.Height != 48 || f.DurationMS != 2000 || f.FPS != 8 {
				t.Errorf("got %+v; want 64×48, 2 s, 8 frames per second", f)
			}
		})
	}
}

// TestMKV_TagsNameMayFollowItsText: no order is prescribed.
func TestMKV_TagsNameMayFollowItsText(t *testing.T) {
	tag := ebml(idSimpleTag, ebml(idTagString, graph), ebml(idSimpleTag, ebml(idTagString, "x"), ebml(idTagName, "inner")), ebml(idTagName, "PROMPT"))
	f := readBytes(t, mkvHeader("webm"), ebml(idSegment, ebml(idTags, ebml(idTag, tag))))
	wantChunks(t, f, Chunk{Place: "mkv:tag", Key: "PROMPT", Text: graph}, Chunk{Place: "mkv:tag", Key: "PROMPT/inner", Text: "x"})
}

func TestMKV_WebMIsToldFromMatroska(t *testing.T) {
	if f := readBytes(t, mkvHeader("webm"), ebml(idSegment, mkvInfo)); f.MIME != "video/webm" {
		t.Errorf("got %s, want video/webm", f.MIME)
	}
}

func TestMKV_CutMatroskaSaysSo(t *testing.T) {
	b := join(mkvHeader("webm"), ebml(idSegment, mkvInfo, mkvTags, ebml(idCluster, make([]byte, 100))))
	f := readBytes(t, b[:len(b)-50])
	if len(f.Chunks) != 3 || !f.Truncated {
		t.Errorf("got %d chunks, truncated %v; want 3 of a cut file", len(f.Chunks), f.Truncated)
	}
}

// TestMKV_LargeMatroskaIsNotReadWhole: tags behind 4 GiB of pictures cost little.
func TestMKV_LargeMatroskaIsNotReadWhole(t *testing.T) {
	const pixels = 4 << 30
	size := be64(pixels)
	size[0] |= 0x01
	s := &sparse{head: join(mkvHeader("webm"), openEBML(idSegment, ebmlID(idCluster), size)), tail: mkvTags}
	s.size = int64(len(s.head)) + pixels + int64(len(s.tail))
	f, err := Read(s, s.size)
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Chunks) != 3 || s.read > 16<<10 {
		t.Errorf("got %d chunks for %d bytes read; want 3 for less than 16 KiB", len(f.Chunks), s.read)
	}
}
