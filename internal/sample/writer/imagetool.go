package writer

import (
	"fmt"
	"strings"
	"time"

	"vitrine/internal/sample/draw"
)

// Author is the account name in the files of the image tool.
const Author = "paper.heron"

// saveImageTool writes what a download from the image tool's web site carries:
// one line of prompt, flags and job id, the author, the time, and an XMP packet
// with the job as image GUID. A job made from another names it by the address
// of that picture, before the prompt or as a reference flag.
func saveImageTool(pic draw.Picture, job *Job) ([]byte, Facts, error) {
	id := UUID(job.Rand)
	prompt := job.Prompt
	flags := fmt.Sprintf("--ar %s --stylize %d --v %s", aspect(pic.W, pic.H), 50+50*int(job.Choice%9), []string{"6.1", "7", "6"}[job.Choice%3])
	if job.Choice%3 == 0 {
		flags += fmt.Sprintf(" --seed %d", job.Seed)
	}
	if job.Negative != "" {
		flags += " --no " + plainList(job.Negative)
	}
	if job.Parent != "" {
		if job.Choice%2 == 0 {
			prompt = job.Parent + " " + prompt
		} else {
			flags += " --sref " + job.Parent
		}
	}
	description := prompt + " " + flags + " Job ID: " + id
	f := Facts{Tool: "midjourney", Prompt: job.Prompt, JobID: id, Width: pic.W, Height: pic.H}
	if job.Choice%3 == 0 {
		seed := job.Seed
		f.Seed = &seed
	}
	if job.Negative != "" {
		f.Negative = plainList(job.Negative)
	}
	if job.Parent != "" {
		f.Parents = []string{job.Parent}
	}
	data, err := encodePNG(pic,
		anyText("Description", description), text("Author", Author),
		text("Creation Time", job.When.UTC().Format(time.RFC1123)), utf8Text("XML:com.adobe.xmp", xmp(id)))
	return data, f, err
}

// PictureAddress is how the image tool refers to picture index of a job.
func PictureAddress(job string, index int) string {
	return fmt.Sprintf("https://cdn.midjourney.com/%s/0_%d.png", job, index)
}

// xmp is the packet Exiv2 writes for the two IPTC properties.
func xmp(id string) string {
	return "<?xpacket begin=\"\ufeff\" id=\"W5M0MpCehiHzreSzNTczkc9d\"?>\n" +
		"<x:xmpmeta xmlns:x=\"adobe:ns:meta/\" x:xmptk=\"XMP Core 4.4.0-Exiv2\">\n" +
		" <rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\">\n" +
		"  <rdf:Description rdf:about=\"\"\n" +
		"    xmlns:iptcExt=\"http://iptc.org/std/Iptc4xmpExt/2008-02-29/\"\n" +
		"   iptcExt:DigImageGUID=\"" + id + "\"\n" +
		"   iptcExt:DigitalSourceType=\"http://cv.iptc.org/newscodes/digitalsourcetype/trainedAlgorithmicMedia\"/>\n" +
		" </rdf:RDF>\n</x:xmpmeta>\n<?xpacket end=\"w\"?>"
}

func aspect(w, h int) string {
	a, b := w, h
	for b != 0 {
		a, b = b, a%b
	}
	return fmt.Sprintf("%d:%d", w/a, h/a)
}

// plainList removes weights, which the image tool does not know.
func plainList(s string) string {
	var out []string
	for _, part := range strings.Split(s, ", ") {
		part = strings.Trim(part, "()")
		part, _, _ = strings.Cut(part, ":")
		out = append(out, part)
	}
	return strings.Join(out, ", ")
}
