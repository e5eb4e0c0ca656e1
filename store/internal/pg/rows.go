package pg

import (
	"bytes"
	"encoding/json"
)

// ExactObject reads a JSON object with its numbers as they are written: a float64
// would round seeds beyond 2^53.
type ExactObject map[string]any

// UnmarshalJSON implements json.Unmarshaler.
func (o *ExactObject) UnmarshalJSON(raw []byte) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	return d.Decode((*map[string]any)(o))
}

// OriginalStateSQL is the state of the original of asset a. One whose path has other bytes
// now has no current row, only such that say so.
const OriginalStateSQL = `coalesce((SELECT o.state FROM originals o WHERE o.tenant_id = a.tenant_id AND o.asset_h = a.asset_h AND (o.until IS NULL OR o.state = 'changed')
	ORDER BY o.until IS NOT NULL, array_position(ARRAY['intact', 'changed', 'missing'], o.state), o.original_id DESC LIMIT 1), 'missing')`
