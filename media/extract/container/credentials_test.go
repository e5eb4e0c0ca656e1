package container

import (
	"encoding/base64"
	"testing"
)

// TestCredentials_ContentCredentialsAreFoundInEveryContainer: the specification names a place
// for each (C2PA 2.1, annex A).
func TestCredentials_ContentCredentialsAreFoundInEveryContainer(t *testing.T) {
	object := func(coding int, names ...any) []byte {
		return id3Frame(3, "GEOB", coding, credentialsMIME, 0, join(names...), manifestStore)
	}
	cases := map[string]struct {
		file []byte
		key  string
	}{
		"PNG":     {pngFile(pngChunk("caBX", manifestStore)), "png:caBX"},
		"JPEG":    {jpegFile(segment(0xEB, "JP", be16(1), be32(1), manifestStore)), "jpeg:APP11"},
		"WebP":    {riffFile("WEBP", riffChunk("C2PA", manifestStore)), "webp:C2PA"},
		"WAV":     {riffFile("WAVE", riffChunk("C2PA", manifestStore)), "wav:C2PA"},
		"AVI":     {riffFile("AVI ", riffChunk("C2PA", manifestStore)), "avi:C2PA"},
		"JPEG XL": {join(jxlContainer, manifestStore), "jxl:jumb"},
		"TIFF":    {exifBlock(le, []field{{tagC2PA, 7, manifestStore}}, nil), "tiff:0xCD41"},
		"GIF":     {gifFile(0x21, 0xFF, gifBlock(credentialsApplication)[:12], gifBlock(string(manifestStore))), "gif:C2PA_GIF"},
		"SVG": {[]byte(`<svg xmlns="http://www.w3.org/2000/svg"><metadata><c2pa:manifest xmlns:c2pa="http://c2pa.org/manifest">` +
			base64.StdEncoding.EncodeToString(manifestStore) + `</c2pa:manifest></metadata></svg>`), "svg:manifest"},
		"MP3":                       {id3Tagged(3, 0, object(0, "c2pa\x00", "c2pa manifest store\x00")), "id3:GEOB"},
		"MP3 with names in 16 bits": {id3Tagged(3, 0, object(1, "\xff\xfe", utf16Bytes(le, "c2pa"), 0, 0, "\xff\xfe", 0, 0)), "id3:GEOB"},
		"MP4":                       {join(ftyp, atom("uuid", uuidC2PA, be32(0), "manifest\x00", be64(0), manifestStore)), "mp4:uuid"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			wantChunks(t, readBytes(t, c.file), Chunk{Place: "c2pa", Key: c.key, Data: manifestStore})
		})
	}
}

// TestCredentials_OtherAttachedObjectsAreLeftOut: they are files of their own.
func TestCredentials_OtherAttachedObjectsAreLeftOut(t *testing.T) {
	wantChunks(t, readBytes(t, id3Tagged(3, 0, id3Frame(3, "GEOB", 0, "text/plain\x00a.txt\x00\x00", "a cat"))))
	wantChunks(t, readBytes(t, []byte(`<svg xmlns="http://www.w3.org/2000/svg"><metadata><manifest>a cat</manifest></metadata></svg>`)),
		Chunk{Place: "svg:metadata", Key: "manifest", Text: "a cat"})
}
