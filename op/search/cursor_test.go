package search

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"vitrine/library"
)

func TestCursor_ComesBackAsItWas(t *testing.T) {
	t.Parallel()
	key, now := bytes.Repeat([]byte("k"), 32), time.Unix(1_700_000_000, 0)
	for name, c := range map[string]cursor{
		"by words":            {PIT: "p", Total: 12, Seen: 5, After: []byte(`[1.5,9223372036854775807,null]`)},
		"in a fused head":     {PIT: "p", Hybrid: true, Seen: 20, topK: []library.AssetHash{"da39a3ee5e6b4b0d3255bfef95601890afd80709", "2fd4e1c67a2d28fced849ee1bb76e7391b93eb12"}},
		"with an empty head":  {PIT: "p", Hybrid: true, topK: []library.AssetHash{}},
		"without its meaning": {PIT: "p", Degraded: true},
		"with a long head":    {Hybrid: true, topK: slices.Repeat([]library.AssetHash{"da39a3ee5e6b4b0d3255bfef95601890afd80709"}, 400)},
	} {
		c.Search, c.Expires = []byte("search"), now.Unix()+1
		text, err := c.encode(key)
		if err != nil {
			t.Fatal(err)
		}
		got, err := decodeCursor(key, text, []byte("search"), now)
		if diff := cmp.Diff(c, got, cmp.AllowUnexported(cursor{}), cmpopts.EquateEmpty()); err != nil || diff != "" || (got.topK == nil) == c.Hybrid {
			t.Errorf("%s: %v %s", name, err, diff)
		}
		if _, err := decodeCursor(key, text, []byte("search"), now.Add(3*time.Second)); library.AsError(err).Code != "CURSOR_EXPIRED" || library.AsError(err).Kind != library.KindInvalid {
			t.Errorf("%s, too late: %v", name, err)
		}
		for i := 0; i < len(text); i += 1 + len(text)/50 {
			bad := []byte(text)
			if bad[i]++; text[i] == 'z' || text[i] == 'Z' || text[i] == '9' {
				bad[i] = 'a'
			}
			if _, err := decodeCursor(key, string(bad), []byte("search"), now); library.AsError(err).Kind != library.KindInvalid {
				t.Errorf("%s, changed at %d: %v", name, i, err)
			}
		}
	}
}

func TestCursor_AWalkBelongsToItsCaller(t *testing.T) {
	t.Parallel()
	in := searchInput{Query: "fox", PageInput: PageInput{Limit: 5}}
	a := library.Actor{ID: "a", Tenant: "t", Permissions: []library.Permission{library.PermSearch}}
	b, admin := a, a
	b.ID = "b"
	admin.Permissions = library.Permissions
	own, err := searchID(a, in)
	if err != nil {
		t.Fatal(err)
	}
	in.Limit, in.Cursor, in.TenantID = 9, "*", "t"
	if again, _ := searchID(a, in); !bytes.Equal(own, again) {
		t.Error("another limit makes another search")
	}
	for name, other := range map[string]library.Actor{"another key": b, "more permissions": admin} {
		if id, _ := searchID(other, in); bytes.Equal(own, id) {
			t.Errorf("%s walks the same walk", name)
		}
	}
}
