package store

import (
	"context"
	"fmt"
	"hash/fnv"

	"github.com/jackc/pgx/v5"

	"vitrine/library"
)

// MaxCards is how many text cards one collection may have.
const MaxCards = 1000

// CardChange is what a change of a text card did.
type CardChange struct {
	Collection  library.Collection
	OperationID string
	ID          string // of the card
	Position    int    // among the items that the actor sees, from 0
	Card        library.TextCard
	Version     int64 // differs between any two states of the card
}

// cardVersion returns a number that follows from a card and its rank.
func cardVersion(card library.TextCard, rank string) int64 {
	raw, _ := jsonb(card) // texts only
	h := fnv.New64a()
	_, _ = fmt.Fprintf(h, "%s %s", raw, rank) // never fails
	return int64(h.Sum64() >> 1)
}

// Card returns a text card of a collection; a not-found error when there is none.
func (c *Collections) Card(ctx context.Context, actor library.Actor, ref, id string) (out CardChange, err error) {
	out.ID = id
	err = c.s.inTenant(ctx, actor.Tenant, func(tx pgx.Tx) (err error) {
		if out.Collection, err = collectionIn(ctx, tx, actor.Tenant, ref, ""); err != nil {
			return err
		}
		if _, err = cardIn(ctx, tx, actor.Tenant, &out); err != nil {
			return err
		}
		return findPosition(ctx, tx, actor, &out)
	})
	return out, err
}

// AddCard puts a text card at a position of a collection; nil means behind all.
func (c *Collections) AddCard(ctx context.Context, actor library.Actor, ref string, card library.TextCard, position *int) (CardChange, error) {
	return c.changeCard(ctx, actor, ref, newHash(), func(t *Tx, out *CardChange) error {
		var cards int
		if err := t.QueryRow(ctx, `SELECT count(*) FROM collection_items WHERE tenant_id = $1 AND collection_h = $2 AND card IS NOT NULL`, t.tenant(), out.Collection.Hash).Scan(&cards); err != nil {
			return err
		}
		if err := roomForCards(cards + 1); err != nil {
			return err
		}
		ranks, err := t.ranksAt(ctx, out.Collection.Hash, position, []string{out.ID})
		if err != nil {
			return err
		}
		out.Card = card
		return t.putCard(ctx, out, ranks[0])
	})
}

// ChangeCard changes a text card by a function of what it is, and moves it to a position
// that is given.
func (c *Collections) ChangeCard(ctx context.Context, actor library.Actor, ref, id string, position *int, change func(*library.TextCard) error) (CardChange, error) {
	return c.changeCard(ctx, actor, ref, id, func(t *Tx, out *CardChange) error {
		rank, err := cardIn(ctx, t, t.tenant(), out)
		if err != nil {
			return err
		}
		if err := t.call.Check(out.Version); err != nil {
			return err
		}
		if err := change(&out.Card); err != nil {
			return err
		}
		if position != nil {
			ranks, err := t.ranksAt(ctx, out.Collection.Hash, position, []string{id})
			if err != nil {
				return err
			}
			rank = ranks[0]
		}
		return t.putCard(ctx, out, rank)
	})
}

// RemoveCard takes a text card out of a collection.
func (c *Collections) RemoveCard(ctx context.Context, actor library.Actor, ref, id string) (CardChange, error) {
	return c.changeCard(ctx, actor, ref, id, func(t *Tx, out *CardChange) error {
		if _, err := cardIn(ctx, t, t.tenant(), out); err != nil {
			return err
		}
		if err := t.call.Check(out.Version); err != nil {
			return err
		}
		if err := findPosition(ctx, t, t.actor, out); err != nil {
			return err
		}
		return t.removeItems(ctx, out.Collection.Hash, []string{id})
	})
}

func (c *Collections) changeCard(ctx context.Context, actor library.Actor, ref, id string, change func(*Tx, *CardChange) error) (CardChange, error) {
	var out CardChange
	operation, err := c.s.Write(ctx, actor, func(t *Tx) (err error) {
		out = CardChange{ID: id}
		if out.Collection, err = t.editable(ctx, ref); err != nil {
			return err
		}
		return change(t, &out)
	})
	out.OperationID = operation
	return out, err
}

// roomForCards refuses more text cards than a collection may have.
func roomForCards(cards int) error {
	if cards > MaxCards {
		return library.NewError(library.KindConflict, library.CodeConflict, "A collection has at most %d text cards. Remove some first.", MaxCards)
	}
	return nil
}

// cardIn reads the card that out names, and returns its rank.
func cardIn(ctx context.Context, tx pgx.Tx, tenant library.TenantID, out *CardChange) (rank string, err error) {
	err = tx.QueryRow(ctx, `SELECT rank, card FROM collection_items WHERE tenant_id = $1 AND collection_h = $2 AND item_id = $3 AND card IS NOT NULL`,
		tenant, out.Collection.Hash, out.ID).Scan(&rank, &out.Card)
	if err == pgx.ErrNoRows {
		err = library.NotFound("text card")
	}
	out.Version = cardVersion(out.Card, rank)
	return rank, err
}

// putCard writes a card and finds out at which position it is.
func (t *Tx) putCard(ctx context.Context, out *CardChange, rank string) error {
	raw, err := jsonb(out.Card)
	if err != nil {
		return err
	}
	if err := t.Track(ctx, collectionItemNoun, []string{itemKey(out.ID, out.Collection.Hash)}, func() error {
		_, err := t.Exec(ctx, `INSERT INTO collection_items (tenant_id, collection_h, item_id, card, rank, added_by) VALUES ($1, $2, $3, $4, $5, $6)
			ON CONFLICT (tenant_id, collection_h, item_id) DO UPDATE SET card = excluded.card, rank = excluded.rank`,
			t.tenant(), out.Collection.Hash, out.ID, string(raw), rank, t.actor.ID)
		return collectionError(err)
	}); err != nil {
		return err
	}
	out.Version = cardVersion(out.Card, rank)
	return findPosition(ctx, t, t.actor, out)
}

// findPosition fills in at which position a card is.
func findPosition(ctx context.Context, tx pgx.Tx, actor library.Actor, out *CardChange) error {
	return tx.QueryRow(ctx, `SELECT count(*) FROM collection_items i, collection_items mine
		WHERE mine.tenant_id = $1 AND mine.collection_h = $2 AND mine.item_id = $4 AND i.tenant_id = $1 AND i.collection_h = $2
			AND (i.rank, i.item_id) < (mine.rank, mine.item_id) AND `+shown("$3"), actor.Tenant, out.Collection.Hash, viewer(actor), out.ID).Scan(&out.Position)
}
