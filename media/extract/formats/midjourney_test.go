package formats

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"vitrine/library"
)

const job = "0f6c2a3e-1111-4222-8333-444455556666"

func TestMidjourney(t *testing.T) {
	text := "https://s.mj.run/abc/first.png a red fox, snow --ar 2:1 --stylize 250 --q 2 --no people, cars --seed 42 --sref https://cdn.midjourney.com/" + job + "/0_1.webp?x=1 --v 6.1 Job ID: " + job
	l := readAs(t, "midjourney", png("Description", text), png("Author", "ann"), chunk("xmp", "Iptc4xmpExt:DigImageGUID", job), chunk("xmp", "dc:description", text))
	diff(t, facts{Tool: "midjourney", Version: "6.1", Positive: "a red fox, snow", Negative: "people, cars", Seed: 42,
		Parents: []string{"input_image first.png", "input_image 0_1.webp" + job}}, factsOf(l))
	want := &library.ImageTool{JobID: job, Version: "6.1", Author: "ann", Flags: map[string]string{"ar": "2:1", "stylize": "250", "q": "2", "no": "people, cars", "seed": "42",
		"sref": "https://cdn.midjourney.com/" + job + "/0_1.webp?x=1", "v": "6.1"}}
	if d := cmp.Diff(want, l.ImageTool); d != "" {
		t.Error(d)
	}
	if l.Parameters.Steps != nil || l.Parameters.CFGScale != nil {
		t.Error("stylize and quality are neither guidance nor steps")
	}
}

func TestMidjourney_Niji(t *testing.T) {
	l := readAs(t, "midjourney", png("Description", "fox girl --niji 6 --ar 3:4"))
	if l.ImageTool.Version != "niji 6" || val(l.Positive) != "fox girl" {
		t.Errorf("read as %+v, %q", l.ImageTool, val(l.Positive))
	}
}

func TestMidjourney_ACommandLineOfAnotherProgramIsNoMidjourney(t *testing.T) {
	for text, want := range map[string]bool{"git log --version 3 --oneline": false, "a fox --version 5 --ar 2:1": true, "a fox --v 7": true} {
		if got := isMidjourney(text, &Source{}); got != want {
			t.Errorf("%q is taken for Midjourney's: %v", text, got)
		}
	}
}

func TestMidjourney_JobWithoutFlags(t *testing.T) {
	l := readAs(t, "midjourney", chunk("xmp", "dc:description", "a fox Job ID: "+job))
	if l.ImageTool.JobID != job || val(l.Positive) != "a fox" {
		t.Errorf("read as %+v, %q", l.ImageTool, val(l.Positive))
	}
}

func TestMidjourney_JobRecord(t *testing.T) {
	l := readAs(t, "midjourney", chunk("sidecar:json", "parameters", `{"id":"`+job+`","full_command":"a fox --v 5.2","_job_type":"v5_upscale","parent_id":"77","width":1024,"height":512,"username":"ann"}`))
	diff(t, facts{Tool: "midjourney", Version: "5.2", Positive: "a fox", W: 1024, H: 512, Parents: []string{"imagetool_job 77"}}, factsOf(l))
	if l.ImageTool.JobType != "v5_upscale" {
		t.Errorf("job type %q", l.ImageTool.JobType)
	}
}

func FuzzMidjourney(f *testing.F) {
	f.Add("https://a/b.png fox --ar 2:1 --v 6 Job ID: " + job)
	f.Add("fox - Upscaled by @ann — v 6 --niji --v 5 --")
	f.Fuzz(func(t *testing.T, text string) { checkRecords(t, Read(open(png("Description", text)))) })
}
