package store

import (
	"context"
	"crypto/rand"
	"encoding/base32"
	"encoding/json"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5"

	"vitrine/library"
	"vitrine/store/internal/pg"
)

// Publications keeps which collections are published as pages, and which assets are shared by
// links.
type Publications struct{ s *Store }

// Events of published collections.
const (
	eventPublished   = "collection.published"
	eventUnpublished = "collection.unpublished"
)

// publicationNoun is a published collection; its key is the collection_h. Undoing the first
// publication takes the page away. Addresses are no part of the journal: they never change.
var publicationNoun = publishedNoun("publication", eventPublished, eventPublished, eventPublished, eventUnpublished)

func init() { register(publicationNoun, undoRows) }

// publishedNoun makes a noun of rows of publications. Their values are left out of the audit trail,
// which is kept longer than a password's hash should be. The types of events are those of a
// creation, a change, a return and of being taken away.
func publishedNoun(name, created, updated, restored, removed string) *Noun {
	n := rowNoun(name, &rowTable{table: "publications", key: []string{"publication_id"}, label: "title", trash: "unpublished_at",
		columns: []string{"slug", "title", "spec", "hide_prompts", "allow_download", "indexed", "password_hash", "expires_at", "published_at", "published_by", "unpublished_at"}})
	n.personal = true
	n.events = []string{created, updated, restored, removed}
	n.event = func(before, after json.RawMessage) string {
		switch trashEvent(name, "unpublished_at", before, after) {
		case name + ".created":
			return created
		case name + ".trashed":
			return removed
		case name + ".restored":
			return restored
		}
		return updated
	}
	return n
}

// publicationRules returns what visitors of a page may do, for the audit trail.
func publicationRules(p library.Publication) map[string]any {
	return map[string]any{"preset": p.Spec.Preset, "hide_prompts": p.HidePrompts, "allow_download": p.AllowDownload, "password": p.PasswordHash != "", "expires_at": p.ExpiresAt}
}

const publicationColumns = `p.publication_id, p.tenant_id, coalesce(p.collection_h, ''), coalesce(c.path, ''), coalesce(p.asset_hs, '{}'), p.collection_h IS NOT NULL AND p.asset_hs IS NOT NULL, p.segment, p.slug, p.secret, p.title,
	p.spec, p.hide_prompts, p.allow_download, p.indexed, p.password_hash, p.expires_at, p.published_at, p.unpublished_at`

// fromPublications leaves out the pages of collections that are deleted.
const fromPublications = ` FROM publications p LEFT JOIN collections c ON c.tenant_id = p.tenant_id AND c.collection_h = p.collection_h AND c.deleted_at IS NULL
	WHERE p.tenant_id = $1 AND (p.collection_h IS NULL OR c.collection_h IS NOT NULL) `

// publicationFields are where the columns go.
func publicationFields(p *library.Publication) []any {
	return []any{&p.ID, &p.Tenant, &p.Collection, &p.Path, &p.Shared, &p.Snapshot, &p.Segment, &p.Slug, &p.Secret, &p.Title,
		&p.Spec, &p.HidePrompts, &p.AllowDownload, &p.Indexed, &p.PasswordHash, &p.ExpiresAt, &p.PublishedAt, &p.UnpublishedAt}
}

func scanPublication(row pgx.CollectableRow) (p library.Publication, err error) {
	err = row.Scan(publicationFields(&p)...)
	return p, err
}

// Publish publishes a collection, or changes how it is published, by a function of how it was: of the
// zero Publication, where it never was. It returns it with the operation that did it. A slug that another
// page has is a conflict; an empty slug is made of the name. The page of a smart collection shows those of found that
// visitors may see, until it is published again.
func (ps *Publications) Publish(ctx context.Context, actor library.Actor, ref string, found []library.AssetHash, change func(library.Collection, *library.Publication) error) (out library.Publication, operationID string, err error) {
	operationID, err = ps.s.Write(ctx, actor, func(t *Tx) error {
		c, err := collectionIn(ctx, t.Tx, t.tenant(), ref, "")
		if err != nil {
			return err
		}
		if out, err = t.beginPublication(ctx, string(c.Hash)); err != nil {
			return err
		}
		out.Collection, out.Snapshot = c.Hash, c.Smart()
		if out.Snapshot {
			if out.Shared, err = t.sharable(ctx, found, true); err != nil {
				return err
			}
		}
		if err := change(c, &out); err != nil {
			return err
		}
		if out.Slug == "" {
			if out.Slug, err = t.freeSlug(ctx, out.Segment, library.PageSlug(c.DisplayName)); err != nil {
				return err
			}
		}
		detail := publicationRules(out)
		detail["slug"] = out.Slug
		if err := t.Audit(ctx, eventPublished, string(c.Hash), detail); err != nil {
			return err
		}
		return t.putPublication(ctx, publicationNoun, &out)
	})
	return out, operationID, err
}

// beginPublication returns a publication as it is, or a new one with its addresses. Writes of
// one tenant's publications wait for each other.
func (t *Tx) beginPublication(ctx context.Context, id string) (library.Publication, error) {
	if _, err := t.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtextextended('publish ' || $1::text, 0))`, string(t.tenant())); err != nil {
		return library.Publication{}, err
	}
	p, err := publicationIn(ctx, t.Tx, t.tenant(), id)
	if !errors.Is(err, pgx.ErrNoRows) {
		return p, err
	}
	p = library.Publication{ID: id, Tenant: t.tenant(), Secret: randomText(32)}
	p.Segment, err = t.segment(ctx)
	return p, err
}

// putPublication writes a publication, which is public then.
func (t *Tx) putPublication(ctx context.Context, noun *Noun, p *library.Publication) error {
	err := t.Track(ctx, noun, []string{p.ID}, func() error {
		_, err := t.Exec(ctx, `INSERT INTO publications (tenant_id, publication_id, collection_h, asset_hs, segment, slug, secret, title, spec, hide_prompts, allow_download, indexed,
				password_hash, expires_at, published_by)
			VALUES ($1, $2, nullif($3::text, ''), CASE WHEN $16 OR $3 = '' THEN coalesce($4::text[], '{}') END, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
			ON CONFLICT (tenant_id, publication_id) DO UPDATE SET asset_hs = excluded.asset_hs, slug = $6, title = $8, spec = $9, hide_prompts = $10, allow_download = $11, indexed = $12, password_hash = $13,
				expires_at = $14, published_by = $15, unpublished_at = NULL, published_at = CASE WHEN publications.unpublished_at IS NULL THEN publications.published_at ELSE now() END`,
			t.tenant(), p.ID, p.Collection, p.Shared, p.Segment, p.Slug, p.Secret, p.Title, p.Spec, p.HidePrompts, p.AllowDownload, p.Indexed, p.PasswordHash, p.ExpiresAt, t.actor.ID, p.Snapshot)
		if pg.IsUniqueViolation(err) {
			return library.NewError(library.KindConflict, library.CodeNameTaken, "Another page has this slug. Choose another one, or leave it out.")
		}
		return err
	})
	if err != nil {
		return err
	}
	*p, err = publicationIn(ctx, t.Tx, t.tenant(), p.ID)
	return err
}

// segment returns the tenant's part of addresses, which it keeps once it has one.
func (t *Tx) segment(ctx context.Context) (segment string, err error) {
	err = t.QueryRow(ctx, `SELECT segment FROM publications WHERE tenant_id = $1 ORDER BY published_at LIMIT 1`, t.tenant()).Scan(&segment)
	if errors.Is(err, pgx.ErrNoRows) {
		return randomText(10), nil
	}
	return segment, err
}

// randomText returns n random bytes as lower-case letters and digits.
func randomText(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails, it ends the process instead
	return strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(b))
}

// freeSlug returns a slug that no other page of the tenant has: the one that is given, or with
// a number behind it.
func (t *Tx) freeSlug(ctx context.Context, segment, slug string) (free string, err error) {
	err = t.QueryRow(ctx, `SELECT s FROM (SELECT $2::text AS s, 0 AS n UNION ALL SELECT $2::text || '-' || k, k FROM generate_series(2, 20002) k) x
		WHERE NOT EXISTS (SELECT FROM publications p WHERE p.tenant_id = $1 AND p.segment = $3 AND p.slug = s) ORDER BY n LIMIT 1`, t.tenant(), slug, segment).Scan(&free)
	return free, err
}

func publicationIn(ctx context.Context, tx pgx.Tx, tenant library.TenantID, id string) (library.Publication, error) {
	rows, err := tx.Query(ctx, `SELECT `+publicationColumns+fromPublications+`AND p.publication_id = $2`, tenant, id)
	if err != nil {
		return library.Publication{}, err
	}
	return pgx.CollectExactlyOneRow(rows, scanPublication)
}

// Unpublish takes the page of a collection away, and returns the operation that did it. One that is
// not published stays so, without an operation.
func (ps *Publications) Unpublish(ctx context.Context, actor library.Actor, ref string) (c library.Collection, operationID string, err error) {
	operationID, err = ps.s.Write(ctx, actor, func(t *Tx) error {
		if c, err = collectionIn(ctx, t.Tx, t.tenant(), ref, ""); err != nil {
			return err
		}
		return t.takeAway(ctx, publicationNoun, string(c.Hash))
	})
	return c, operationID, err
}

func (t *Tx) takeAway(ctx context.Context, noun *Noun, id string) error {
	return t.Track(ctx, noun, []string{id}, func() error {
		_, err := t.Exec(ctx, `UPDATE publications SET unpublished_at = now() WHERE tenant_id = $1 AND publication_id = $2 AND unpublished_at IS NULL`, t.tenant(), id)
		return err
	})
}

// Of returns the publication of a collection; the zero Publication where there never was one.
func (ps *Publications) Of(ctx context.Context, actor library.Actor, ref string) (c library.Collection, p library.Publication, err error) {
	err = ps.s.inTenant(ctx, actor.Tenant, func(tx pgx.Tx) error {
		if c, err = collectionIn(ctx, tx, actor.Tenant, ref, ""); err != nil {
			return err
		}
		p, err = publicationIn(ctx, tx, actor.Tenant, string(c.Hash))
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		return err
	})
	return c, p, err
}

// Find returns the publication at an address, without a credential. One that has expired is returned;
// one that was taken away is NOT_FOUND.
func (ps *Publications) Find(ctx context.Context, segment, slug string) (p library.Publication, err error) {
	var tenant library.TenantID
	var id string
	conn, release, err := ps.s.acquire(ctx)
	if err != nil {
		return p, err
	}
	err = conn.QueryRow(ctx, `SELECT tenant::text, publication FROM find_publication($1, $2)`, segment, slug).Scan(&tenant, &id)
	release()
	if err == nil {
		err = ps.s.inTenant(ctx, tenant, func(tx pgx.Tx) (err error) {
			p, err = publicationIn(ctx, tx, tenant, id)
			return err
		})
	}
	if errors.Is(err, pgx.ErrNoRows) {
		err = library.NotFound("page")
	}
	return p, unavailable(err)
}
