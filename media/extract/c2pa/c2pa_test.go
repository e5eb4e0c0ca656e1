package c2pa

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"testing"

	"github.com/fxamacker/cbor/v2"
	"github.com/google/go-cmp/cmp"

	"vitrine/library"
	"vitrine/media/extract/container"
	"vitrine/media/extract/extracttest"
)

// box makes a JUMBF box.
func box(kind string, parts ...[]byte) []byte {
	var body []byte
	for _, p := range parts {
		body = append(body, p...)
	}
	b := binary.BigEndian.AppendUint32(nil, uint32(len(body)+8))
	return append(append(b, kind...), body...)
}

// labelled makes a superbox with a label.
func labelled(label string, parts ...[]byte) []byte {
	description := append(append(make([]byte, 16), 3), label+"\x00"...)
	return box("jumb", append([][]byte{box("jumd", description)}, parts...)...)
}

func content(t testing.TB, v any) []byte {
	t.Helper()
	b, err := cbor.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return box("cbor", b)
}

type object = map[string]any

const generated = "http://cv.iptc.org/newscodes/digitalsourcetype/trainedAlgorithmicMedia"

// made is the manifest of a picture that a model made, with the older claim.
func made(t testing.TB, label string) []byte {
	return labelled(label,
		labelled("c2pa.assertions",
			labelled("c2pa.actions", content(t, object{"actions": []object{
				{"action": "c2pa.created", "digitalSourceType": generated, "when": cbor.Tag{Number: 0, Content: "2026-01-01T00:00:00Z"}},
			}})),
			labelled("c2pa.hash.data", content(t, object{"hash": []byte{1, 2}}))),
		labelled("c2pa.claim", content(t, object{"claim_generator": "Image Service/1.0", "instanceID": "xmp:iid:0", "claim_generator_info": []object{{"name": "x"}}})),
		labelled("c2pa.signature", content(t, []any{1})))
}

// edited is the manifest of a picture that was made from another, with the newer
// claim and numbered assertions.
func edited(t testing.TB, parent string) []byte {
	return labelled("urn:c2pa:2",
		labelled("c2pa.assertions",
			labelled("c2pa.actions.v2", content(t, object{"actions": []object{{"action": "c2pa.opened"}, {"action": "c2pa.edited"}}})),
			labelled("c2pa.ingredient.v3__1", content(t, object{
				"dc:title": "cat.png", "dc:format": "image/png", "relationship": "parentOf",
				"instanceID": "xmp:iid:1", "activeManifest": object{"url": "self#jumbf=/c2pa/" + parent, "hash": []byte{1}},
				"c2pa_manifest": object{"url": "self#jumbf=/c2pa/urn:c2pa:old"}})),
			labelled("c2pa.ingredient", content(t, object{
				"dc:title": "dog.jpg", "relationship": "componentOf", "documentID": "xmp:did:2", "thumbnail": 5}))),
		labelled("c2pa.claim.v2", content(t, object{"claim_generator_info": object{"name": "Editor", "version": "2"}})))
}

func TestC2PA_ClaimOfAGeneratedPicture(t *testing.T) {
	got, err := Read(labelled("c2pa", made(t, "urn:c2pa:1")))
	if err != nil {
		t.Fatal(err)
	}
	want := &library.C2PA{ClaimGenerator: "Image Service/1.0", SourceType: generated,
		Actions: []string{"c2pa.created"}, Signature: "unverified", ManifestID: "urn:c2pa:1", InstanceID: "xmp:iid:0"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestC2PA_ClaimOfAnEditedPicture: the last manifest is the file's own; the kind of
// source is that of the parent, never that of a mere component.
func TestC2PA_ClaimOfAnEditedPicture(t *testing.T) {
	for parent, source := range map[string]string{"urn:c2pa:1": generated, "urn:c2pa:absent": ""} {
		got, err := Read(labelled("c2pa", made(t, "urn:c2pa:1"), edited(t, parent)))
		if err != nil {
			t.Fatal(err)
		}
		want := &library.C2PA{ClaimGenerator: "Editor 2", SourceType: source, Signature: "unverified", ManifestID: "urn:c2pa:2",
			Actions: []string{"c2pa.opened", "c2pa.edited"},
			Ingredients: []library.C2PAIngredient{
				{Title: "cat.png", Format: "image/png", Relationship: "parentOf", InstanceID: "xmp:iid:1", ManifestID: parent},
				{Title: "dog.jpg", Relationship: "componentOf", DocumentID: "xmp:did:2"}}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("parent %s (-want +got):\n%s", parent, diff)
		}
	}
}

// TestC2PA_ClaimThatCannotBeReadIsNotReplacedByAnothers: an earlier manifest tells of a
// file that this one was made from.
func TestC2PA_ClaimThatCannotBeReadIsNotReplacedByAnothers(t *testing.T) {
	for name, last := range map[string][]byte{
		"packed": labelled("urn:c2pa:2", box("brob", []byte{1})),
		"broken": labelled("urn:c2pa:2", labelled("c2pa.claim", box("cbor", []byte{0xFF}))),
	} {
		if got, err := Read(labelled("c2pa", made(t, "urn:c2pa:1"), last)); err == nil {
			t.Errorf("%s: got %+v of another file", name, got)
		}
	}
}

func TestC2PA_TextThatIsNotUTF8SpoilsNothing(t *testing.T) {
	claim := append([]byte{0xA1, 0x6F}, "claim_generator\x62g\xff"...)
	got, err := Read(labelled("c2pa", labelled("urn:c2pa:1", labelled("c2pa.claim", box("cbor", claim)))))
	if err != nil || got.ClaimGenerator != "g\uFFFD" {
		t.Errorf("got %+v, %v", got, err)
	}
}

// TestC2PA_ManifestsThatNameEachOtherEnd: parents may form a circle.
func TestC2PA_ManifestsThatNameEachOtherEnd(t *testing.T) {
	if _, err := Read(labelled("c2pa", edited(t, "urn:c2pa:2"))); err != nil {
		t.Fatal(err)
	}
}

// TestC2PA_FieldOfAnotherTypeSpoilsNothing: what can be read is read.
func TestC2PA_FieldOfAnotherTypeSpoilsNothing(t *testing.T) {
	got, err := Read(labelled("c2pa", labelled("urn:c2pa:1",
		labelled("c2pa.assertions", labelled("c2pa.ingredient", content(t, object{"dc:title": 5, "dc:format": "image/png"}))),
		labelled("c2pa.claim", content(t, object{"claim_generator": "g"})))))
	if err != nil {
		t.Fatal(err)
	}
	want := []library.C2PAIngredient{{Format: "image/png"}}
	if diff := cmp.Diff(want, got.Ingredients); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestC2PA_StoreWithoutAClaimIsAFault(t *testing.T) {
	cases := map[string][]byte{
		"nothing": nil, "no box": []byte("not a box"), "another store": labelled("other", made(t, "urn:c2pa:1")),
		"no claim":     labelled("c2pa", labelled("urn:c2pa:1", labelled("c2pa.assertions"))),
		"broken claim": labelled("c2pa", labelled("urn:c2pa:1", labelled("c2pa.claim", box("cbor", []byte{0xFF})))),
		"cut":          labelled("c2pa", made(t, "urn:c2pa:1"))[:100],
	}
	for name, b := range cases {
		got, err := Read(b)
		var f *library.Error
		if !errors.As(err, &f) || f.Kind != library.KindUnprocessable || got != nil {
			t.Errorf("%s: got %+v, %v; want an unprocessable error", name, got, err)
		}
	}
}

func TestC2PA_SuperboxesWithinSuperboxesEnd(t *testing.T) {
	b := made(t, "urn:c2pa:1")
	for range 2000 {
		b = box("jumb", b)
	}
	if _, err := Read(b); err == nil {
		t.Error("a claim 2000 boxes deep was read")
	}
}

func FuzzRead(f *testing.F) {
	f.Add(labelled("c2pa", made(f, "urn:c2pa:1"), edited(f, "urn:c2pa:1")))
	f.Fuzz(func(t *testing.T, b []byte) {
		extracttest.Bounded(t, len(b), func() {
			if c, err := Read(b); err == nil && c.Signature != Unverified {
				t.Errorf("signature %q", c.Signature)
			}
		})
	})
}

// TestC2PA_ClaimOfARealFile reads the content credentials of a picture that a hosted
// service made.
func TestC2PA_ClaimOfARealFile(t *testing.T) {
	b, err := os.ReadFile("../../../../shared/corpus/c2pa/enslo__c2pa__png__chatgpt-image2.png")
	if err != nil {
		t.Skip("the corpus of sample files is not beside this checkout (../shared/corpus)")
	}
	f, err := container.Read(bytes.NewReader(b), int64(len(b)))
	if err != nil || len(f.Chunks) != 1 {
		t.Fatalf("got %d chunks, %v; want the content credentials", len(f.Chunks), err)
	}
	got, err := Read(f.Chunks[0].Data)
	if err != nil {
		t.Fatal(err)
	}
	want := &library.C2PA{ClaimGenerator: "OpenAI Media Service API", SourceType: generated, Signature: Unverified,
		Actions:    []string{"c2pa.created", "c2pa.converted", "c2pa.watermarked.unbound"},
		ManifestID: "urn:c2pa:3f285491-5d6e-4238-9e7f-ee730b0c4f3a", InstanceID: "xmp:iid:3d2834ea-9661-47ef-a8e8-18342f9ac32a"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
