package run

import (
	"encoding/json"
	"time"

	"vitrine/internal/jsonscan"
	"vitrine/library"
	"vitrine/mappings"
)

// searchResponse is OpenSearch's reply to _search, as far as it is used. It is read in one
// pass: by encoding/json it took a third of the service's own time for a search.
type searchResponse struct {
	Took     int64
	TimedOut bool
	Total    int64
	Hits     []responseHit
	Aggs     map[string]json.RawMessage
}

// responseHit is one hit of it.
type responseHit struct {
	Hash      library.AssetHash  // where a retriever asks for nothing else
	Source    *mappings.Document // as far as listFields go; nil from a retriever
	Score     *float64
	Highlight map[string][]string
	Sort      json.RawMessage
	Matched   []string
}

// score is the score of a hit of a retriever. Where the retriever sorts by it, it is the first
// value it was sorted by: as the score of the hit, OpenSearch would compute it
// once more.
func (f *responseHit) score() float64 {
	if f.Score != nil {
		return *f.Score
	}
	r := jsonscan.New(f.Sort)
	score, first := 0.0, true
	_ = r.Array(func() (err error) { // what is no number is no score
		if first {
			score, err = r.Float()
			first = false
		}
		return err
	})
	return score
}

// ReadJSON reads a reply.
func (a *searchResponse) ReadJSON(doc []byte) error {
	r := jsonscan.New(doc)
	return r.Object(func(key string) error { return a.member(r, key) })
}

func (a *searchResponse) member(r *jsonscan.Reader, key string) (err error) {
	switch key {
	case "took":
		a.Took, err = r.Int()
	case "timed_out":
		a.TimedOut, err = r.Bool()
	case "hits":
		err = r.Object(func(key string) error { return a.hits(r, key) })
	case "aggregations":
		a.Aggs = map[string]json.RawMessage{}
		err = r.Object(func(name string) error {
			raw, err := r.Raw()
			a.Aggs[name] = json.RawMessage(raw)
			return err
		})
	}
	return err
}

func (a *searchResponse) hits(r *jsonscan.Reader, key string) error {
	switch key {
	case "total":
		return r.Object(func(key string) (err error) {
			if key == "value" {
				a.Total, err = r.Int()
			}
			return err
		})
	case "hits":
		return r.Array(func() error {
			var f responseHit
			err := r.Object(func(key string) error { return f.member(r, key) })
			a.Hits = append(a.Hits, f)
			return err
		})
	}
	return nil
}

func (f *responseHit) member(r *jsonscan.Reader, key string) (err error) {
	switch key {
	case "_source":
		f.Source = &mappings.Document{}
		err = r.Object(func(key string) error { return readListField(r, key, f.Source) })
	case "fields":
		err = f.readDocValues(r)
	case "_score":
		if !r.Null() {
			f.Score = new(float64)
			*f.Score, err = r.Float()
		}
	case "highlight":
		err = r.Into(&f.Highlight)
	case "sort":
		var raw string
		raw, err = r.Raw()
		f.Sort = json.RawMessage(raw)
	case "matched_queries":
		f.Matched, err = r.Texts()
	}
	return err
}

// readDocValues reads what a retriever asks for: columns of one value each.
func (f *responseHit) readDocValues(r *jsonscan.Reader) error {
	return r.Object(func(key string) error {
		if key != "asset_h" {
			return nil
		}
		values, err := r.Texts()
		if len(values) > 0 {
			f.Hash = library.AssetHash(values[0])
		}
		return err
	})
}

// readListField reads one of the listFields.
func readListField(r *jsonscan.Reader, key string, d *mappings.Document) error {
	switch key {
	case "tags", "model_names", "checkpoint_names", "lora_names":
		list, err := r.Texts()
		*map[string]*[]string{"tags": &d.Tags, "model_names": &d.ModelNames, "checkpoint_names": &d.CheckpointNames, "lora_names": &d.LoraNames}[key] = list
		return err
	case "width", "height", "size_bytes", "doc_version":
		n, err := r.Int()
		switch key {
		case "width":
			d.Width = int(n)
		case "height":
			d.Height = int(n)
		case "size_bytes":
			d.SizeBytes = n
		default:
			d.DocVersion = n
		}
		return err
	case "created":
		s, err := r.Text()
		if err != nil || s == "" {
			return err
		}
		created, err := time.Parse(time.RFC3339Nano, s)
		d.Created = &created
		return err
	}
	return readListTextField(r, key, d)
}

func readListTextField(r *jsonscan.Reader, key string, d *mappings.Document) error {
	var into *string
	switch key {
	case "tenant_id":
		into = (*string)(&d.TenantID)
	case "asset_h":
		into = (*string)(&d.AssetH)
	case "title":
		into = &d.Title
	case "description":
		into = &d.Description
	case "filename":
		into = &d.Filename
	case "mime_type":
		into = &d.MIMEType
	case "status":
		into = (*string)(&d.Status)
	case "tool":
		into = &d.Tool
	case "visibility":
		into = &d.Visibility
	case "prompt":
		into = &d.Prompt
	default:
		return nil
	}
	s, err := r.Text()
	*into = s
	return err
}
