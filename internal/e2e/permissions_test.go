package e2e

import (
	"net/netip"
	"testing"

	"vitrine/internal/echo"
	"vitrine/library"
)

// TestPermissions_EachAllowsExactlyItsOperations tries every operation with a key of
// each permission, over both transports: denied unless the key has the one that
// the operation names. Read is carried by every key but that of comfy-ingest, which write
// includes.
func TestPermissions_EachAllowsExactlyItsOperations(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cells := 0
	for _, p := range allPermissions {
		key := w.NewKey(w.Tenant, p)
		c := w.mcp(echo.Modern, key)
		for _, o := range w.Catalog.Operations {
			allowed := o.Permission == p || o.Permission == library.PermRead && p != library.PermIngest || o.Permission == library.PermIngest && p == library.PermWrite
			status, answer := w.rest(o, key, w.args(o))
			if denied := status == 403 && codeOf(answer) == library.CodePermissionRequired; denied == allowed {
				t.Errorf("REST %s with %s: %d %s", o.Name, p, status, codeOf(answer))
			} else if denied && answer["permission"] != string(o.Permission) {
				t.Errorf("REST %s with %s does not name the permission it needs: %v", o.Name, p, answer)
			}
			cells++
			if o.RESTOnly {
				continue
			}
			isError, result := w.tool(c, o, w.args(o))
			if denied := isError && codeOf(result) == library.CodePermissionRequired; denied == allowed {
				t.Errorf("MCP %s with %s: %v", o.Name, p, result)
			}
			cells++
		}
	}
	t.Logf("%d cells", cells)
	if cells < 50 {
		t.Errorf("only %d cells tried", cells)
	}
}

// TestPermissions_WithoutAGoodCredentialEverythingIsRefused covers what is no API key of this
// service at all.
func TestPermissions_WithoutAGoodCredentialEverythingIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	address := netip.MustParseAddr("127.7.0.1")
	for name, key := range map[string]string{"none": "", "a session token": "eyJhbGciOiJIUzI1NiJ9.e30.x", "a mistyped key": mistyped(w.Key)} {
		for i, o := range w.Catalog.Operations {
			if i%20 == 0 { // fewer than make the service slow an address down
				address = address.Next()
				w.Env = w.From(address)
			}
			if status, answer := w.rest(o, key, w.args(o)); status != 401 || codeOf(answer) != library.CodeUnauthenticated {
				t.Errorf("%s with %s: %d %v", o.Name, name, status, answer)
			}
		}
	}
}

// mistyped returns a key with another last character.
func mistyped(key string) string {
	last := len(key) - 1
	if key[last] == 'x' {
		return key[:last] + "y"
	}
	return key[:last] + "x"
}
