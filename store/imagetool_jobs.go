package store

import (
	"context"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"vitrine/library"
)

// ImagetoolJobChain is how a picture of the image tool came about, job by job.
type ImagetoolJobChain struct {
	Steps         []ImagetoolJobStep // the job asked about first
	Truncated     bool
	HasMoreLevels bool
}

// ImagetoolJobStep is one job of the image tool.
type ImagetoolJobStep struct {
	Redacted bool // not the actor's to see: Key is a placeholder, and only Depth and From are set
	// Key identifies a step: the job's id, or the asset's hash where its file does
	// not name a job.
	Key    string
	JobID  string
	Depth  int                 // 0 for the job asked about, below for what led to it, above for what came of it
	Assets []AssetWithLineage  // the job's pictures in the library, in order of their making; none for a job known by name only
	From   []string            // keys of the steps it was made from
	Used   []library.AssetHash // those of its pictures from which other steps were made
}

// ImagetoolJobChain walks from a picture of the image tool to the jobs it was made from
// and those made from it, at most depth levels each way and limit jobs. Of an
// asset that the image tool did not make there are no steps. Jobs of which the actor
// sees no picture stand in it as placeholders.
func (ln *Lineage) ImagetoolJobChain(ctx context.Context, actor library.Actor, hash library.AssetHash, depth, limit int) (ImagetoolJobChain, error) {
	w := jobTraversal{tenant: actor.Tenant, depth: depth, limit: limit, steps: map[string]int{}}
	err := ln.s.inTenant(ctx, actor.Tenant, func(tx pgx.Tx) error {
		w.tx = tx
		start, err := getAssetWithLineage(ctx, tx, actor, hash)
		if err != nil || !start.FromImagetool() {
			return err
		}
		pictures, err := w.pictures(ctx, []string{strings.ToLower(start.JobID())}, []library.AssetHash{hash})
		if err != nil {
			return err
		}
		key := jobKey(start)
		w.addStep(key, start.JobID(), 0, pictures[key])
		for _, direction := range []int{-1, 1} {
			if err := w.levels(ctx, key, direction); err != nil {
				return err
			}
		}
		w.chain.redact(actor)
		return nil
	})
	return w.chain, err
}

// jobTraversal is the state of one ImagetoolJobChain.
type jobTraversal struct {
	tx           pgx.Tx
	tenant       library.TenantID
	depth, limit int
	chain        ImagetoolJobChain
	steps        map[string]int // index of each key's step
}

func jobKey(m AssetWithLineage) string {
	if id := m.JobID(); id != "" {
		return strings.ToLower(id)
	}
	return string(m.Hash)
}

// addStep adds a job unless it is there or the chain is full; new reports whether it did.
func (w *jobTraversal) addStep(key, job string, depth int, pictures []AssetWithLineage) (isNew bool) {
	if _, have := w.steps[key]; have {
		return false
	}
	if len(w.chain.Steps) >= w.limit {
		w.chain.Truncated = true
		return false
	}
	w.steps[key] = len(w.chain.Steps)
	w.chain.Steps = append(w.chain.Steps, ImagetoolJobStep{Key: key, JobID: strings.ToLower(job), Depth: depth, Assets: pictures, From: []string{}})
	return true
}

// pictures reads the pictures of jobs and single assets, by the key of their step.
func (w *jobTraversal) pictures(ctx context.Context, jobs []string, hashes []library.AssetHash) (map[string][]AssetWithLineage, error) {
	list, err := queryAssetsWithLineage(ctx, w.tx, w.tenant, `AND asset_h IN (
		SELECT unnest($3::text[]) UNION SELECT asset_h FROM lineage WHERE tenant_id = $1 AND job_id = ANY($2) AND job_id <> '')`, jobs, hashes)
	byKey := map[string][]AssetWithLineage{}
	for _, m := range list {
		if m.FromImagetool() {
			byKey[jobKey(m)] = append(byKey[jobKey(m)], m)
		}
	}
	return byKey, err
}

// jobReference is one job's mention of another, or of a picture.
type jobReference struct {
	Child     library.AssetHash
	ParentJob string
	Parent    library.AssetHash
}

const (
	jobReferencesUp = `SELECT asset_h, job_id, coalesce(parent_asset_h, '') FROM asset_parents
		WHERE tenant_id = $1 AND asset_h = ANY($2) AND (job_id <> '' OR parent_asset_h IS NOT NULL)
		UNION SELECT asset_h, '', parent_asset_h FROM assets WHERE tenant_id = $1 AND asset_h = ANY($2) AND parent_asset_h IS NOT NULL
		ORDER BY 1, 2, 3 LIMIT $3`
	jobReferencesDown = `SELECT asset_h, job_id, coalesce(parent_asset_h, '') FROM asset_parents WHERE tenant_id = $1 AND job_id <> '' AND job_id = ANY($3)
		UNION SELECT asset_h, job_id, parent_asset_h FROM asset_parents WHERE tenant_id = $1 AND parent_asset_h = ANY($2)
		UNION SELECT asset_h, '', parent_asset_h FROM assets WHERE tenant_id = $1 AND parent_asset_h = ANY($2)
		ORDER BY 1, 2, 3 LIMIT $4`
)

func (w *jobTraversal) levels(ctx context.Context, start string, direction int) error {
	frontier := []string{start}
	for level := 1; len(frontier) > 0 && !w.chain.Truncated; level++ {
		links, pictures, err := w.neighbours(ctx, frontier, direction)
		if err != nil {
			return err
		}
		if level > w.depth {
			w.chain.HasMoreLevels = w.chain.HasMoreLevels || slices.ContainsFunc(links, func(l jobLink) bool { _, have := w.steps[l.far(direction)]; return !have })
			return nil
		}
		frontier = nil
		for _, l := range links {
			far := l.far(direction)
			if w.addStep(far, l.job(direction, pictures[far]), level*direction, pictures[far]) {
				frontier = append(frontier, far)
			}
			w.addLink(l)
		}
	}
	return nil
}

// jobLink is the fact that one step was made from another.
type jobLink struct {
	child, parent, parentJob string
	picture                  library.AssetHash // the parent's, where it is known
}

func (l jobLink) far(direction int) string {
	if direction > 0 {
		return l.child
	}
	return l.parent
}

// job is the id of the job at the far end.
func (l jobLink) job(direction int, pictures []AssetWithLineage) string {
	if len(pictures) > 0 {
		return pictures[0].JobID()
	}
	if direction < 0 {
		return l.parentJob
	}
	return ""
}

func (w *jobTraversal) addLink(l jobLink) {
	child, known := w.steps[l.child]
	parent, parentKnown := w.steps[l.parent]
	if !known || !parentKnown {
		return
	}
	if from := &w.chain.Steps[child].From; !slices.Contains(*from, l.parent) {
		*from = append(*from, l.parent)
	}
	if used := &w.chain.Steps[parent].Used; l.picture != "" && !slices.Contains(*used, l.picture) {
		*used = append(*used, l.picture)
	}
}

// neighbours returns the links from some steps one level up or down, and the pictures of
// the steps at their far ends.
func (w *jobTraversal) neighbours(ctx context.Context, frontier []string, direction int) ([]jobLink, map[string][]AssetWithLineage, error) {
	var hashes []library.AssetHash
	var jobs []string
	keyOf := map[library.AssetHash]string{}
	for _, key := range frontier {
		step := w.chain.Steps[w.steps[key]]
		if step.JobID != "" {
			jobs = append(jobs, step.JobID)
		}
		for _, m := range step.Assets {
			hashes = append(hashes, m.Hash)
			keyOf[m.Hash] = key
		}
	}
	refs, err := w.references(ctx, direction, hashes, jobs)
	if err != nil {
		return nil, nil, err
	}
	var farJobs []string
	var farAssets []library.AssetHash
	for _, r := range refs {
		if direction > 0 {
			farAssets = append(farAssets, r.Child)
		} else if farJobs = append(farJobs, r.ParentJob); r.Parent != "" {
			farAssets = append(farAssets, r.Parent)
		}
	}
	found, err := w.completeJobs(ctx, farJobs, farAssets)
	if err != nil {
		return nil, nil, err
	}
	for key, list := range found {
		for _, m := range list {
			keyOf[m.Hash] = key
		}
	}
	return resolveLinks(refs, keyOf), found, nil
}

// completeJobs reads the jobs that made some assets, with all their pictures.
func (w *jobTraversal) completeJobs(ctx context.Context, jobs []string, hashes []library.AssetHash) (map[string][]AssetWithLineage, error) {
	found, err := w.pictures(ctx, jobs, hashes)
	if err != nil {
		return nil, err
	}
	for key := range found {
		jobs = append(jobs, key)
	}
	return w.pictures(ctx, jobs, hashes)
}

func (w *jobTraversal) references(ctx context.Context, direction int, hashes []library.AssetHash, jobs []string) ([]jobReference, error) {
	most := w.limit * 4
	sql, args := jobReferencesUp, []any{w.tenant, hashes, most}
	if direction > 0 {
		sql, args = jobReferencesDown, []any{w.tenant, hashes, jobs, most}
	}
	rows, err := w.tx.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	refs, err := pgx.CollectRows(rows, pgx.RowToStructByPos[jobReference])
	w.chain.Truncated = w.chain.Truncated || len(refs) == most
	return refs, err
}

// resolveLinks turns mentions into links between steps. Mentions of what the image tool
// did not make, and a job's mention of itself, are none.
func resolveLinks(refs []jobReference, keyOf map[library.AssetHash]string) []jobLink {
	var out []jobLink
	for _, r := range refs {
		l := jobLink{child: keyOf[r.Child], parent: r.ParentJob, parentJob: r.ParentJob, picture: r.Parent}
		if l.parent == "" {
			l.parent = keyOf[r.Parent]
		}
		if l.child != "" && l.parent != "" && l.child != l.parent {
			out = append(out, l)
		}
	}
	return out
}
