package expr

import (
	"errors"
	"strings"
	"testing"
	"time"
)

type env map[string]Value

func (e env) Field(name string) Value { return e[name] }

var types = map[string]Type{"steps": Number, "seed": Number, "title": Text, "tags": List, "created": Date, "favorite": Bool, "tool": Text, "metadata.x": Any, "metadata.my-key": Any}

func fields(name string) (Type, bool) { t, ok := types[name]; return t, ok }

var now = time.Date(2026, 3, 10, 0, 0, 0, 0, time.UTC)

var asset = env{"steps": OfNumber(30), "seed": OfWhole(18446744073709551615), "title": OfText("Red Fox"), "tags": OfList([]string{"Best", "fox"}),
	"created": OfDate(now.Add(-24 * time.Hour)), "favorite": OfBool(true), "metadata.x": OfText("12"), "metadata.my-key": OfJSON(true)}

func TestEval_ReturnsTheValueOfAnExpression(t *testing.T) {
	for text, want := range map[string]any{
		`steps > 20`:                       true,
		`steps > 20 and title = "red fox"`: true,
		`not steps > 20 or tags = "best"`:  true,
		`steps * 2 + 1`:                    uint64(61),
		`2 + 3 * 4`:                        uint64(14),
		`(2 + 3) * 4`:                      uint64(20),
		`-steps`:                           -30.0,
		`steps / 0`:                        nil,
		`tool`:                             nil,
		`tool = "comfyui"`:                 false,
		`tool != "comfyui"`:                true,
		`tool < "z"`:                       false,
		`seed = 18446744073709551615`:      true,
		`seed = 18446744073709551614`:      false,
		`title contains "FOX"`:             true,
		`title matches "^Red"`:             true,
		`tags contains "fo"`:               false,
		`tags contains "FOX"`:              true,
		`tags matches "^f"`:                true,
		`length(tags)`:                     uint64(2),
		`steps in (10, 30)`:                true,
		`steps not in (10, 30)`:            false,
		`created > "now-2d"`:               true,
		`created > "now-1h"`:               false,
		`created >= "2026-03-09" and created < "2026-03-10"`: true,
		`year(created)`:                 uint64(2026),
		`favorite`:                      true,
		`exists(tool)`:                  false,
		`missing(tool)`:                 true,
		`coalesce(tool, title)`:         "Red Fox",
		`if(steps > 20, "many", "few")`: "many",
		`concat(title, " ", steps)`:     "Red Fox 30",
		`title + "!"`:                   "Red Fox!",
		`round(10 / 3, 2)`:              3.33,
		`round(10 / 3)`:                 uint64(3),
		`metadata.x = 12`:               true,
		`metadata.x + 1`:                uint64(13),
		`metadata.my-key`:               true,
		`replace(title, "Red", "Blue")`: "Blue Fox",
		`join(tags, "+")`:               "Best+fox",
		`min(3, steps, 1)`:              uint64(1),
		`upper(title) = "x\"y"`:         false,
	} {
		e, err := Parse(text, fields, now)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := e.Eval(asset).JSON(); got != want {
			t.Errorf("%s is %v (%T), want %v (%T)", text, got, got, want, want)
		}
	}
}

func TestParse_RefusesWithAPlaceAndAHint(t *testing.T) {
	for text, at := range map[string]int{
		``:                                0,
		`steps >`:                         7,
		`steps > 3 and`:                   13,
		`steps > "x"`:                     8,
		`nothing = 3`:                     0,
		`steps = 3 and title > 4`:         22,
		`tags > "a"`:                      0,
		`created > "yesterday"`:           10,
		`title matches "("`:               14,
		`title matches tool`:              14,
		`steps contains "3"`:              0,
		`frobnicate(3)`:                   0,
		`lower()`:                         0,
		`lower(tags)`:                     6,
		`not steps`:                       4,
		`title * 2`:                       0,
		`steps ; 3`:                       6,
		strings.Repeat("(", 40) + `steps`: 32,
		strings.Repeat("x", 2001):         2000,
	} {
		_, err := Parse(text, fields, now)
		var wrong *SyntaxError
		if !errors.As(err, &wrong) {
			t.Errorf("%.40s: %v is no SyntaxError", text, err)
			continue
		}
		if wrong.Offset != at || wrong.Message == "" {
			t.Errorf("%.40s: at %d, want %d: %s", text, wrong.Offset, at, wrong.Message)
		}
	}
	if _, err := ParseCondition(`steps + 1`, fields, now); err == nil {
		t.Error("a number is taken for a condition")
	}
}

func FuzzParse(f *testing.F) {
	f.Add(`steps > 20 and (title contains "a" or not favorite)`)
	f.Add(`if(exists(seed), concat(title, '-', seed), "x")`)
	f.Fuzz(func(t *testing.T, text string) {
		e, err := Parse(text, fields, now)
		var wrong *SyntaxError
		switch {
		case err == nil:
			if got := e.Eval(asset); got.Type() != e.Type && e.Type != Any && !got.IsMissing() {
				t.Errorf("%s has type %s and evaluates to a %s", text, e.Type, got.Type())
			}
		case !errors.As(err, &wrong) || wrong.Offset < 0 || wrong.Offset > len(text):
			t.Errorf("%q: %v", text, err)
		}
	})
}
