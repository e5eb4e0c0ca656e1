package store

import (
	"cmp"
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"vitrine/library"
)

// InPlaceFile is a file that an import has read where it lies, and the place. Its asset has
// InPlace.
type InPlaceFile struct {
	New      NewAsset
	Original Original // root, path and stamp
}

// InPlaceResult is what became of an InPlaceFile.
type InPlaceResult struct {
	AddResult
	Left   []string // other paths of the same root, where the file was missing: it has moved from there
	Absent string   // InTrash or Purged: the asset was taken out of the library and stays out; only the place was recorded
}

// AddInPlace stores the rows of files that stay where they lie, and the places, in one
// transaction. The results are in the order of the files. Of files with the same bytes the
// first makes the asset. No file may be larger than a batch can hold in memory; callers send
// at most MaxInPlace.
func (as *Assets) AddInPlace(ctx context.Context, actor library.Actor, importID string, files []InPlaceFile) ([]InPlaceResult, string, error) {
	hashes := make([]library.AssetHash, len(files))
	prepared := make([]encodedAsset, len(files))
	var err error
	for i, f := range files {
		hashes[i] = f.New.Asset.Hash
		if prepared[i], err = encodeAsset(f.New); err != nil {
			return nil, "", err
		}
	}
	absent, err := as.s.Trash.Absent(ctx, actor, hashes)
	if err != nil {
		return nil, "", err
	}
	var out []InPlaceResult
	id, err := as.s.Write(ctx, actor, func(t *Tx) error {
		a := &inPlaceAdd{Tx: t, importID: importID, files: files, prepared: prepared, absent: absent, out: make([]InPlaceResult, len(files))}
		out = a.out
		return a.run(ctx)
	})
	return out, id, err
}

// MaxInPlace is how many files one transaction stores. Each takes some advisory locks, of
// which a server has a limited number.
const MaxInPlace = 64

// inPlaceAdd is one transaction of AddInPlace.
type inPlaceAdd struct {
	*Tx
	importID string
	files    []InPlaceFile
	prepared []encodedAsset
	absent   map[library.AssetHash]string
	out      []InPlaceResult
}

func (a *inPlaceAdd) run(ctx context.Context) error {
	first := map[library.AssetHash]int{}
	var order []int // the first file of each asset, by hash: as all that writes assets locks them
	for i, f := range a.files {
		h := f.New.Asset.Hash
		if _, seen := first[h]; !seen {
			first[h] = i
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(x, y int) int { return cmp.Compare(a.files[x].New.Asset.Hash, a.files[y].New.Asset.Hash) })
	created, err := a.insert(ctx, order)
	if err != nil {
		return err
	}
	if err := a.addCreated(ctx, created); err != nil {
		return err
	}
	for _, i := range order {
		if !slices.Contains(created, i) {
			if err := a.existing(ctx, i); err != nil {
				return err
			}
		}
	}
	for i, f := range a.files {
		if of := first[f.New.Asset.Hash]; of != i {
			a.out[i] = a.out[of]
			a.out[i].Created, a.out[i].Restored = false, false
		}
	}
	return a.place(ctx)
}

// insert makes the rows of those assets that are new, and returns which.
func (a *inPlaceAdd) insert(ctx context.Context, order []int) (created []int, err error) {
	var list []library.Asset
	for _, i := range order {
		n := a.files[i].New
		if a.absent[n.Asset.Hash] != "" && n.KeepAbsent {
			a.out[i].Absent = a.absent[n.Asset.Hash]
			continue
		}
		list = append(list, n.Asset)
	}
	made, err := insertAssets(ctx, a.Tx, a.actor, list)
	if err != nil {
		return nil, err
	}
	for _, i := range order {
		if asset, ok := made[a.files[i].New.Asset.Hash]; ok {
			a.out[i].AddResult = AddResult{Asset: asset, Created: true}
			created = append(created, i)
		}
	}
	return created, nil
}

// addCreated writes all that belongs to new assets.
func (a *inPlaceAdd) addCreated(ctx context.Context, created []int) error {
	if len(created) == 0 {
		return nil
	}
	var models modelRows
	var lineage []lineageRow
	var assets []NewAsset
	var jobs []JobArgs
	for _, i := range created {
		n, h := a.files[i].New, a.files[i].New.Asset.Hash
		if n.KeepAbsent && a.out[i].Asset.DocVersion != 1 { // purged since Absent was asked
			return AbsentError(Purged)
		}
		if err := a.recordNewAsset(ctx, a.out[i].Asset); err != nil {
			return err
		}
		if err := a.emitExtracted(ctx, h, n.Lineage); err != nil {
			return err
		}
		models.add(h, n.Lineage.Models)
		lineage, assets, jobs = append(lineage, lineageRow{n, a.prepared[i]}), append(assets, n), append(jobs, PreviewJob{a.tenant(), h})
	}
	b := &pgx.Batch{}
	batchLineage(b, a.tenant(), lineage...)
	batchParents(b, a.tenant(), assets...)
	renders := batchPromptsCandidates(b, a.tenant(), column(assets, func(n NewAsset) *string { return n.Lineage.Positive }))
	a.batchModels(b, models)
	if err := a.Enqueue(ctx, jobs...); err != nil {
		return err
	}
	if err := a.Send(ctx, b); err != nil {
		return err
	}
	return a.linkCreated(ctx, assets, renders)
}

// linkCreated links new assets with prompts, and with the assets they were made from or that
// were made from them.
func (a *inPlaceAdd) linkCreated(ctx context.Context, assets []NewAsset, renders []*promptMatch) error {
	hashes := column(assets, func(n NewAsset) library.AssetHash { return n.Asset.Hash })
	if err := lockLineage(ctx, a.Tx, a.tenant(), hashes); err != nil {
		return err
	}
	b := &pgx.Batch{}
	concerned := make([]bool, len(assets))
	batchTouchesLineage(b, a.tenant(), assets, concerned)
	if err := a.SendBatch(ctx, b).Close(); err != nil {
		return err
	}
	if err := linkPrompts(ctx, a.Tx, a.tenant(), hashes, renders); err != nil {
		return err
	}
	for i, n := range assets {
		if concerned[i] {
			if err := resolveParents(ctx, a.Tx, a.tenant(), n, true); err != nil {
				return err
			}
		}
	}
	return nil
}

// existing adds a file to the asset that is there already.
func (a *inPlaceAdd) existing(ctx context.Context, i int) error {
	if a.out[i].Absent != "" {
		return nil
	}
	got, err := addToExisting(ctx, a.Tx, a.files[i].New, a.prepared[i])
	a.out[i].AddResult = got
	return err
}

// place records where the files lie.
func (a *inPlaceAdd) place(ctx context.Context) error {
	lost, err := a.closeReplaced(ctx, a.files)
	if err != nil {
		return err
	}
	b := &pgx.Batch{}
	rows := make([]placedFile, len(a.files))
	for i, f := range a.files {
		rows[i] = placedFile{hash: f.New.Asset.Hash, at: f.Original}
		if a.out[i].Created {
			rows[i].importID = a.importID
		}
		if r := a.out[i]; !r.Created && r.Absent == "" && r.Asset.InPlace {
			lost = append(lost, f.New.Asset.Hash)
		}
	}
	queueOriginals(b, a.tenant(), rows...)
	a.queueLeft(b)
	if err := a.Send(ctx, b); err != nil {
		return err
	}
	return a.touchAssets(ctx, lost, "original_seen")
}

// queueLeft ends the places where the files of this batch were missing.
func (a *inPlaceAdd) queueLeft(b *pgx.Batch) {
	of, hashes, paths := map[library.AssetHash]int{}, []library.AssetHash{}, [][]byte{}
	for i, f := range a.files {
		of[f.New.Asset.Hash] = i
		hashes, paths = append(hashes, f.New.Asset.Hash), append(paths, []byte(f.Original.Path))
	}
	b.Queue(`UPDATE originals SET until = now() WHERE tenant_id = $1 AND asset_h = ANY($2) AND root = $3 AND until IS NULL AND state = 'missing' AND path <> ALL($4)
		RETURNING asset_h, path`, a.tenant(), hashes, a.files[0].Original.Root, paths).Query(func(rows pgx.Rows) error {
		var hash library.AssetHash
		var path []byte
		_, err := pgx.ForEachRow(rows, []any{&hash, &path}, func() error {
			r := &a.out[of[hash]]
			r.Left = append(r.Left, string(path))
			return nil
		})
		return err
	})
}
