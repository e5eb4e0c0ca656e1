package sample

import (
	"vitrine/internal/sample/draw"
	"vitrine/internal/sample/scene"
	"vitrine/internal/sample/writer"
)

// job invents the settings of an entry within the ranges its tool knows.
func (p *planner) job(row *share, e *entry) writer.Job {
	r := p.r
	manner := e.manner
	j := writer.Job{
		Seed: firstSeed(row, r), Choice: r.Uint64() >> 1, Steps: r.Between(16, 40), CFG: float64(r.Between(7, 18)) / 2,
		Sampler: draw.Pick(r, writer.Samplers), Scheduler: draw.Pick(r, writer.Schedulers),
		Denoise: float64(r.Between(7, 15)) / 20, Checkpoint: draw.Pick(r, writer.Checkpoints), Negative: scene.Negative(r),
	}
	for range []int{0, 0, 0, 1, 1, 2, 3}[r.Intn(7)] {
		j.LoRAs = appendNew(j.LoRAs, draw.Pick(r, writer.LoRAs))
	}
	switch row.name {
	case "comfyui-custom":
		j.Sampler, j.Steps, j.CFG = draw.Pick(r, []string{"euler", "heun", "dpmpp_2m"}), r.Between(16, 28), float64(r.Between(2, 8))/2
		if manner == scene.Tags || manner == scene.Mixed {
			manner = scene.Sentence // these models read sentences
		}
	case "imagetool", "imagetool-variation":
		if manner != scene.Emoji {
			manner = scene.Sentence
		}
		if r.Chance(0.7) {
			j.Negative = ""
		}
	case "fooocus":
		j.Steps = draw.Pick(r, []int{30, 60})
	}
	e.manner = manner
	j.Prompt = e.spec.Prompt(manner, r)
	return j
}

func appendNew(list []string, s string) []string {
	for _, t := range list {
		if t == s {
			return list
		}
	}
	return append(list, s)
}

// firstSeed draws a seed from the range of the tool: the graph tool and
// Fooocus use up to 63 bits, the others 32.
func firstSeed(row *share, r *draw.Rand) uint64 {
	if wideSeeds(row) {
		return r.Uint64() >> uint(1+r.Intn(3)*7)
	}
	return r.Uint64() >> 32
}

func wideSeeds(row *share) bool {
	t := toolOf(row)
	return t == "comfyui" || t == "fooocus"
}

// nextSeed continues a sweep: at random in the graph tool, counting up elsewhere.
func nextSeed(row *share, seed uint64, i int, r *draw.Rand) uint64 {
	if wideSeeds(row) {
		return firstSeed(row, r)
	}
	return (seed + uint64(i)) & 0xffffffff
}
