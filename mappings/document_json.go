package mappings

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sort"
	"strings"
)

type plainDocument Document

// MarshalJSON writes the document as the index takes it.
func (d Document) MarshalJSON() ([]byte, error) {
	if d.Deleted {
		return json.Marshal(map[string]any{
			"tenant_id": d.TenantID, "asset_h": d.AssetH, "doc_version": d.DocVersion, "deleted": true,
		})
	}
	b, err := json.Marshal(plainDocument(d))
	if err != nil {
		return nil, err
	}
	configs := make([]string, 0, len(d.Vectors))
	for c := range d.Vectors {
		configs = append(configs, c)
	}
	sort.Strings(configs)
	out := bytes.NewBuffer(d.AppendDerived(b[:len(b)-1]))
	for _, c := range configs {
		v, err := json.Marshal(d.Vectors[c])
		if err != nil {
			return nil, fmt.Errorf("vector of embedding configuration %q: %w", c, err)
		}
		fmt.Fprintf(out, `,%q:%s`, VectorField(c), v)
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}

// UnmarshalJSON reads the _source of a hit, whole or filtered. Fields it does
// not know are ignored, so a newer index can be read.
func (d *Document) UnmarshalJSON(b []byte) error {
	var p plainDocument
	if err := json.Unmarshal(b, &p); err != nil {
		return fmt.Errorf("reading an indexed asset: %w", err)
	}
	if bytes.Contains(b, []byte(`"`+vectorPrefix)) {
		var all map[string]json.RawMessage
		if err := json.Unmarshal(b, &all); err != nil {
			return fmt.Errorf("reading an indexed asset: %w", err)
		}
		for name, raw := range all {
			config, ok := strings.CutPrefix(name, vectorPrefix)
			if !ok {
				continue
			}
			var v []float32
			if err := json.Unmarshal(raw, &v); err != nil {
				return fmt.Errorf("reading the vector %s: %w", name, err)
			}
			if p.Vectors == nil {
				p.Vectors = map[string][]float32{}
			}
			p.Vectors[config] = v
		}
	}
	*d = Document(p)
	return nil
}
