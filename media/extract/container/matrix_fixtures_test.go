package container

import (
	"encoding/json"
	"strings"
)

// Matrix makes a file of each kind that can carry ComfyUI's two documents, the way
// the kind's usual writers put them there. Enc gives the bytes of a text as it is
// to stand in the file. It is exported for the test that reads whole lineages.
var Matrix = map[string]func(prompt, workflow string, enc func(string) string) []byte{
	"PNG tEXt": func(p, w string, enc func(string) string) []byte {
		return pngFile(pngChunk("tEXt", "prompt\x00", enc(p)), pngChunk("tEXt", "workflow\x00", enc(w)))
	},
	"PNG zTXt": func(p, w string, enc func(string) string) []byte {
		return pngFile(pngChunk("zTXt", "prompt\x00\x00", zipped(enc(p))), pngChunk("zTXt", "workflow\x00\x00", zipped(enc(w))))
	},
	"PNG iTXt": func(p, w string, enc func(string) string) []byte {
		return pngFile(pngChunk("iTXt", "prompt\x00\x00\x00\x00\x00", enc(p)), pngChunk("iTXt", "workflow\x00\x00\x00en\x00x\x00", enc(w)))
	},
	"PNG iTXt, compressed": func(p, w string, enc func(string) string) []byte {
		return pngFile(pngChunk("iTXt", "prompt\x00\x01\x00\x00\x00", zipped(enc(p))), pngChunk("iTXt", "workflow\x00\x01\x00\x00\x00", zipped(enc(w))))
	},
	"PNG behind the pixels": func(p, w string, enc func(string) string) []byte {
		return join("\x89PNG\r\n\x1a\n", pngHeader(3, 2), pngChunk("IDAT", "pixels"), pngChunk("tEXt", "prompt\x00", enc(p)),
			pngChunk("zTXt", "workflow\x00\x00", zipped(enc(w))), pngChunk("IEND"))
	},
	"JPEG EXIF": func(p, w string, enc func(string) string) []byte {
		return jpegFile(segment(0xE1, "Exif\x00\x00", exifPair("prompt:", "workflow:", p, w, enc)))
	},
	"JPEG UserComment": func(p, w string, enc func(string) string) []byte {
		return jpegFile(segment(0xE1, "Exif\x00\x00", exifBlock(be, nil, []field{{0x9286, 7, []byte("UNICODE\x00" + enc(inOne(p, w)))}})))
	},
	"JPEG comment": func(p, w string, enc func(string) string) []byte {
		return jpegFile(segment(0xFE, enc(inOne(p, w))))
	},
	"JPEG XL": func(p, w string, enc func(string) string) []byte {
		return join(jxlContainer, atom("jxlc", jxlOf3x2), atom("Exif", be32(0), exifPair("prompt:", "workflow:", p, w, enc)))
	},
	"WebP": func(p, w string, enc func(string) string) []byte {
		return riffFile("WEBP", webpCanvas(3, 2), riffChunk("VP8L", 0x2F, le32(2|1<<14), 0), riffChunk("EXIF", exifPair("Prompt: ", "Workflow: ", p, w, enc)))
	},
	"WebP, animated": func(p, w string, enc func(string) string) []byte {
		return riffFile("WEBP", webpCanvas(3, 2), webpFrame(40), webpFrame(40), riffChunk("EXIF", "Exif\x00\x00", exifPair("prompt:", "workflow:", p, w, enc)))
	},
	"AVIF": func(p, w string, enc func(string) string) []byte {
		return avifFile("avif", join(be32(0), exifPair("prompt:", "workflow:", p, w, enc)), []byte(xmpPacket))
	},
	"HEIF": func(p, w string, enc func(string) string) []byte {
		return avifFile("heic", join(be32(6), "Exif\x00\x00", exifPair("prompt:", "workflow:", p, w, enc)), []byte(xmpPacket))
	},
	"GIF": func(p, w string, enc func(string) string) []byte {
		return gifFile(0x21, 0xFE, gifBlock(enc(inOne(p, w))), gifFrame(10), gifFrame(10))
	},
	"TIFF": func(p, w string, enc func(string) string) []byte {
		return exifBlock(le, []field{{tagWidth, 3, le16(3)}, {tagHeight, 3, le16(2)},
			{0x010F, 2, []byte(enc("workflow:" + w))}, {0x0110, 2, []byte(enc("prompt:" + p))}}, nil)
	},
	"MP4 keys": func(p, w string, enc func(string) string) []byte {
		return join(ftyp, movieBox(atom("udta", fullAtom("meta", mdtaHandler, keyed("prompt", enc(p), "workflow", enc(w))))), atom("mdat", "pixels"))
	},
	"MP4 keys, movie last": func(p, w string, enc func(string) string) []byte {
		return join(ftyp, atom("mdat", make([]byte, 5000)), movieBox(fullAtom("meta", mdtaHandler, keyed("PROMPT", enc(p), "WORKFLOW", enc(w)))))
	},
	"MP4 keys, three times encoded": func(p, w string, enc func(string) string) []byte {
		return join(ftyp, movieBox(atom("udta", fullAtom("meta", mdtaHandler, keyed("prompt", enc(quoted(quoted(p))), "workflow", enc(quoted(w)))))))
	},
	"MP4 comment": func(p, w string, enc func(string) string) []byte {
		return join(ftyp, movieBox(atom("udta", fullAtom("meta", mdtaHandler, atom("ilst", item("\xa9cmt", enc(inOne(p, w))))))), atom("mdat", "pixels"))
	},
	"MOV": func(p, w string, enc func(string) string) []byte {
		return join(atom("ftyp", "qt  ", be32(512), "qt  "), atom("wide"), atom("mdat", "pixels"), movieBox(atom("meta", mdtaHandler, keyed("prompt", enc(p), "workflow", enc(w)))))
	},
	"WebM": func(p, w string, enc func(string) string) []byte {
		return join(mkvHeader("webm"), openEBML(idSegment, mkvInfo, mkvTrack, ebml(idCluster, mkvBlock),
			ebml(idTags, ebml(idTag, simpleTag("PROMPT", enc(p)), simpleTag("WORKFLOW", enc(w))))))
	},
	"MKV": func(p, w string, enc func(string) string) []byte {
		return join(mkvHeader("matroska"), ebml(idSegment, mkvInfo, mkvTrack, ebml(idTags, ebml(idTag, simpleTag("COMMENT", enc(inOne(p, w))))), ebml(idCluster, mkvBlock)))
	},
	"FLAC": func(p, w string, enc func(string) string) []byte {
		return join("fLaC", flacMetadata(0, streamInfo), flacMetadata(0x84, vorbisBlock("prompt="+enc(p), "workflow="+enc(w))), "audio")
	},
	"Ogg Vorbis": func(p, w string, enc func(string) string) []byte {
		return join(oggPages(2, 0, join("\x01vorbis", be32(0), 2, le32(44100), make([]byte, 14))),
			oggPages(0, 0, join("\x03vorbis", vorbisBlock("prompt="+enc(p), "workflow="+enc(w)), 1)), oggPages(4, 96000, []byte("audio")))
	},
	"Ogg Opus": func(p, w string, enc func(string) string) []byte {
		return join(oggPages(2, 0, join("OpusHead", 1, 2, le16(0), le32(44100), 0, 0, 0)),
			oggPages(0, 0, join("OpusTags", vorbisBlock("prompt="+enc(p), "workflow="+enc(w)))), oggPages(4, 96000, []byte("audio")))
	},
	"MP3": func(p, w string, enc func(string) string) []byte {
		frame := func(name, text string) []byte {
			if text = enc(text); isUTF16([]byte(text)) {
				return id3Frame(3, "TXXX", 1, enc(name), 0, 0, text, 0, 0)
			}
			return id3Frame(3, "TXXX", 3, name, 0, text, 0)
		}
		return id3Tagged(3, 0, frame("prompt", p), frame("workflow", w))
	},
	"GLB": func(p, w string, _ func(string) string) []byte {
		return glbFile(`{"asset":{"version":"2.0","extras":{"prompt":`+quoted(p)+`,"workflow":`+quoted(w)+`}}}`, " ")
	},
	"SVG": func(p, w string, enc func(string) string) []byte {
		return []byte(enc(`<svg xmlns="http://www.w3.org/2000/svg" width="3" height="2"><metadata><prompt><![CDATA[` + p + `]]></prompt><workflow><![CDATA[` + w + `]]></workflow></metadata><g/></svg>`))
	},
	"safetensors": func(p, w string, _ func(string) string) []byte {
		header := `{"latent_tensor":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"__metadata__":{"prompt":` + quoted(p) + `,"workflow":` + quoted(w) + `}}`
		return join(le32(len(header)), le32(0), header, "data")
	},
}

// exifPair makes an EXIF block with both documents behind these words.
func exifPair(promptWord, workflowWord, prompt, workflow string, enc func(string) string) []byte {
	return exifBlock(le, []field{{0x010F, 2, []byte(enc(workflowWord + workflow))}, {0x0110, 2, []byte(enc(promptWord + prompt))}}, nil)
}

// inOne puts both documents into one object, the executed graph as a string.
func inOne(prompt, workflow string) string {
	return `{"prompt":` + quoted(prompt) + `,"workflow":` + workflow + `}`
}

// quoted returns a text as a JSON string.
func quoted(text string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.Encode(text)
	return strings.TrimSpace(b.String())
}

func isUTF16(b []byte) bool {
	return len(b) > 1 && (b[0] == 0xFE && b[1] == 0xFF || b[0] == 0xFF && b[1] == 0xFE)
}

// UTF16 encodes text behind a mark, for Matrix.
func UTF16(text string, bigEndian bool) string {
	if bigEndian {
		return string(utf16Bytes(be, "\ufeff"+text))
	}
	return string(utf16Bytes(le, "\ufeff"+text))
}
