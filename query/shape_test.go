package query

import "testing"

func TestSentence_IsToldFromTagsNamesAndKeywords(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"a dog runs through the grass with a ball":                  true,
		"two men are standing in front of a store":                  true,
		"what are the structural problems of flight at high speed":  true,
		"show me a picture of a red fox":                            true,
		"1girl, silver hair, cloak, misty forest, best quality, 8k": false,
		"red fox":                         false,
		"the fox":                         false,
		"ComfyUI_00042_.png":              false,
		"wizard umbrella rain night neon": false,
		"猫 雨 夜 森":                         false,
		"":                                false,
	} {
		s, err := Compile(parsed(t, text), Request{Tenant: tenantA})
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Sentence(); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
