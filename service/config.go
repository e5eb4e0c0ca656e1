// Package service puts the product together: one value that holds the store, the
// bytes, the searcher and the list of operations, and runs any of its roles.
//
// In comes a Config; out come an HTTP handler and background work. It contains no
// rules of its own. The command line, the tests and the benchmarks all build the
// product here, so they all run the same one.
package service

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"vitrine/automation/webhook"
	"vitrine/embed"
	"vitrine/indexer"
	"vitrine/inplace"
	"vitrine/internal/kafkaclient"
	"vitrine/internal/opensearch"
	"vitrine/internal/s3"
	"vitrine/library"
	"vitrine/media/blob"
	"vitrine/media/fetch"
	"vitrine/store"
)

// Role is one kind of work. A process runs any set of them, and any number of
// processes may run the same.
type Role string

// The roles.
const (
	RoleAPI   Role = "api"   // REST and MCP
	RoleRelay Role = "relay" // outbox → Kafka
	RoleIndex Role = "index" // Kafka → OpenSearch
	RoleWork  Role = "work"  // background jobs such as previews, sweeps
)

// Roles lists every role.
var Roles = []Role{RoleAPI, RoleRelay, RoleIndex, RoleWork}

// NeedFiles reports whether any of the roles looks at files or signs links.
func NeedFiles(roles []Role) bool {
	return slices.Contains(roles, RoleAPI) || slices.Contains(roles, RoleWork)
}

// Config is where the product's parts are. Brokers, OpenSearchURL, DataDir and
// either PostgresURL or both other PostgreSQL URLs are required.
type Config struct {
	PostgresURL        string // of the schema's owner, see store.Config
	PostgresAppURL     string // of the role of requests
	PostgresIndexerURL string // of the role of the relay and the indexer

	Brokers            []string
	Partitions         int // of each topic when it is made; 0 means 8
	KafkaSecurity      kafkaclient.Security
	OpenSearchURL      []string
	OpenSearchSecurity opensearch.Security
	DataDir            string // blobs, unless Blobs is set, and the signing key
	// Blobs is where files are kept instead of DataDir: a folder, or s3://bucket/prefix on
	// the server that S3 names.
	Blobs string
	S3    s3.Access
	// DirectDownloads answers downloads of originals with a link to the bucket itself, valid
	// for so long, at most blob.MaxLink; 0 means that the service serves them.
	DirectDownloads time.Duration
	// NoFiles opens a product that never looks at files or links, for the roles relay
	// and index and for commands: DataDir need not be there.
	NoFiles bool
	Prefix  string // before every index, topic and group; lower case; "" for one deployment per cluster

	Listen    string // host:port; "" means 127.0.0.1:7788
	PublicURL string // how clients reach the service; "" means http:// and Listen
	TrustHost bool   // a reverse proxy on this machine keeps the original Host header
	Origins   []string

	SigningKey   []byte        // of links, at least 32 bytes; empty: kept in DataDir. Replicas must share it.
	SearchPerMin int           // searches per minute and key; 0 means the 120 of the specification, negative none
	SweepEvery   time.Duration // how often lost uploads are swept; 0 means an hour
	SweepAge     time.Duration // what counts as lost; 0 means 24 hours
	// ScrubRate is how many bytes per second the background check of files reads; 0 means
	// DefaultScrubRate, negative none. ScrubEvery is how much time lies between the
	// beginnings of two passes over all files; 0 means DefaultScrubEvery.
	ScrubRate  int64
	ScrubEvery time.Duration
	Backups    BackupConfig // what the role work backs up
	// SearchLimit is the time after which a search is stopped, at most run.MaxTimeLimit; 0 means
	// run.DefaultTimeLimit.
	SearchLimit time.Duration
	// IndexWait is how long a search waits for the write whose index_token it is given; 0 means
	// DefaultIndexWait.
	IndexWait time.Duration
	// ReconcileEvery is how often the index is compared with the database; 0 means
	// a day.
	ReconcileEvery time.Duration
	// Retention is how long operations can be listed and undone, and how long the audit
	// trail is kept.
	Retention store.Retention
	// TrashFor is how long assets stay in the trash before they are purged; 0 means for ever.
	TrashFor time.Duration
	// OwnIndexAt is how many assets a tenant may have in the index that tenants share;
	// 0 means indexer.DefaultOwnAt.
	OwnIndexAt int64
	RuleClock  func() time.Time // what schedules of rules follow; nil: time.Now
	// ImportRoots are the folders that may be imported in place, and Watch those that the role
	// work imports and watches from the start: names of roots, or folders below them.
	ImportRoots []inplace.Root
	Watch       []string
	Rescan      time.Duration // how often watched folders are looked through as a whole; 0 means inplace.DefaultRescan

	Decoders     int            // pictures decoded at once; 0 means one per processor
	FFmpeg       string         // the program that reads frames of videos; empty: the one in PATH
	Vips         string         // the program that reads AVIF, HEIC and JPEG XL; empty: vipsthumbnail in PATH
	Chromium     string         // the browser that prints decks; empty: the one in PATH; browser.Off: none
	DecodeMemory int64          // bytes that all decoding shares; 0 means memory.DefaultShared
	MaxFile      int64          // bytes of one file; 0 means the default of package assets
	Fetch        fetch.Config   // what StoreAsset fetches from URLs
	Webhooks     webhook.Config // which endpoints webhooks can have
	Embed        embed.Config   // what turns texts into vectors; the zero value means nothing does
	Version      string
	Log          *slog.Logger
}

// DefaultIndexWait is some twenty times what a write usually takes to be shown.
const DefaultIndexWait = 2 * time.Second

// Database returns how to reach PostgreSQL.
func (c Config) Database() store.Config {
	return store.Config{URL: c.PostgresURL, AppURL: c.PostgresAppURL, IndexerURL: c.PostgresIndexerURL}
}

// The background check of files: a terabyte takes about two days, and the beginnings of
// two passes over all files lie a week apart at least.
const (
	DefaultScrubRate  = 5 << 20
	DefaultScrubEvery = 7 * 24 * time.Hour
)

// Cluster returns how to reach OpenSearch.
func (c Config) Cluster() opensearch.Cluster {
	return opensearch.Cluster{Addresses: c.OpenSearchURL, Security: c.OpenSearchSecurity}
}

// Kafka returns how to reach Kafka, and by which names.
func (c Config) Kafka() indexer.Config {
	return indexer.Config{Prefix: c.Prefix, Brokers: c.Brokers, Partitions: c.Partitions, Security: c.KafkaSecurity, Log: c.Log}
}

// DefaultListen is where the service listens unless told otherwise.
const DefaultListen = "127.0.0.1:7788"

// withDefaults returns the configuration with a value wherever one is left out, or an error
// that names every field that is missing or wrong.
func (c Config) withDefaults() (Config, error) {
	if errs := c.check(); len(errs) > 0 {
		return c, library.Invalid(errs...)
	}
	c.Listen = cmp.Or(c.Listen, DefaultListen)
	c.PublicURL = strings.TrimRight(cmp.Or(c.PublicURL, "http://"+c.Listen), "/")
	c.SweepEvery = cmp.Or(c.SweepEvery, time.Hour)
	c.SweepAge = cmp.Or(c.SweepAge, 24*time.Hour)
	c.ScrubRate = cmp.Or(c.ScrubRate, DefaultScrubRate)
	c.ScrubEvery = cmp.Or(c.ScrubEvery, DefaultScrubEvery)
	c.IndexWait = cmp.Or(c.IndexWait, DefaultIndexWait)
	c.ReconcileEvery = cmp.Or(c.ReconcileEvery, 24*time.Hour)
	c.Decoders = cmp.Or(c.Decoders, runtime.GOMAXPROCS(0))
	c.Version = cmp.Or(c.Version, "dev")
	c.Log = cmp.Or(c.Log, slog.Default())
	return c, nil
}

// check returns what is missing or wrong.
func (c Config) check() (errs []library.FieldError) {
	need := func(name string, have bool) {
		if !have {
			errs = append(errs, library.FieldError{Field: name, Code: "required", Message: "It is required."})
		}
	}
	need("postgres_url", c.PostgresURL != "" || c.PostgresAppURL != "" && c.PostgresIndexerURL != "")
	need("kafka_brokers", len(c.Brokers) > 0)
	need("opensearch_url", len(c.OpenSearchURL) > 0)
	if c.DirectDownloads < 0 || c.DirectDownloads > blob.MaxLink {
		errs = append(errs, library.FieldError{Field: "direct_downloads", Code: "range", Message: "It must be between 0 and " + blob.MaxLink.String() + ": such links cannot be revoked."})
	}
	errs = append(errs, c.Backups.check(c.PostgresURL)...)
	need("data_dir", c.DataDir != "" || c.NoFiles)
	if c.Prefix != strings.ToLower(c.Prefix) {
		errs = append(errs, library.FieldError{Field: "prefix", Code: "pattern", Message: "It must be lower case, as index names are."})
	}
	if len(c.SigningKey) > 0 && len(c.SigningKey) < 32 {
		errs = append(errs, library.FieldError{Field: "signing_key", Code: "length", Message: "It needs at least 32 bytes."})
	}
	return errs
}

// withKey reads the signing key from the data folder, which must be there.
func (c Config) withKey() (Config, error) {
	if len(c.SigningKey) > 0 {
		return c, nil
	}
	key, err := loadSigningKey(filepath.Join(c.DataDir, signingKeyFile))
	c.SigningKey = key
	return c, err
}

// signingKeyFile is the file of the data folder with the signing key.
const signingKeyFile = "signing.key"

// loadSigningKey reads the key that links are signed with, and makes it the first time.
// Two processes that start together agree on one: the file is linked into place
// whole, and only one link can win.
func loadSigningKey(path string) ([]byte, error) {
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		temp, err := os.CreateTemp(filepath.Dir(path), ".signing-*")
		if err != nil {
			return nil, fmt.Errorf("making the signing key: %w", err)
		}
		defer os.Remove(temp.Name())
		_, err = temp.WriteString(hex.EncodeToString(random(32)) + "\n")
		if err := errors.Join(err, temp.Sync(), temp.Close()); err != nil {
			return nil, fmt.Errorf("making the signing key: %w", err)
		}
		if err := os.Link(temp.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, fmt.Errorf("making the signing key: %w", err)
		}
		raw, err = os.ReadFile(path)
		if err != nil {
			return nil, err
		}
	} else if err != nil {
		return nil, fmt.Errorf("reading the signing key: %w", err)
	}
	key, err := hex.DecodeString(strings.TrimSpace(string(raw)))
	if err != nil || len(key) < 32 {
		return nil, fmt.Errorf("%s does not contain a key of at least 64 hex digits; delete it to generate a new one (existing links stop working)", path)
	}
	return key, nil
}

func random(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails: it ends the program instead
	return b
}
