package bench

import (
	"strings"
	"time"

	"vitrine/query"
)

// tenTerms are queries of ten terms as people write them.
var tenTerms = []string{
	`neon street "rainy night" tag:city -tag:wip model:sdxl created:2024-01.. steps:20..30 (cat OR dog) status:approved`,
	`fox forest mist lora:detail checkpoint:dream sampler:euler cfg:5..9 width:>=1024 -blurry has:workflow`,
	`(portrait OR closeup) woman freckles "soft light" tag:"red hair" -tag:nsfw tool:comfyui seed:123 steps:>25 mime_type:png`,
	`castle mountain lake "golden hour" dragon knight banner tag:fantasy created:2025 media:image`,
}

// compileRounds is how often each text is read and compiled.
const compileRounds = 400

// measureCompiling times what a search costs before it goes out.
func (e *env) measureCompiling() ([]Figure, error) {
	e.Step("Reading and compiling %d queries", compileRounds*len(tenTerms))
	var whole, reading []time.Duration
	for round := range compileRounds + compileRounds/10 { // the first ones warm up
		for _, text := range tenTerms {
			began := time.Now()
			parsed, err := query.Parse(text, query.Options{})
			if err != nil {
				return nil, err
			}
			read := time.Since(began)
			if _, err := query.Compile(parsed, query.Request{Tenant: e.tenant, SeesPrivate: true, Limit: 20}); err != nil {
				return nil, err
			}
			if round >= compileRounds/10 {
				whole, reading = append(whole, time.Since(began)), append(reading, read)
			}
		}
	}
	longest, err := e.longestQuery()
	if err != nil {
		return nil, err
	}
	row := func(name string, times []time.Duration) Row {
		return Row{Name: name, Unit: "µs", Ours: microseconds(times)}
	}
	f := Figure{Key: KeyCompile, Rows: []Row{row("ten terms, read and compiled", whole), row("ten terms, read", reading), row("the longest text that is taken, 256 words in 4 KB", longest)}}
	f.Value, f.Repeats = f.Rows[0].Ours.P50, f.Rows[0].Ours.N
	return []Figure{f}, nil
}

func (e *env) longestQuery() (times []time.Duration, err error) {
	list := make([]string, query.MaxLeaves)
	for i := range list {
		list[i] = word(kindDetail, i) + word(kindDetail, i+1)[:3] // nine letters: 16 bytes are there for each
	}
	text := strings.Join(list, " OR ")
	for range compileRounds / 10 {
		began := time.Now()
		if _, err := e.compile(query.FullText, text, 20); err != nil {
			return nil, err
		}
		times = append(times, time.Since(began))
	}
	return times, nil
}

func microseconds(times []time.Duration) Summary {
	list := make([]float64, len(times))
	for i, d := range times {
		list[i] = float64(d) / float64(time.Microsecond)
	}
	return summarize(list, false)
}
