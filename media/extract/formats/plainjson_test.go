package formats

import "testing"

func TestPlainjson_PlainJSON(t *testing.T) {
	l := readAs(t, "plain-json", exif(`{"prompt":"a fox","negative_prompt":"ugly","seed":42,"steps":20,"cfg_scale":7,"width":512,"height":768,"model":"fox"}`))
	diff(t, facts{Positive: "a fox", Negative: "ugly", Seed: 42, Steps: 20, CFG: 7, W: 512, H: 768, Model: "fox", Models: []string{"checkpoint fox"}}, factsOf(l))
}

func TestPlainjson_PlainJSONOfAVideoService(t *testing.T) {
	for resolution, want := range map[string][2]int{"832x480": {832, 480}, "(1024, 768)": {1024, 768}, "720p": {}, "16:9 720p": {}, "1:1": {}} {
		l := readAs(t, "plain-json", exif(`{"prompt":"a fox","seed":42,"num_inference_steps":30,"num_frames":81,"sampler":"DPM++ 2M Karras","resolution":"`+resolution+`","Model":null}`))
		diff(t, facts{Positive: "a fox", Seed: 42, Steps: 30, Sampler: "DPM++ 2M Karras", Scheduler: "Karras", W: want[0], H: want[1]}, factsOf(l))
		if got := val(l.Parameters.Frames); got != 81 {
			t.Errorf("%d frames", got)
		}
	}
}

func TestPlainjson_PlainChunks(t *testing.T) {
	l := readAs(t, "plain-json", png("prompt", "a fox"), png("negative-prompt", "ugly"), png("seed", "42"), png("steps", "20"), png("scale", "7.5"), png("sampler", "ddim"))
	diff(t, facts{Positive: "a fox", Negative: "ugly", Seed: 42, Steps: 20, CFG: 7.5, Sampler: "ddim"}, factsOf(l))
}

func FuzzJSONWriters(f *testing.F) {
	for _, seed := range []string{swarmRecord, novelComment, invokeMeta, drawRecord,
		`{"prompt":"p","base_model":"b","performance":"s","loras":[["a",1,"ffffffffff"],"n : 1",{"name":"x"}],"seed":"1","metadata_scheme":"fooocus"}`,
		`{"software":"RuinedFooocus","Prompt":"p","loras":[["h","1 - n"]]}`,
		`{"prompt":"p","use_stable_diffusion_model":"m","lora_alpha":"1,2","use_lora_model":["a"]}`,
		`{"prompt":"p","num_inference_steps":1,"resolution":"1 x 2","Model":"m","use_upscaler":{"upscale_by":2}}`,
		`{"extraMetadata":"{\"prompt\":\"p\",\"workflowId\":\"hires\"}","1":{"class_type":"KSampler","inputs":{"steps":1}}}`,
		`{"full_command":"p --v 5","id":"1","parent_id":"2"}`, `{"State":{"Sampler":{"Steps":1}},"PositivePrompt":"p","ModelName":"m"}`,
		`{"image":{"prompt":[{"prompt":"a [b]"}]},"app_id":"invoke-ai/InvokeAI"}`, `{"prompt":"p","baseModel":{"label":"x"},"cfgScale":1}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, key := range []string{"parameters", "UserComment", "Comment", "invokeai_metadata", "sd-metadata", "generation_data", "smproj", "parameters-json", "extraMetadata"} {
			checkRecords(t, Read(open(png(key, text))))
		}
	})
}
