package importer

import (
	"context"
	"fmt"

	"vitrine/api/client"
)

// checkCollection returns an error where the run's collection is not there or cannot
// take files, before any file is read.
func (r *run) checkCollection(ctx context.Context) error {
	if r.opts.Collection == "" {
		return nil
	}
	c, err := r.patient.GetCollection(ctx, client.GetCollectionInput{CollectionH: r.opts.Collection})
	switch {
	case client.IsCode(err, "NOT_FOUND"):
		return fmt.Errorf("there is no collection %s; create it with: vitrine call CreateCollection --name NAME --parent_path PATH", r.opts.Collection)
	case err != nil:
		return err
	case c.Frozen:
		return fmt.Errorf("the collection %s is a snapshot, which cannot be changed; branch it and import into the branch", c.Path)
	case c.SavedSearchID != "":
		return fmt.Errorf("the collection %s is smart: it holds what its saved search finds; choose another", c.Path)
	}
	return nil
}

// collectStored adds those files to the run's collection that are stored already.
func (r *run) collectStored(ctx context.Context, files []file, tickets []client.AssetFileTicket) error {
	var stored []string
	for i, t := range tickets {
		if t.Stored {
			stored = append(stored, files[i].sha1)
		}
	}
	if r.opts.Collection == "" || r.opts.DryRun || len(stored) == 0 {
		return nil
	}
	_, err := r.patient.AddToCollection(ctx, client.AddToCollectionInput{CollectionPath: r.opts.Collection, AssetHs: stored})
	return err
}
