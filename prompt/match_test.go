package prompt_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"vitrine/internal/randtest"
	"vitrine/prompt"
)

func matches(t testing.TB, template, text string) bool {
	t.Helper()
	m, p := parse(t, template).Matcher(), prompt.Read(text)
	got := m.Matches(p)
	anchor, ok := m.Anchor()
	if got && (!ok || !slices.Contains(p.Anchors(), anchor)) {
		t.Errorf("%q matches %q, which lacks its anchor", text, template)
	}
	return got
}

func TestMatcher_RecognizesRendersHoweverToolsWriteThem(t *testing.T) {
	for _, c := range [][2]string{
		{"a {{mood}} portrait of {{subject}}, studio light", "a calm portrait of an old man, studio light"},
		{"a {{mood}} portrait of {{subject}}, studio light", "A (calm:1.2) portrait of\n an ((old)) man , [studio light]"},
		{"a {{mood}} portrait of {{subject}}, studio light", "a calm portrait of an old man, studio light <lora:film:0.8> <lyco:x:1>"},
		{"a {{mood}} portrait of {{subject}}, studio light", "a calm portrait of\r\nBREAK\r\nan old man, studio light"},
		{"(masterpiece:{{w}}), portrait of {{who}} at home", "(masterpiece:1.3), portrait of a cat at home"},
		{"portrait of {{who}} at home <lora:{{name}}:{{w:number}}>", "portrait of a cat at home <lora:film:0.8>"},
		{"portrait of {{who}} at home, {{lora}}", "portrait of a cat at home, <lora:film:0.8>"},
		{"two {{animal}}s under the tree", "two wild cats under the tree"},
		{"re{{verb}}ing the old house", "repainting the old house"},
		{"{{a}}{{b}} in the old house", "catfish in the old house"},
		{"a {{color}} fox and a {{color}} owl in snow", "a dark red fox and a dark red owl in snow"},
		{"a fox {{mood|}} in deep snow", "a fox in deep snow"},
		{"a fox {{light:enum(soft light, hard)}} in snow", "a fox, soft  light, in snow"},
		{"a fox at {{n:number}} meters in snow", "a fox at 1.5 meters in snow"},
		{"neon cat", "Neon  (cat:1.1)"},
		{"{{subject|cat}}, photo", "cat, photo"},
		{"{{subject}}, photo", "{{subject}},  photo"},
		{"猫と{{thing}}の写真", "猫と赤い車の写真"},
		{"a cat {{mood}} in the ☃ snow", "a cat sad in the ☃ snow"},
		{"1.3::glowing {{thing}}:: in the dark forest", "1.1::glowing eyes:: in the dark forest"},
		{`saber \({{series}}\) in a red dress`, `saber \(fate\) in a red dress`},
		{"{{a}} x {{b}} x {{c}} x end", "1 x 2 x 3 x end"},
	} {
		if !matches(t, c[0], c[1]) {
			t.Errorf("%q is no render of %q", c[1], c[0])
		}
	}
}

func TestMatcher_NeverClaimsWhatIsNoRender(t *testing.T) {
	for _, c := range [][2]string{
		{"a {{mood}} portrait of {{subject}}, studio light", "a portrait of an old man, studio light"},      // no value
		{"a {{mood}} portrait of {{subject}}, studio light", "a calm portrait of an old man, soft light"},   // another word
		{"a {{mood}} portrait of {{subject}}, studio light", "a calm portrait of an old man"},               // the end is missing
		{"a {{mood}} portrait of {{subject}}, studio light", "a calm portrait of a man, studio light, 4k"},  // more behind
		{"a {{mood}} portrait of {{subject}}, studio light", "oil, a calm portrait of a man, studio light"}, // more before
		{"a {{color}} fox and a {{color}} owl in snow", "a red fox and a blue owl in snow"},                 // two values
		{"a fox {{light:enum(soft, hard)}} in snow", "a fox dim in snow"},
		{"a fox at {{n:integer}} meters in snow", "a fox at many meters in snow"},
		{"two {{animal}}s under the tree", "two s under the tree"},
		{"two {{animal}}s under the tree", "two fish under the tree"},
		{"{{subject}}, photo", "a dog, photo"},     // two fixed words: by the whole text alone
		{"{{subject}}, photo", "subject, photo"},   // is not the whole text
		{"{{subject|cat}}, photo", "dog, photo"},   // not the default
		{"{{a}} {{b}} {{c}}", "three small words"}, // no fixed word at all
		{"neon cat", "neon cat at night"},
		{"neon cat", "cat neon"},
		{"neon cat", ""},
		{"!!!", "!!!"},
	} {
		if matches(t, c[0], c[1]) {
			t.Errorf("%q is taken for a render of %q", c[1], c[0])
		}
	}
}

func TestMatcher_EveryRenderOfARandomTemplateIsRecognized(t *testing.T) {
	vocabulary := strings.Fields("a the red blue fox owl in of snow night neon (city:1.2) portrait, light 4k f/1.8 best_quality 猫 it's ultra-wide ((sharp)) [dim] 1girl")
	for _, seed := range randtest.Seeds(t) {
		r := rand.New(rand.NewPCG(seed, 3))
		pick := func(n int) string {
			var list []string
			for range n {
				list = append(list, vocabulary[r.IntN(len(vocabulary))])
			}
			return strings.Join(list, " ")
		}
		for range randtest.Cases(t, 2000) {
			var b strings.Builder
			values := map[string]any{}
			for i := range 1 + r.IntN(4) {
				b.WriteString(pick(r.IntN(5)))
				name := fmt.Sprint("v", r.IntN(i+1))
				fmt.Fprintf(&b, " {{%s}} ", name)
				values[name] = pick(1 + r.IntN(4))
			}
			b.WriteString(pick(3))
			template := parse(t, b.String())
			text, _, errs := template.Render(values)
			if len(errs) > 0 {
				t.Fatal(errs)
			}
			if m := template.Matcher(); m.FixedWords() >= prompt.MinFixedWords && !matches(t, b.String(), disguise(r, text)) {
				t.Fatalf("%q is no render of %q", text, b.String())
			}
		}
	}
}

// disguise writes a prompt in another way that means the same.
func disguise(r *rand.Rand, text string) string {
	list := strings.Split(text, " ")
	for i, w := range list {
		switch r.IntN(12) {
		case 0:
			list[i] = "(" + w + ":1.1)"
		case 1:
			list[i] = w + "\n"
		case 2:
			list[i] = strings.ToUpper(w)
		case 3:
			list[i] = "<lora:x_y.z:0.75> " + w
		}
	}
	return strings.Join(list, " ")
}

// TestMatcher_HostileTemplatesEndSoon matches what would take a search without a bound
// longer than anybody waits.
func TestMatcher_HostileTemplatesEndSoon(t *testing.T) {
	template := strings.Repeat("{{a}} x {{b}} x ", 40) + "end of it all"
	text := strings.Repeat("x ", 2000) + "end of it"
	if matches(t, template, text) {
		t.Error("it is no render")
	}
	if matches(t, strings.ReplaceAll(template, "a", "c"), text) {
		t.Error("it is no render")
	}
}

func FuzzTemplate(f *testing.F) {
	f.Add("a {{mood|calm}} {{x:enum(a,b)}} {{n:integer}} fox in snow", "a calm a 3 fox in snow")
	f.Add("{{{a}}} (b:{{w}}) <lora:{{l}}:1> {{a}}{{b}}s", "x <lora:a:1> 1.2::b:: (c)1.2 :: ::1")
	f.Add("\\{{a}} {{", "猫BREAK猫")
	f.Fuzz(func(t *testing.T, text, other string) {
		p, errs := prompt.Parse(text)
		if len(errs) > 0 {
			return
		}
		m := p.Matcher()
		q := prompt.Read(other)
		anchor, anchored := m.Anchor()
		values := map[string]any{}
		for _, v := range p.Variables() {
			switch v.Type {
			case prompt.TypeText:
				values[v.Name] = "some words"
			case prompt.TypeEnum:
				values[v.Name] = v.Options[0]
			default:
				values[v.Name] = 7
			}
		}
		rendered, used, errs := p.Render(values)
		if len(errs) == 0 && len(used) != len(p.Variables()) {
			t.Errorf("%q has %d variables and used %d values", text, len(p.Variables()), len(used))
		}
		for _, q := range []prompt.Prompt{q, prompt.Read(rendered), prompt.Read(text)} {
			if m.Matches(q) && (!anchored || !slices.Contains(q.Anchors(), anchor)) {
				t.Errorf("%q, or %q, matches %q without its anchor", other, rendered, text)
			}
		}
	})
}

func BenchmarkRead(b *testing.B) {
	text := strings.Repeat("a (calm:1.2) portrait of an old man, studio light, ", 8)
	for b.Loop() {
		prompt.Read(text).Anchors()
	}
}
