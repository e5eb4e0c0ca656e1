package formats

import (
	"regexp"
	"strings"

	"vitrine/library"
)

var (
	jobID        = regexp.MustCompile(`(?i)\bJob ID:\s*([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})`)
	anyUUID      = regexp.MustCompile(`(?i)[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	journeyModel = regexp.MustCompile(`(?:^|\s)(?:--|—)(?:v|niji) ?\d`)
	journeyFlag  = regexp.MustCompile(`(?:^|\s)(?:--|—)([a-z][a-z0-9_]*)`)
	journeyURL   = regexp.MustCompile(`<?https?://[^\s<>]+>?`)
	journeyStep  = regexp.MustCompile(`(?i)[-–]\s*(Upscaled|Variations|Zoom Out|Pan (?:Left|Right|Up|Down)|Remix|Image #\d)\b[^\n]*$`)
)

// journeyFlags are the parameters that mark a text as this tool's. "--seed" alone
// would not: other tools' command lines have it.
var journeyFlags = map[string]bool{"v": true, "version": true, "niji": true, "ar": true, "aspect": true, "stylize": true, "s": true,
	"chaos": true, "c": true, "q": true, "quality": true, "style": true, "weird": true, "w": true, "tile": true, "iw": true, "sref": true,
	"cref": true, "oref": true, "sw": true, "cw": true, "ow": true, "p": true, "profile": true, "raw": true, "seed": true, "no": true,
	"stop": true, "r": true, "repeat": true, "fast": true, "relax": true, "turbo": true, "draft": true, "exp": true, "video": true, "motion": true,
	"sv": true, "hd": true, "uplight": true, "upbeta": true, "test": true, "testp": true, "creative": true, "loop": true, "end": true, "bs": true}

// maxCommand bounds a description that is looked at as a command.
const maxCommand = 64 << 10

// readMidjourney reads the description that Midjourney (and niji, its anime
// model) writes into files downloaded from its site: the prompt, its flags, and
// the job's id. Files from its chat server carry nothing.
func readMidjourney(src *Source) (Record, bool) {
	if f, ok := readMidjourneyJob(src); ok {
		return f, true
	}
	for _, r := range src.Unused() {
		if !isOneOf(r.Key, []string{"Description", "ImageDescription", "Caption-Abstract", "Caption", "Comment", "UserComment", "parameters"}) {
			continue
		}
		if len(r.Text) > maxCommand || !isMidjourney(r.Text, src) {
			continue
		}
		l := midjourneyLineage(r.Text)
		l.ImageTool.Author = firstOf(src.text("Author"), src.text("creator"))
		if l.ImageTool.JobID == "" {
			l.ImageTool.JobID = anyUUID.FindString(src.text("DigImageGUID"))
		}
		if source := src.text("DigitalSourceType"); source != "" {
			addExtra(&l, "digital_source_type", source)
		}
		src.markUsed(sameText(src, r)...)
		return Record{Lineage: l, Place: r.Place}, true
	}
	return Record{}, false
}

// sameText returns the records that repeat a text, such as XMP's copy of it.
func sameText(src *Source, r *Entry) []*Entry {
	var same []*Entry
	for _, other := range src.Unused() {
		if strings.TrimSpace(other.Text) == strings.TrimSpace(r.Text) {
			same = append(same, other)
		}
	}
	return same
}

func isMidjourney(text string, src *Source) bool {
	if jobID.MatchString(text) {
		return true
	}
	known := map[string]bool{}
	for _, m := range journeyFlag.FindAllStringSubmatch(text, 50) {
		if journeyFlags[m[1]] {
			known[m[1]] = true
		}
	}
	switch {
	case journeyModel.MatchString(text):
		return true
	case known["ar"] || known["sref"] || known["version"]: // which other programs' command lines have as well
		return len(known) > 1 || anyUUID.MatchString(src.text("DigImageGUID"))
	}
	return false
}

// midjourneyLineage takes the description apart. Quality and stylize have no
// counterpart among steps and guidance and stay flags.
func midjourneyLineage(text string) library.Lineage {
	tool := &library.ImageTool{Flags: map[string]string{}}
	l := library.Lineage{Tool: "midjourney", ImageTool: tool}
	if m := jobID.FindStringSubmatchIndex(text); m != nil {
		tool.JobID = strings.ToLower(text[m[2]:m[3]])
		text = text[:m[0]] + text[m[1]:]
	}
	if m := journeyStep.FindStringSubmatchIndex(text); m != nil {
		tool.Command = strings.ToLower(strings.Fields(text[m[2]:m[3]])[0])
		text = text[:m[0]]
	}
	prompt, flags := cutFlags(text)
	for _, f := range flags {
		tool.Flags[f.key] = f.value
	}
	journeyVersion(&l, tool)
	if v, ok := tool.Flags["seed"]; ok {
		params(&l).Seed = parseSeed(v)
	}
	l.Negative = nonEmpty(tool.Flags["no"])
	journeyParents(&l, prompt, flags)
	prompt = strings.TrimSpace(journeyURL.ReplaceAllString(prompt, ""))
	l.Positive = &prompt
	tidy(&l)
	return l
}

// cutFlags splits a command at its first flag; a flag's value runs to the next.
func cutFlags(text string) (prompt string, flags settings) {
	places := journeyFlag.FindAllStringSubmatchIndex(text, 200)
	if len(places) == 0 {
		return strings.TrimSpace(text), nil
	}
	for i, m := range places {
		end := len(text)
		if i+1 < len(places) {
			end = places[i+1][0]
		}
		flags = append(flags, pair{text[m[2]:m[3]], strings.TrimSpace(text[m[3]:end])})
	}
	return strings.TrimSpace(text[:places[0][0]]), flags
}

func journeyVersion(l *library.Lineage, tool *library.ImageTool) {
	switch {
	case tool.Flags["niji"] != "":
		tool.Version = "niji " + tool.Flags["niji"]
	default:
		tool.Version = firstOf(tool.Flags["v"], tool.Flags["version"])
	}
	l.ToolVersion = tool.Version
}

// journeyParents collects the pictures that a command refers to by address, in
// front of the prompt or as a reference flag.
func journeyParents(l *library.Lineage, prompt string, flags settings) {
	addresses := journeyURL.FindAllString(prompt, 50)
	for _, f := range flags {
		addresses = append(addresses, journeyURL.FindAllString(f.value, 50)...)
	}
	for _, address := range addresses {
		address = strings.Trim(address, "<>")
		address, _, _ = strings.Cut(address, "?")
		l.Parents = append(l.Parents, library.Parent{Kind: "input_image", Name: address[strings.LastIndexByte(address, '/')+1:], JobID: strings.ToLower(anyUUID.FindString(address))})
	}
}

// readMidjourneyJob reads the job record that archive exports put beside a file.
func readMidjourneyJob(src *Source) (Record, bool) {
	r := src.find("full_command", func(o object) bool { return o.has("full_command") })
	if r == nil {
		return Record{}, false
	}
	src.markUsed(r)
	o := r.asObject()
	l := midjourneyLineage(o.name("full_command"))
	l.ImageTool.JobID = firstOf(o.name("id", "job_id"), l.ImageTool.JobID)
	l.ImageTool.JobType = o.name("_job_type", "job_type", "type")
	l.ImageTool.Author = o.name("username")
	if i := o.int("grid_num", "image_num", "parent_grid"); i != nil && *i >= 0 {
		l.ImageTool.Index = i
	}
	for _, key := range []string{"parent_id", "_parent_id", "reference_job_id", "referenced_job_id"} {
		if id := o.name(key); id != "" {
			l.Parents = append(l.Parents, library.Parent{Kind: "imagetool_job", JobID: id})
		}
	}
	if w, h := o.positive("width"), o.positive("height"); w != nil && h != nil {
		params(&l).Width, params(&l).Height = w, h
	}
	return Record{Lineage: l, Place: r.Place}, true
}
