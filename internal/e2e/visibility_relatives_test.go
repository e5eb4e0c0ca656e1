package e2e

import (
	"strings"
	"testing"

	"vitrine/api/client"
)

// TestVisibility_RelativesOfPrivateAssetsDoNotConfirmTheirHashes asks for the relatives
// of private assets. Some of them are seen by all members, so finding them would tell
// that the hash exists.
func TestVisibility_RelativesOfPrivateAssetsDoNotConfirmTheirHashes(t *testing.T) {
	t.Parallel()
	m := newTeam(t)
	hidden, nothing := m.private[0].Asset.AssetH, strings.Repeat("0", 39)+"1"
	for _, pattern := range []string{"chain:@", "parent:@", "-parent:@", "harbour -chain:@", "harbour OR parent:@", "chain:@ OR parent:@"} {
		count := func(key, hash string) int64 {
			t.Helper()
			text := strings.ReplaceAll(pattern, "@", hash)
			f := m.Search(key, text, m.child.IndexToken)
			facets, err := m.Client(key).GetFacets(t.Context(), client.GetFacetsInput{Query: text})
			if err != nil || facets.Total != int64(f.Total) {
				t.Errorf("%s: %d hits, and facets of %d: %v", text, f.Total, facets.Total, err)
			}
			return int64(f.Total)
		}
		none := count(m.member, nothing)
		for _, hash := range []string{hidden, strings.ToUpper(hidden)} {
			if got := count(m.member, hash); got != none {
				t.Errorf("a member finds %d by %s of a private asset, %d by that of nothing", got, pattern, none)
			}
		}
		for who, key := range map[string]string{"the owner": m.owner, "an admin": m.Key} {
			if strings.HasPrefix(pattern, "harbour OR") {
				continue // what it adds is found anyway
			}
			if got := count(key, hidden); got == count(key, nothing) {
				t.Errorf("%s finds %d by %s, as of nothing", who, got, pattern)
			}
		}
	}
}
