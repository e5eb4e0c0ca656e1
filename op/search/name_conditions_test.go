package search_test

import "testing"

func TestNameConditions_AWordThatIsPartOfANameIsNoSlip(t *testing.T) {
	t.Parallel()
	x := newIndex(t, nil)
	for i := range 5 {
		d := doc(i, "castle in full bloom")
		d.ModelNames, d.Sampler, d.Filename = []string{"flux1-dev"}, "dpmpp_2m", "ComfyUI_0009 bloom.png"
		both := doc(200+i, "a knight")
		both.ModelNames = d.ModelNames
		x.load(d, both, doc(100+i, "knight in the forest, 1girl"))
	}
	for sent, want := range map[string]string{
		"flux":          "model:flux",
		"flux knight":   "model:flux knight",
		"Flux,":         "model:flux",
		"dpmpp_2m":      "sampler:dpmpp_2m",
		"dpmpp_2m flux": "sampler:dpmpp_2m model:flux",
		"ComfyUI_00":    "filename:comfyui_00",
		"flux knigth":   "model:flux knight",
		"knigth 1girl":  "knight 1girl",
		"bloo":          "bloom",
		"castle":        "",
		"zzyzx":         "",
		"-flux zzyzx":   "",
		`"flux zzyzx"`:  "",
		"flux1-dev":     "",
	} {
		f := x.search(map[string]any{"query": sent})
		got := ""
		if f.DidYouMean != nil {
			got = f.DidYouMean.Query
			if again := x.search(map[string]any{"query": got}); again.Total == 0 {
				t.Errorf("%q suggests %q, which finds nothing", sent, got)
			}
		}
		if got != want {
			t.Errorf("%q suggests %q instead of %q", sent, got, want)
		}
	}
}
