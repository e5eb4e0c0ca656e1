package e2e

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/fxamacker/cbor/v2"

	"vitrine/api/client"
	"vitrine/service/servicetest"
)

// repainted is a picture that a graph made from another file.
func repainted(pixels, seed int, source string) []byte {
	return withText(picture(pixels, ""), "prompt", fmt.Sprintf(`{"1":{"class_type":"LoadImage","inputs":{"image":%q}},
		"3":{"class_type":"KSampler","inputs":{"seed":%d,"steps":20,"cfg":7,"sampler_name":"euler","scheduler":"normal","denoise":0.5,"model":["4",0],"positive":["6",0],"negative":["6",0],"latent_image":["5",0]}},
		"4":{"class_type":"CheckpointLoaderSimple","inputs":{"ckpt_name":"a.safetensors"}},"5":{"class_type":"VAEEncode","inputs":{"pixels":["1",0],"vae":["4",2]}},
		"6":{"class_type":"CLIPTextEncode","inputs":{"text":"a fox","clip":["4",1]}},"8":{"class_type":"VAEDecode","inputs":{"samples":["3",0],"vae":["4",2]}},
		"9":{"class_type":"SaveImage","inputs":{"filename_prefix":"x","images":["8",0]}}}`, source, seed))
}

// credentialed is a picture with content credentials: a manifest of its own, and
// the manifest of the file it was made from, if any.
func credentialed(t *testing.T, pixels int, manifest, madeFrom string) []byte {
	t.Helper()
	box := func(kind string, parts ...[]byte) []byte {
		var body []byte
		for _, p := range parts {
			body = append(body, p...)
		}
		b := binary.BigEndian.AppendUint32(nil, uint32(len(body)+8))
		return append(append(b, kind...), body...)
	}
	super := func(label string, parts ...[]byte) []byte {
		return box("jumb", append([][]byte{box("jumd", append(append(make([]byte, 16), 3), label+"\x00"...))}, parts...)...)
	}
	content := func(v any) []byte {
		b, err := cbor.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return box("cbor", b)
	}
	var ingredients [][]byte
	if madeFrom != "" {
		ingredients = append(ingredients, super("c2pa.ingredient.v3", content(map[string]any{"dc:title": "unnamed.jpg", "relationship": "parentOf",
			"activeManifest": map[string]any{"url": "self#jumbf=/c2pa/" + madeFrom}})))
	}
	store := super("c2pa", super(manifest, super("c2pa.assertions", ingredients...),
		super("c2pa.claim.v2", content(map[string]any{"claim_generator_info": map[string]any{"name": "Test"}}))))
	return withChunk(picture(pixels, ""), "caBX", store)
}

// drawnEdge is what is known of the edge from a child to its parent.
type drawnEdge struct{ child, kind, evidence, source string }

// TestLineage_EveryKindOfEdgeIsDrawn stores children before their parents, and wants each
// parent recognised by what the child's file, or its uploader, says of it.
func TestLineage_EveryKindOfEdgeIsDrawn(t *testing.T) {
	t.Parallel()
	e := servicetest.Shared(t)
	hash := func(s servicetest.Stored) string { return string(s.Asset.AssetH) }
	store := func(name string, data []byte) string { return hash(e.StoreFile("", name, "image/png", data)) }
	const motherJob, childJob = "0b6b1f1c-5c1e-4d6e-9a39-0d5f1f6f0001", "0b6b1f1c-5c1e-4d6e-9a39-0d5f1f6f0002"

	hashed := picture(20, "")
	byHashName := sha1Hex(hashed) + ".png"
	children := map[string]drawnEdge{
		"name": {store("child-1.png", repainted(10, 1, "mother.png")), "input_image", "name", "extracted"},
		"hash": {store("child-2.png", repainted(11, 2, byHashName)), "input_image", "hash", "extracted"},
		"c2pa": {store("child-3.png", credentialed(t, 12, "urn:c2pa:child", "urn:c2pa:mother")), "c2pa_ingredient", "c2pa", "extracted"},
		"job": {store("child-4.png", withText(picture(13, ""), "Description",
			"https://cdn.midjourney.com/"+motherJob+"/0_0.png a fox --v 6 Job ID: "+childJob)), "input_image", "imagetool_job", "extracted"},
	}
	parents := map[string]string{
		"name": store("mother.png", picture(21, "")),
		"hash": store("whatever.png", hashed),
		"c2pa": store("signed.png", credentialed(t, 22, "urn:c2pa:mother", "")),
		"job":  store("fox_0.png", withText(picture(23, ""), "Description", "a fox --v 6 Job ID: "+motherJob)),
	}
	told, err := e.Client("").StoreAsset(t.Context(), client.StoreAssetInput{Filename: "child-5.png", MIMEType: "image/png",
		AssetDataBase64: base64.StdEncoding.EncodeToString(picture(14, "")), ParentAssetH: parents["name"]})
	if err != nil {
		t.Fatal(err)
	}
	children["uploader"] = drawnEdge{hash(told), "parent_asset_h", "uploader", "client_asserted"}
	parents["uploader"] = parents["name"]

	for what, c := range children {
		c.isDrawn(t, e, what, parents[what])
	}

	sibling := store("again.png", repainted(15, 1, "mother.png"))
	var got lineageAnswer
	e.Call("GET", "/api/v1/assets/"+children["name"].child+"/lineage?include_siblings=true", nil, &got)
	found := false
	for _, x := range got.Edges {
		found = found || x.Child == sibling && x.Parent == children["name"].child && x.Kind == "same_seed_workflow" && x.Evidence == "same_seed_workflow"
	}
	if !found {
		t.Errorf("the repeat of a run is no sibling: %+v", got.Edges)
	}
}

// isDrawn asks for the ancestors of the child and for the descendants of the parent: both have the edge.
func (c drawnEdge) isDrawn(t *testing.T, e *servicetest.Env, what, parent string) {
	t.Helper()
	var got lineageAnswer
	e.Call("GET", "/api/v1/assets/"+c.child+"/lineage?direction=ancestors", nil, &got)
	if len(got.Edges) != 1 {
		t.Errorf("%s: edges %+v", what, got.Edges)
		return
	}
	x := got.Edges[0]
	if x.Child != c.child || x.Parent != parent || x.Kind != c.kind || x.Evidence != c.evidence || x.Source != c.source || !x.Resolved {
		t.Errorf("%s: the edge is %+v, want %+v to %s", what, x, c, parent)
	}
	var down lineageAnswer
	e.Call("GET", "/api/v1/assets/"+parent+"/lineage?direction=descendants", nil, &down)
	found := false
	for _, x := range down.Edges {
		found = found || x.Child == c.child && x.Evidence == c.evidence
	}
	if !found {
		t.Errorf("%s: the parent does not know its child: %+v", what, down.Edges)
	}
}
