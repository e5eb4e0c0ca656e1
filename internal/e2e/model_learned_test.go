package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"vitrine/service/servicetest"
)

// TestModels_WhatALaterFileTellsFindsTheEarlierOnes: a graph names a checkpoint and
// no more; when another file tells its base model and hash, searches for these find
// the first one too, without a rebuild.
func TestModels_WhatALaterFileTellsFindsTheEarlierOnes(t *testing.T) {
	t.Parallel()
	e := servicetest.Shared(t)
	graph := `{"4":{"class_type":"CheckpointLoaderSimple","inputs":{"ckpt_name":"dream.safetensors"}},` +
		`"5":{"class_type":"KSampler","inputs":{"model":["4",0],"seed":1,"steps":20,"cfg":7,"sampler_name":"euler","scheduler":"normal","denoise":1}}}`
	first := e.StoreFile("", "first.png", "image/png", withText(picture(1, ""), "prompt", graph))
	if f := e.Search("", "model:dream", first.IndexToken); f.Total != 1 {
		t.Fatalf("%+v", f)
	}
	hash := strings.Repeat("ab", 32)
	second := e.StoreFile("", "second.png", "image/png", withText(picture(2, ""), "invokeai_metadata", `{"app_version":"5.0.0","generation_mode":"txt2img",`+
		`"positive_prompt":"a fox","seed":7,"steps":20,"cfg_scale":7.5,"scheduler":"euler","width":48,"height":32,`+
		`"model":{"key":"k","hash":"blake3:`+hash+`","name":"dream","base":"sdxl","type":"main"}}`))
	for _, query := range []string{"base_model:sdxl", "graphtool_model_hash:" + hash} {
		servicetest.Eventually(t, query, func() error {
			f := e.Search("", query, second.IndexToken)
			var names []string
			for _, d := range f.Data {
				names = append(names, d.Filename)
			}
			if !slices.Contains(names, "first.png") {
				return fmt.Errorf("%s finds %v", query, names)
			}
			return nil
		})
	}
}
