package formats

import "testing"

func TestIPTC_Prompt(t *testing.T) {
	l := readAs(t, "iptc", chunk("xmp", "Iptc4xmpExt:AIPromptInformation", "a fox in snow"), chunk("xmp", "Iptc4xmpExt:AISystemUsed", "Imagen via Gemini"), chunk("xmp", "Iptc4xmpExt:AISystemVersionUsed", "4"))
	diff(t, facts{Tool: "imagen-via-gemini", Version: "4", Positive: "a fox in snow"}, factsOf(l))
}

func TestIPTC_DescriptionIsAPromptOnlyWithItsGenerator(t *testing.T) {
	l := readAs(t, "iptc", png("Software", "DreamStudio 2"), png("Description", "a fox"))
	diff(t, facts{Tool: "dreamstudio", Positive: "a fox"}, factsOf(l))
	for _, software := range []string{"Adobe Photoshop 25.0", "", "Leonardo da Vinci"} {
		if got := rules(png("Software", software), png("Description", "a fox"), chunk("xmp", "dc:description", "a fox")); got != nil {
			t.Errorf("a description of %q was read by %v", software, got)
		}
	}
}
