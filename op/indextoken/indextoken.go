// Package indextoken makes searches wait for a write whose index_token they are given.
package indextoken

import (
	"context"
	"strings"

	"vitrine/library"
	"vitrine/store"
	"vitrine/store/indexstate"
)

// Shown waits, for as long as searches may wait, until an index shows these versions of a
// tenant's documents or later ones, and reports whether it does.
type Shown func(ctx context.Context, tenant library.TenantID, versions []indexstate.DocumentVersion) bool

// Await waits until an index shows the write that returned a token; an empty token is of no
// write. A write that the index has not shown in time is behind, which is no error: the search
// itself is good. A token that no write of the tenant returned is a library.Error of the field
// min_index_token, for nothing can be waited for.
func Await(ctx context.Context, st *store.Store, index string, shown Shown, tenant library.TenantID, token string) (behind bool, err error) {
	if token == "" {
		return false, nil
	}
	token = strings.ToLower(token)
	versions, err := st.Operations.Versions(ctx, tenant, index, token)
	if err != nil {
		return true, err
	}
	if len(versions) > 0 {
		return shown == nil || !shown(ctx, tenant, versions), nil
	}
	known, err := st.Operations.Has(ctx, tenant, token)
	if err == nil && !known {
		err = library.Invalid(library.FieldError{Field: "min_index_token", Code: "unknown", Message: "No write of this tenant returned this index_token.",
			Hint: "Send the index_token of a write as it came, or leave min_index_token out. Writes of more than a minute ago are in the index."})
	}
	return false, err
}
