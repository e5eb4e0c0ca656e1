package library

import (
	"encoding/json"
	"time"
)

// SavedSearch is a search that a tenant keeps under a name.
type SavedSearch struct {
	ID          string
	Name        string // unique within the tenant, whatever the case
	Description string
	Query       string
	Mode        string
	Filters     json.RawMessage // an object, or nil
	OrderBy     string
	Direction   string // asc, desc, or empty for the order's own
	CreatedAt   time.Time
	CreatedBy   string // actor id
	UpdatedAt   time.Time
}
