package formats

import (
	"encoding/binary"
	"testing"

	"github.com/fxamacker/cbor/v2"

	"vitrine/library"
	"vitrine/media/extract/container"
)

// box builds an ISO box; super builds a JUMBF superbox with its label.
func box(kind string, body ...byte) []byte {
	return append(append(binary.BigEndian.AppendUint32(nil, uint32(8+len(body))), kind...), body...)
}

func super(label string, children ...[]byte) []byte {
	body := box("jumd", append(append(make([]byte, 16), 3), label+"\x00"...)...)
	for _, c := range children {
		body = append(body, c...)
	}
	return box("jumb", body...)
}

func cborBox(t *testing.T, v any) []byte {
	t.Helper()
	b, err := cbor.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return box("cbor", b...)
}

func TestCredentials_GiveOriginAndParentsButNoPrompt(t *testing.T) {
	store := super("c2pa", super("urn:uuid:1",
		super("c2pa.assertions",
			super("c2pa.actions", cborBox(t, map[string]any{"actions": []any{map[string]any{"action": "c2pa.created", "digitalSourceType": "trainedAlgorithmicMedia"}}})),
			super("c2pa.ingredient", cborBox(t, map[string]any{"dc:title": "first.png", "relationship": "parentOf"})),
			super("c2pa.ingredient__1", cborBox(t, map[string]any{"relationship": "componentOf", "instanceID": "xmp:iid:1"}))),
		super("c2pa.claim", cborBox(t, map[string]any{"claim_generator": "Paint 1.0"}))))
	l := readAs(t, "c2pa", container.Chunk{Place: "c2pa", Key: "png:caBX", Data: store},
		container.Chunk{Place: "xmp", Key: "xmpMM:InstanceID", Text: "xmp:iid:own"})
	if l.C2PA == nil || l.C2PA.ClaimGenerator != "Paint 1.0" || l.C2PA.SourceType != "trainedAlgorithmicMedia" || l.C2PA.Signature != "unverified" {
		t.Errorf("claim is %+v", l.C2PA)
	}
	diff(t, []library.Parent{{Kind: "c2pa_ingredient", Name: "first.png"}, {Kind: "c2pa_ingredient", Hash: "c2pa:xmp:iid:1"}}, l.Parents)
	if l.C2PA.ManifestID != "urn:uuid:1" || l.C2PA.InstanceID != "xmp:iid:own" {
		t.Errorf("the file's own ids are %q, %q", l.C2PA.ManifestID, l.C2PA.InstanceID)
	}
	if l.HasGenerationData() || l.Tool != "" {
		t.Errorf("credentials hold no generation data, read as %+v", l)
	}
}

func TestCredentials_BrokenCredentialsAreNamedNotFatal(t *testing.T) {
	l := readAs(t, "c2pa", container.Chunk{Place: "c2pa", Key: "png:caBX", Data: []byte("no boxes in here")})
	if l.C2PA != nil || len(l.Warnings) != 1 || l.HasGenerationData() {
		t.Errorf("read as %+v", l)
	}
}
