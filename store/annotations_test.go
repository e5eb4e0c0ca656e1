package store_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"vitrine/library"
)

func (s bench) annotationChanges(t *testing.T) changes {
	target := string(add(t, s, s.a, file("annotated")).Asset.Hash)
	return changes{trash: "deleted",
		read: `SELECT asset_h || '/' || annotation_id, jsonb_build_object('content', content, 'visibility', visibility, 'resolved', resolved, 'deleted', deleted_at IS NOT NULL) FROM annotations`,
		random: func(r *rand.Rand, keys []string) string {
			if len(keys) < 3 || r.IntN(6) == 0 {
				_, id, err := s.Annotations.Create(t.Context(), s.a, target, library.Annotation{Content: pick(r, "dark", "bright"), ContentType: library.ContentText, Visibility: library.VisibilityTeam})
				return must[string](t)(id, err)
			}
			_, annotation := cut(pick(r, keys...))
			if r.IntN(4) == 0 {
				_, id, err := s.Annotations.Delete(t.Context(), s.a, annotation)
				return ignoreMissing(t, id, err)
			}
			_, id, err := s.Annotations.Change(t.Context(), s.a, annotation, func(n *library.Annotation) error {
				switch r.IntN(3) {
				case 0:
					n.Content = pick(r, "dark", "bright", "fine")
				case 1:
					n.Visibility = library.Visibility(pick(r, "private", "team", "public"))
				default:
					n.Resolved = !n.Resolved
				}
				return nil
			})
			return ignoreMissing(t, id, err)
		}}
}

// cut splits the key of an annotation into its asset and its id.
func cut(key string) (asset, id string) { return key[:40], key[41:] }

// ignoreMissing returns the operation of a change; one of something that is deleted is
// none.
func ignoreMissing(t *testing.T, id string, err error) string {
	t.Helper()
	if err != nil && library.AsError(err).Kind != library.KindNotFound {
		t.Fatal(err)
	}
	return id
}

// TestAnnotations_HistoryHasEveryState changes and undoes, and reads the versions after
// each step: the newest is what the annotation is, none is lost or rewritten, and the
// service may not change one.
func TestAnnotations_HistoryHasEveryState(t *testing.T) {
	t.Parallel()
	s := open(t)
	target := string(add(t, s, s.a, file("annotated")).Asset.Hash)
	n, _, err := s.Annotations.Create(t.Context(), s.a, target, library.Annotation{Content: "0", ContentType: library.ContentText, Visibility: library.VisibilityTeam})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"0"}
	for i := 1; i < 8; i++ {
		_, id, err := s.Annotations.Change(t.Context(), s.a, n.ID, func(n *library.Annotation) error { n.Content = fmt.Sprint(i); return nil })
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, fmt.Sprint(i))
		if i%3 == 0 {
			if _, err := s.Operations.Undo(t.Context(), s.a, id, anyone); err != nil {
				t.Fatal(err)
			}
			want = append(want, fmt.Sprint(i-1))
		}
		now, list, err := s.Annotations.Versions(t.Context(), s.a, n.ID)
		if err != nil || len(list) != len(want) || now.Version != len(want) || now.Content != want[len(want)-1] {
			t.Fatalf("version %d is %q of %d, want %q of %d: %v", now.Version, now.Content, len(list), want[len(want)-1], len(want), err)
		}
		for j, v := range list {
			if v.Content != want[len(want)-1-j] || v.Author != s.a.ID {
				t.Errorf("version %d says %q by %q, want %q", v.Version, v.Content, v.Author, want[len(want)-1-j])
			}
		}
	}
	if _, id, err := s.Annotations.Change(t.Context(), s.a, n.ID, func(*library.Annotation) error { return nil }); err != nil || id != "" {
		t.Errorf("a change of nothing is the operation %q, %v", id, err)
	}
	s.asOwner(t, func(c *pgx.Conn) {
		if _, err := c.Exec(t.Context(), `SET ROLE vitrine_app`); err != nil {
			t.Fatal(err)
		}
		for _, sql := range []string{`UPDATE annotation_versions SET content = 'other'`, `DELETE FROM annotation_versions`} {
			if _, err := c.Exec(t.Context(), sql); err == nil || !strings.Contains(err.Error(), "permission denied") {
				t.Errorf("%s: %v", sql, err)
			}
		}
	})
}
