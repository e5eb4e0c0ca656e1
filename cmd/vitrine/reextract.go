package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"vitrine/library"
	"vitrine/reextract"
)

type reextractCommand struct {
	servers
	All   bool   `help:"Re-extract every asset, also those that the current parser version has read."`
	After string `placeholder:"TENANT/ASSET" help:"Resume after this asset, where an interrupted run with --all stopped."`
	JSON  bool   `name:"json" help:"Print JSON."`
}

// Run reads the lineage of all assets again from their stored metadata, without
// their files. The service may run meanwhile, and brings the changes to the index.
func (c *reextractCommand) Run(ctx context.Context) error {
	after, err := parseKey(c.After)
	if err != nil {
		return err
	}
	s, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	b := newBar("reading again")
	got, err := reextract.Run(ctx, s.Store.Extraction, reextract.Options{All: c.All, After: after, Progress: func(done reextract.Counts, total int64) {
		b.set(fmt.Sprintf("changed %d, failed %d", done.Changed, done.Failed), done.Done(), total)
	}})
	b.close()
	interrupted := errors.Is(err, context.Canceled)
	if err != nil && !interrupted {
		return err
	}
	if c.JSON {
		err = json.NewEncoder(os.Stdout).Encode(struct {
			reextract.Counts
			Interrupted bool `json:"interrupted"`
		}{got, interrupted})
	} else {
		_, err = fmt.Printf("Re-extracted: %d changed, %d unchanged, %d failed (unchanged).\n", got.Changed, got.Same, got.Failed)
		for _, name := range slices.Sorted(maps.Keys(got.Fields)) {
			n := got.Fields[name]
			fmt.Printf("  %-14s  %6d added  %6d changed  %6d removed\n", name, n.Added, n.Changed, n.Removed)
		}
	}
	if interrupted {
		warn("Interrupted. %s", resume(c.All, got.Last))
	}
	if interrupted || got.Failed > 0 {
		return errors.Join(err, errSaid)
	}
	return err
}

// resume returns how to go on.
func resume(all bool, last library.AssetKey) string {
	if all && last.Hash != "" {
		return fmt.Sprintf("Go on with: vitrine reextract --all --after %s/%s", last.Tenant, last.Hash)
	}
	return "Run the same command again to go on where it stopped."
}

// parseKey reads an asset's key as resume writes it.
func parseKey(s string) (library.AssetKey, error) {
	if s == "" {
		return library.AssetKey{}, nil
	}
	tenant, hash, _ := strings.Cut(strings.ToLower(s), "/")
	k := library.AssetKey{Tenant: library.TenantID(tenant), Hash: library.AssetHash(hash)}
	if !k.Tenant.Valid() || !k.Hash.Valid() {
		return k, errors.New("--after wants a tenant's id and an asset's hash, as TENANT/ASSET")
	}
	return k, nil
}
