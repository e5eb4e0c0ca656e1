package extract

import (
	"strings"
	"testing"
	"time"

	"vitrine/media/extract/container"
)

// TestHostile_TextsTakeLinearTime reads texts of 1 MiB each that a careless parser
// would go over again for every part of them. The limit is far above what they
// need and far below what a quadratic reading would take.
func TestHostile_TextsTakeLinearTime(t *testing.T) {
	const size = 1 << 20
	full := func(part string) string { return strings.Repeat(part, size/len(part)) }
	for name, text := range map[string]string{
		"commas":             "Steps: 1, Sampler: a, Seed: 1, x: " + full("a,"),
		"keys":               "Steps: 1, Sampler: a, Seed: 1, " + full("k: v, "),
		"settings lines":     full("Steps: 1, Sampler: a, Seed: 1\n"),
		"negative lines":     full("Negative prompt: a\n"),
		"networks":           full("<lora:a:1> ") + "\nSteps: 1, Sampler: a, Seed: 1",
		"different networks": manyNetworks() + "\nSteps: 1, Sampler: a, Seed: 1",
		"open quotes":        "Steps: 1, Sampler: a, Seed: 1, " + full("k: \"v, "),
		"open brackets":      full("[") + "\nSteps: 1, Sampler: a, Seed: 1",
		"braces":             full(`{"a":`),
		"quotes":             full(`"`),
		"backslashes":        `"` + full(`\`),
		"flags":              "a --v 6 " + full("--ar 1:1 "),
		"addresses":          full("https://a/b ") + " --v 6",
		"easy lines":         "Stable Diffusion model: x\nPrompt: " + full("a\n"),
		"a wide object":      `{"prompt":"a","seed":1,"steps":1,` + full(`"a":1,`) + `"b":1}`,
		"many loras":         `{"sui_image_params":{"prompt":"a","loras":[` + full(`"a",`) + `"b"]}}`,
		"a chain of strings": full(`\"`),
	} {
		for _, key := range []string{"parameters", "UserComment", "Dream"} {
			start := time.Now()
			FromChunks(container.File{MIME: "image/png", Chunks: []container.Chunk{{Place: "png:tEXt", Key: key, Text: text}}}, Options{})
			if took := time.Since(start); took > 5*time.Second {
				t.Errorf("%s in %s took %v", name, key, took)
			}
		}
	}
}

func manyNetworks() string {
	var b strings.Builder
	for i := range 20_000 {
		b.WriteString("<lora:n")
		b.WriteString(strings.Repeat("x", i%50))
		b.WriteRune(rune('a' + i%26))
		b.WriteString(":1>")
	}
	return b.String()
}

func TestHostile_TextsAreBounded(t *testing.T) {
	l, _ := FromChunks(container.File{Chunks: []container.Chunk{{Key: "parameters", Text: strings.Repeat("ü", 1<<20) + "\nSteps: 1, Sampler: a, Seed: 1"}}}, Options{})
	if l.Positive == nil || len(*l.Positive) > maxText || strings.ContainsRune(*l.Positive, '\uFFFD') {
		t.Error("the prompt was not cut at a character")
	}
}
