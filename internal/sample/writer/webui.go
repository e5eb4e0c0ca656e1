package writer

import (
	"fmt"
	"strconv"
	"strings"

	"vitrine/internal/sample/draw"
)

// webuiText is the text block of the web UI family: prompt, negative prompt
// and one line of settings. Values with commas or colons are quoted.
func webuiText(pic draw.Picture, job *Job, version string) (string, Facts) {
	f := job.facts("sd-webui", pic)
	f.Sampler, f.Scheduler = webuiSampler[job.Sampler], webuiScheduler[job.Scheduler]
	f.Models = []Model{{Type: "checkpoint", Name: job.Checkpoint, Hash: hashOf(job.Checkpoint, 10)}}
	prompt := job.Prompt
	var hashes []string
	for i, name := range job.LoRAs {
		prompt += fmt.Sprintf(" <lora:%s:%s>", name, trim(strengthOf(job, i)))
		hashes = append(hashes, name+": "+hashOf(name, 12))
		f.Models = append(f.Models, Model{Type: "lora", Name: name, Hash: hashOf(name, 12), Strength: strengthOf(job, i)})
	}
	f.Prompt = prompt
	settings := []string{
		"Steps: " + strconv.Itoa(job.Steps), "Sampler: " + f.Sampler, "Schedule type: " + f.Scheduler,
		"CFG scale: " + trim(job.CFG), "Seed: " + strconv.FormatUint(job.Seed, 10),
	}
	w, h := pic.W, pic.H
	var hires []string
	if job.Choice%4 == 1 {
		w, h = pic.W*2/3/8*8, pic.H*2/3/8*8
		f.Width, f.Height = w, h // of the first pass; the strength belongs to the second
		hires = []string{"Denoising strength: 0.45", "Hires upscale: 1.5", fmt.Sprintf("Hires steps: %d", job.Steps/2), "Hires upscaler: R-ESRGAN 4x+"}
	}
	settings = append(settings, fmt.Sprintf("Size: %dx%d", w, h), "Model hash: "+hashOf(job.Checkpoint, 10), "Model: "+job.Checkpoint)
	if job.Choice%5 == 0 {
		settings = append(settings, "VAE hash: "+hashOf(vaeSDXL, 10), "VAE: "+file(vaeSDXL))
		f.Models = append(f.Models, Model{Type: "vae", Name: file(vaeSDXL), Hash: hashOf(vaeSDXL, 10)})
	}
	if settings = append(settings, hires...); len(hires) > 0 {
		f.Models = append(f.Models, Model{Type: "upscaler", Name: "R-ESRGAN 4x+"})
	}
	if job.Choice%6 == 0 {
		settings = append(settings, `Style: "film look, soft light: evening"`)
	}
	if len(hashes) > 0 {
		settings = append(settings, `Lora hashes: "`+strings.Join(hashes, ", ")+`"`)
	}
	settings = append(settings, "Version: "+version)
	text := prompt
	if job.Negative != "" {
		text += "\nNegative prompt: " + job.Negative
	}
	return text + "\n" + strings.Join(settings, ", "), f
}

func trim(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

const (
	webuiVersion = "v1.10.1"
	forgeVersion = "f2.0.1v1.10.1-previous-669-gdfdcbab6"
)

func saveWebuiPNG(pic draw.Picture, job *Job) ([]byte, Facts, error) {
	text, f := webuiText(pic, job, webuiVersion)
	data, err := encodePNG(pic, anyText("parameters", text))
	return data, f, err
}

func saveForgePNG(pic draw.Picture, job *Job) ([]byte, Facts, error) {
	text, f := webuiText(pic, job, forgeVersion)
	f.Tool = "forge"
	data, err := encodePNG(pic, anyText("parameters", text))
	return data, f, err
}

func saveWebuiJPEG(pic draw.Picture, job *Job) ([]byte, Facts, error) {
	text, f := webuiText(pic, job, webuiVersion)
	data, err := encodeJPEG(pic, 88, userComment(text, false))
	return data, f, err
}
