package reextract

import (
	"encoding/json"
	"reflect"

	"vitrine/library"
)

// compare counts in which fields a lineage differs from the one that is stored. A
// stored one that cannot be decoded holds no values.
func (c *Counts) compare(stored []byte, now *library.Lineage) {
	var before library.Lineage
	_ = json.Unmarshal(stored, &before)
	if c.Fields == nil {
		c.Fields = map[string]FieldCounts{}
	}
	was, is := fieldsOf(&before), fieldsOf(now)
	for name, value := range is {
		n := c.Fields[name]
		switch had := was[name]; {
		case had == value:
			continue
		case had == "":
			n.Added++
		case value == "":
			n.Removed++
		default:
			n.Changed++
		}
		c.Fields[name] = n
	}
}

// fieldsOf returns the fields of a lineage as text; "" for one without a value.
func fieldsOf(l *library.Lineage) map[string]string {
	gp := l.Parameters
	if gp == nil {
		gp = &library.GenerationParameters{}
	}
	out := map[string]string{"tool": l.Tool}
	for name, v := range map[string]any{
		"positive": l.Positive, "negative": l.Negative, "seed": gp.Seed, "steps": gp.Steps, "cfg_scale": gp.CFGScale, "guidance": gp.Guidance,
		"sampler": gp.Sampler, "scheduler": gp.Scheduler, "denoise": gp.Denoise, "model_name": gp.ModelName, "clip_skip": gp.ClipSkip,
		"width": gp.Width, "height": gp.Height, "frames": gp.Frames, "models": l.Models, "parents": l.Parents, "samplers": l.Samplers, "hires": l.Hires,
	} {
		out[name] = textOf(v)
	}
	return out
}

func textOf(v any) string {
	if r := reflect.ValueOf(v); r.Kind() == reflect.Pointer && r.IsNil() || r.Kind() == reflect.Slice && r.Len() == 0 {
		return ""
	}
	b, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(b)
}
