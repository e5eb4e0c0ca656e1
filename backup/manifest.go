package backup

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"vitrine/library"
	"vitrine/store"
)

// format is the version of a backup's layout.
const format = 1

// The names below a target.
const (
	backupsDir = "backups" // <id>/manifest.json, <id>/tables/<name>.copy.gz, <id>/files.jsonl.gz
	filesDir   = "files"   // <sha256[:2]>/<sha256>, shared by all backups
)

func manifestFile(id string) string    { return backupsDir + "/" + id + "/manifest.json" }
func tableFile(id, name string) string { return backupsDir + "/" + id + "/tables/" + name + ".copy.gz" }
func listFile(id string) string        { return backupsDir + "/" + id + "/files.jsonl.gz" }
func contentFile(sum string) string    { return filesDir + "/" + sum[:2] + "/" + sum }

// Manifest names everything of one backup.
type Manifest struct {
	Format    int                   `json:"format"`
	ID        string                `json:"id"`
	Product   string                `json:"product_version"`
	At        time.Time             `json:"at"`       // of the snapshot: what was acknowledged before is in it
	Finished  time.Time             `json:"finished"` // when the last file was copied
	Versions  []int64               `json:"schema_versions"`
	Tables    []Table               `json:"tables"`
	Sequences []store.DumpSequence  `json:"sequences"`
	Excluded  []store.ExcludedTable `json:"excluded_tables"`
	Files     Files                 `json:"files"`
	Damaged   []Damage              `json:"damaged"` // files that the library had lost, or held damaged
}

// Table is one table of a backup, in the text format of PostgreSQL's COPY, packed
// with gzip.
type Table struct {
	store.DumpTable
	Rows       int64  `json:"rows"`
	Bytes      int64  `json:"bytes"` // unpacked
	File       string `json:"file"`
	SHA256     string `json:"sha256"`      // of the file
	TextSHA256 string `json:"text_sha256"` // of what it unpacks to
}

// Files are the files of a backup. Their list is a file of JSON lines.
type Files struct {
	List   string `json:"list"`
	SHA256 string `json:"sha256"` // of the list's file
	Count  int64  `json:"count"`  // of assets
	Bytes  int64  `json:"bytes"`
	// InPlace counts the files that are referenced where their owner keeps them: their rows
	// are in the backup, their bytes are not.
	InPlace      int64 `json:"in_place,omitempty"`
	InPlaceBytes int64 `json:"in_place_bytes,omitempty"`
	Copied       int64 `json:"copied"` // what the target did not have yet
	CopiedBytes  int64 `json:"copied_bytes"`
}

// entry is one line of the list: the file of one asset.
type entry struct {
	Tenant library.TenantID  `json:"tenant"`
	Asset  library.AssetHash `json:"asset"`
	SHA256 string            `json:"sha256"`
	Size   int64             `json:"size"`
	Poster *content          `json:"poster,omitempty"` // of a 3D model
}

// content is a file by what is in it.
type content struct {
	SHA256 string `json:"sha256"`
	Size   int64  `json:"size"`
}

// Damage is a file that could not be backed up, or restored.
type Damage struct {
	Tenant  library.TenantID  `json:"tenant"`
	Asset   library.AssetHash `json:"asset"`
	Problem string            `json:"problem"`
}

// sealed is how a manifest is kept: with its own hash, so that a cut or changed one
// is told.
type sealed struct {
	Manifest json.RawMessage `json:"manifest"`
	SHA256   string          `json:"sha256"`
}

func writeManifest(ctx context.Context, to Target, m Manifest) error {
	raw, err := json.Marshal(m)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(raw)
	whole, err := json.Marshal(sealed{raw, hex.EncodeToString(sum[:])})
	if err != nil {
		return err
	}
	_, err = to.Put(ctx, manifestFile(m.ID), bytes.NewReader(whole))
	return err
}

// ReadManifest reads the manifest of a complete backup; an empty id is the newest
// one.
func ReadManifest(ctx context.Context, at Target, id string) (Manifest, error) {
	var m Manifest
	if id == "" {
		all, err := List(ctx, at)
		if err != nil {
			return m, err
		}
		if len(all) == 0 {
			return m, errors.New("there is no complete backup here")
		}
		return all[len(all)-1], nil
	}
	r, err := at.Get(ctx, manifestFile(id))
	if errors.Is(err, ErrMissing) {
		return m, fmt.Errorf("there is no complete backup %s here", id)
	}
	if err != nil {
		return m, err
	}
	defer r.Close()
	raw, err := io.ReadAll(io.LimitReader(r, 1<<30))
	if err != nil {
		return m, err
	}
	var s sealed
	if err := json.Unmarshal(raw, &s); err != nil {
		return m, fmt.Errorf("the manifest of %s is damaged: %w", id, err)
	}
	if sum := sha256.Sum256(s.Manifest); hex.EncodeToString(sum[:]) != s.SHA256 {
		return m, fmt.Errorf("the manifest of %s is damaged: its hash is another one", id)
	}
	if err := json.Unmarshal(s.Manifest, &m); err != nil {
		return m, fmt.Errorf("the manifest of %s is damaged: %w", id, err)
	}
	if m.Format != format || m.ID != id {
		return m, fmt.Errorf("the backup %s has format %d, and this program reads format %d", id, m.Format, format)
	}
	return m, nil
}

// List returns the manifests of all complete backups of a target, the oldest first.
func List(ctx context.Context, at Target) ([]Manifest, error) {
	ids, err := at.List(ctx, backupsDir)
	if err != nil {
		return nil, err
	}
	slices.Sort(ids)
	var all []Manifest
	for _, id := range ids {
		if _, err := at.Size(ctx, manifestFile(id)); errors.Is(err, ErrMissing) {
			continue
		}
		m, err := ReadManifest(ctx, at, id)
		if err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	return all, nil
}

// Newest returns as of when the newest complete backup of a target is; the zero time when
// there is none. It reads no more than the one manifest.
func Newest(ctx context.Context, at Target) (time.Time, error) {
	ids, err := at.List(ctx, backupsDir)
	if err != nil {
		return time.Time{}, err
	}
	slices.Sort(ids)
	for _, id := range slices.Backward(ids) {
		if _, err := at.Size(ctx, manifestFile(id)); errors.Is(err, ErrMissing) {
			continue
		}
		m, err := ReadManifest(ctx, at, id)
		return m.At, err
	}
	return time.Time{}, nil
}
