package prompt_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"vitrine/internal/randtest"
	"vitrine/prompt"
)

func TestPropose_MakesVariablesOfWhatDiffers(t *testing.T) {
	for _, c := range []struct {
		texts []string
		want  string
		size  int
		first map[string][]string
	}{
		{[]string{"a red fox in snow, film grain", "a blue owl in snow, film grain", "a red owl in snow, film grain"}, "a {{v1}} in snow, film grain", 3,
			map[string][]string{"v1": {"red fox", "blue owl", "red owl"}}},
		{[]string{"a red fox in deep snow, film grain", "a dark red fox in wet snow, film grain"}, "a {{v1|}} red fox in {{v2}} snow, film grain", 2,
			map[string][]string{"v1": {"", "dark"}, "v2": {"deep", "wet"}}},
		{[]string{"the same words", "the (same:1.2) words"}, "the same words", 2, nil},
		{[]string{"one thing", "entirely another matter"}, "one thing", 1, nil},
		{[]string{"portrait of an old king at home", "portrait of a queen at home", "portrait of a tall young prince at home"}, "portrait of {{v1}} at home", 3,
			map[string][]string{"v1": {"an old king", "a queen", "a tall young prince"}}},
		{[]string{"{{girl}} in a red coat, city", "{{girl}} in a blue coat, city"}, `\{{girl}} in a {{v1}} coat, city`, 2, map[string][]string{"v1": {"red", "blue"}}},
	} {
		got := prompt.Propose(c.texts)
		if len(got) == 0 || got[0].Text != c.want || len(got[0].Members) != c.size {
			t.Errorf("%q: %+v, want %q", c.texts, got, c.want)
			continue
		}
		for name, values := range c.first {
			if !slices.Equal(got[0].Values[name], values) {
				t.Errorf("%q: %s is %q, want %q", c.texts, name, got[0].Values[name], values)
			}
		}
	}
}

func TestPropose_EveryMemberIsARenderOfItsTemplate(t *testing.T) {
	vocabulary := strings.Fields("a the red blue fox owl in of snow night {{neon}} (city:1.2) portrait, light 4k <lora:x:1> 猫 it's {{{best}}} [dim]")
	for _, seed := range randtest.Seeds(t) {
		r := rand.New(rand.NewPCG(seed, 4))
		grouped := 0
		for range randtest.Cases(t, 1500) {
			var base []string
			for range 3 + r.IntN(10) {
				base = append(base, vocabulary[r.IntN(len(vocabulary))])
			}
			var texts []string
			for range 2 + r.IntN(4) {
				words := slices.Clone(base)
				for range r.IntN(3) {
					i := r.IntN(len(words))
					words = slices.Replace(words, i, i+r.IntN(2), vocabulary[r.IntN(len(vocabulary))])
				}
				texts = append(texts, strings.Join(words, " "))
			}
			seen := map[int]bool{}
			for _, p := range prompt.Propose(texts) {
				template := parse(t, p.Text)
				for k, m := range p.Members {
					if seen[m] {
						t.Fatalf("%q is in two groups", texts[m])
					}
					seen[m] = true
					if len(p.Members) > 1 && !template.Matcher().Matches(prompt.Read(texts[m])) {
						t.Fatalf("%q is no render of %q", texts[m], p.Text)
					}
					for name, values := range p.Values {
						if len(values) != len(p.Members) || values[k] != "" && !strings.Contains(texts[m], values[k]) {
							t.Fatalf("%s of %q has the values %q", name, p.Text, values)
						}
					}
				}
				if len(p.Members) > 1 {
					grouped++
				}
			}
		}
		if grouped < 500 {
			t.Errorf("only %d groups", grouped)
		}
	}
}
