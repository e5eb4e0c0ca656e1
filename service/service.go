package service

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"vitrine/api"
	"vitrine/automation"
	"vitrine/embed"
	"vitrine/events"
	"vitrine/export"
	"vitrine/indexer"
	"vitrine/inplace"
	"vitrine/internal/opensearch"
	"vitrine/jobs"
	"vitrine/mcp"
	"vitrine/media/blob"
	"vitrine/media/extract"
	"vitrine/media/preview"
	"vitrine/op"
	"vitrine/op/search"
	"vitrine/pipeline"
	"vitrine/publish"
	"vitrine/query/run"
	"vitrine/store"
	"vitrine/transfer"
)

// Service is the whole product, ready to run any of its roles.
type Service struct {
	Store      *store.Store
	Blobs      blob.Place
	Previews   *preview.Maker
	Searcher   *run.Searcher
	Indexer    *indexer.Indexer
	Relay      *indexer.Relay
	Events     *events.Relay
	Streams    *events.Streams
	Jobs       *jobs.Runner
	Pipelines  *pipeline.Engine
	Rules      *automation.Rules
	Deliverer  *automation.Deliverer // of events to webhooks
	Catalog    op.Catalog
	Caller     *op.Caller
	Imports    *inplace.Engine
	Embedder   embed.Embedder     // nil when searches are by words only
	OpenSearch *opensearch.Client // for the indexer; requests that people wait for have one that notices outages sooner

	cfg       Config
	figures   *events.Metrics
	log       *slog.Logger
	registry  *prometheus.Registry
	transfers *transfer.Service
	exports   *export.Builder
	site      *publish.Site
	endpoint  *mcp.Endpoint
	handler   http.Handler
	scrubs    *scrubMetrics
	backups   *backupMetrics
	roots     *inplace.Roots
	scrubber  string // names this process among those that check files
}

// Open builds the product. PostgreSQL must answer and its schema be current;
// Kafka and OpenSearch may be down and come up later.
func Open(ctx context.Context, cfg Config) (*Service, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	s := &Service{cfg: cfg, log: cfg.Log, registry: prometheus.NewRegistry()}
	if s.Store, err = store.Open(ctx, cfg.Database()); err != nil {
		return nil, err
	}
	s.roots = inplace.NewRoots(cfg.ImportRoots, s.Store.Tenants)
	if err := s.openFiles(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if err := extract.LoadNodeClasses(filepath.Join(cfg.DataDir, extract.NodesFolder)); err != nil {
		s.log.Warn("some node class descriptions are invalid", "error", err)
	}
	if err := s.assemble(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// openFiles opens the blob folder, and then reads the signing key beside it: neither
// is made in the wrong place.
func (s *Service) openFiles(ctx context.Context) (err error) {
	if s.cfg.NoFiles {
		s.cfg.SigningKey = random(32) // no link that it signs is given out
		return nil
	}
	if s.Blobs, err = OpenBlobs(ctx, s.Store, s.cfg); err != nil {
		return err
	}
	if _, can := s.Blobs.(*blob.Bucket); !can && s.cfg.DirectDownloads > 0 {
		return errors.New("VITRINE_DIRECT_DOWNLOADS needs a bucket in VITRINE_BLOBS: a folder has no links of its own")
	}
	s.Blobs = inplace.NewBlobs(s.Blobs, s.Store, s.roots)
	if s.cfg.Blobs != "" { // the folder of the signing key is not made with that of the files
		if err := os.MkdirAll(s.cfg.DataDir, 0o750); err != nil {
			return fmt.Errorf("making the data folder: %w", err)
		}
	}
	s.cfg, err = s.cfg.withKey()
	return err
}

// Handler serves REST, MCP and files.
func (s *Service) Handler() http.Handler { return s.handler }

// Ready reports whether requests can be answered in full: the database, the
// folder of files and the search index are there.
func (s *Service) Ready(ctx context.Context) error {
	if err := s.Store.Ping(ctx); err != nil {
		return err
	}
	if err := s.checkBlobs(ctx); err != nil {
		return err
	}
	return s.Searcher.Ping(ctx)
}

// degraded names what searches lack at present. Ready has just asked the index.
func (s *Service) degraded() []string {
	if s.Searcher.Incomplete("") {
		return []string{search.IndexIncomplete}
	}
	return nil
}

// Close releases everything. Run must have returned.
func (s *Service) Close() error {
	if s.endpoint != nil {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		_ = s.endpoint.Close(ctx)
	}
	if s.Indexer != nil {
		s.Indexer.Close()
	}
	if s.Store != nil {
		s.Store.Close()
	}
	if s.Embedder != nil {
		_ = s.Embedder.Close()
	}
	if s.Blobs != nil {
		return s.Blobs.Close()
	}
	return nil
}

// Run does the work of the given roles until ctx ends, then finishes what is
// under way. listening is told the address once requests are taken.
func (s *Service) Run(ctx context.Context, roles []Role, listening func(net.Addr)) error {
	setGCTarget()
	g, ctx := errgroup.WithContext(ctx)
	if s.cfg.NoFiles && NeedFiles(roles) {
		return fmt.Errorf("the roles %v need the folder of files", roles)
	}
	if s.Blobs != nil {
		g.Go(func() error { return s.watchBlobs(ctx) })
	}
	for _, r := range roles {
		switch r {
		case RoleAPI:
			g.Go(func() error { return s.listen(ctx, listening) })
			g.Go(func() error { s.warmUpModel(ctx); return nil })
		case RoleRelay:
			g.Go(func() error { return s.Relay.Run(ctx) })
			g.Go(func() error { return s.Events.Run(ctx) })
		case RoleIndex:
			g.Go(func() error { return s.Indexer.Run(ctx) })
		case RoleWork:
			g.Go(func() error { return s.work(ctx) })
		default:
			return fmt.Errorf("there is no role %q; the roles are %v", r, Roles)
		}
	}
	s.log.Info("running", "roles", slices.Clone(roles))
	return g.Wait()
}

// warmUpModel loads a model that runs in this process, so that the first search does not
// wait for it. What is wrong with it shows when it is used.
func (s *Service) warmUpModel(ctx context.Context) {
	if s.Embedder != nil && s.Embedder.Info().Driver != embed.OpenAI {
		_, _ = s.Embedder.Embed(ctx, []string{"warm"})
	}
}

// shutdownLimit is how long requests under way may take to finish.
const shutdownLimit = 10 * time.Second

func (s *Service) listen(ctx context.Context, listening func(net.Addr)) error {
	l, err := net.Listen("tcp", s.cfg.Listen)
	if err != nil {
		return fmt.Errorf("listening on %s: %w; name another address with --listen", s.cfg.Listen, err)
	}
	server := api.NewServer(s.handler)
	stopped := make(chan error, 1)
	go func() { stopped <- server.Serve(api.Listener(l)) }()
	if listening != nil {
		listening(l.Addr())
	}
	select {
	case err := <-stopped:
		return err
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownLimit)
	defer cancel()
	if err := server.Shutdown(grace); err != nil {
		return server.Close()
	}
	return nil
}
