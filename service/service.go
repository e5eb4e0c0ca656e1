package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"golang.org/x/sync/errgroup"

	"vitrine/api"
	"vitrine/auth"
	"vitrine/automation"
	"vitrine/automation/webhook"
	"vitrine/embed"
	"vitrine/events"
	"vitrine/export"
	"vitrine/indexer"
	"vitrine/inplace"
	"vitrine/internal/opensearch"
	"vitrine/jobs"
	"vitrine/library"
	"vitrine/mcp"
	"vitrine/media/blob"
	"vitrine/media/extract"
	"vitrine/media/fetch"
	"vitrine/media/memory"
	"vitrine/media/preview"
	"vitrine/op"
	"vitrine/op/all"
	"vitrine/op/assets"
	"vitrine/op/indextoken"
	"vitrine/op/search"
	"vitrine/pipeline"
	"vitrine/publish"
	"vitrine/query/run"
	"vitrine/store"
	"vitrine/store/indexstate"
	"vitrine/transfer"
	"vitrine/web"
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

// assemble joins the parts; nothing of it talks to a server.
func (s *Service) assemble() error {
	var err error
	cfg := s.cfg
	if s.OpenSearch, err = cfg.Cluster().NewClient(); err != nil {
		return err
	}
	watched, err := cfg.Cluster().NewClientWithHealthCheck()
	if err != nil {
		return err
	}
	meaning := cfg.Embed
	meaning.Log = cfg.Log
	if s.Embedder, err = embed.Open(meaning); err != nil {
		return err
	}
	metrics := indexer.NewMetrics()
	index := cfg.Kafka()
	index.Embedder, index.OwnAt = s.Embedder, cfg.OwnIndexAt
	if s.Indexer, err = indexer.New(s.Store, s.OpenSearch, index, metrics); err != nil {
		return err
	}
	if s.Relay, err = indexer.NewRelay(s.Store, index, metrics); err != nil {
		return err
	}
	figures := events.NewMetrics(s.registry)
	s.figures = figures
	s.Events = events.NewRelay(s.Store, events.Config{Prefix: cfg.Prefix, Brokers: cfg.Brokers, Security: cfg.KafkaSecurity, Log: cfg.Log}, figures)
	s.Searcher = run.New(watched, cfg.Prefix, cfg.SearchLimit)
	links := assets.Links{Signer: blob.NewSigner(cfg.SigningKey), Base: cfg.PublicURL}
	keys := auth.New(s.Store.Keys)
	keys.TrustProxy = cfg.TrustHost
	budget := memory.New(memory.Config{Shared: cfg.DecodeMemory, Parallel: cfg.Decoders})
	s.Previews = preview.NewMaker(s.Blobs, budget)
	s.Previews.FFmpeg = sync.OnceValue(s.findFFmpeg) // few commands need it, and finding it runs it
	// Jobs wait for files and the database in turn with decoding, which the budget bounds.
	s.Jobs = jobs.New(s.Store.Jobs, jobs.Config{Workers: 4 * cfg.Decoders, Log: cfg.Log}, jobs.NewMetrics(s.registry))
	jobs.Handle(s.Jobs, s.previewJob)
	jobs.Handle(s.Jobs, s.linkPrompts)
	s.addExports(budget)
	limits := store.NewLimitCache(s.Store.Limits)
	fetcher, err := fetch.New(cfg.Fetch)
	if err != nil {
		return fmt.Errorf("MCP_URL_INGEST_ALLOWLIST: %w", err)
	}
	sender := webhook.NewSender(cfg.Webhooks)
	sealer, err := webhook.NewSealer(cfg.SigningKey)
	if err != nil {
		return err
	}
	s.Deliverer = automation.NewDeliverer(s.Store.Webhooks, automation.DelivererConfig{Sender: sender, Sealer: sealer, Log: cfg.Log}, automation.NewMetrics(s.registry))
	s.transfers = transfer.New(s.Store, keys, limits, s.Blobs, links.Signer, s.Previews)
	s.transfers.DirectFor, s.transfers.MaxFile, s.transfers.UploadsFor = cfg.DirectDownloads, cmp.Or(cfg.MaxFile, assets.DefaultMaxFile), min(cfg.SweepAge, maxUploadAge)
	s.Imports = inplace.New(inplace.Config{Store: s.Store, Roots: s.roots, Memory: budget, MaxFile: cmp.Or(cfg.MaxFile, assets.DefaultMaxFile), Rescan: cfg.Rescan, Log: cfg.Log})
	waiter := indexer.NewWaiter(watched, s.Searcher.Index, metrics)
	parts := all.Parts{Store: s.Store, Blobs: s.Blobs, Previews: s.Previews, Memory: budget, Fetcher: fetcher, Links: links, Limits: limits, TrashFor: cfg.TrashFor, MaxFile: cfg.MaxFile, Roots: s.roots,
		Searcher: s.Searcher, Embedder: s.Embedder, Webhooks: cfg.Webhooks, Sender: sender, Sealer: sealer, CursorKey: cfg.SigningKey, WebP: func() bool { return s.exports.WebP() != nil }, IndexWait: cfg.IndexWait, AwaitWrite: cfg.shown(waiter),
		AwaitProspects: cfg.shown(indexer.NewWaiter(watched, s.Searcher.Prospects, metrics))}
	s.Pipelines = all.NewPipelines(parts)
	s.Pipelines.Log = cfg.Log
	s.Rules = s.newRules()
	parts.Pipelines, parts.Rules = s.Pipelines, s.Rules
	jobs.Handle(s.Jobs, s.runPipeline)
	jobs.HandleFor(s.Jobs, enrichLimit, s.enrich)
	s.Catalog = all.Catalog(parts)
	s.Streams = events.NewStreams(s.Store, events.StreamConfig{Catalog: s.Catalog, Again: keys.Authenticate}, figures)
	requests := api.NewMetrics(s.registry)
	s.Caller = &op.Caller{Limits: op.NewLimiter(cfg.rateBudgets()), Idempotency: s.Store.Idempotency, Tenants: limits, Observe: requests.Observe}
	registerDecoding(s.registry, budget)
	s.backups = newBackupMetrics(s.registry)
	s.scrubs, s.scrubber = newScrubMetrics(s.registry), newScrubber()
	s.registry.MustRegister(metrics, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	s.endpoint = mcp.Handler(mcp.Config{Catalog: s.Catalog, Caller: s.Caller, Auth: keys, Version: cfg.Version,
		PublicURL: cfg.PublicURL, AllowedOrigins: cfg.Origins, TrustHost: cfg.TrustHost, Log: cfg.Log})
	s.handler = api.Handler(api.Config{Catalog: s.Catalog, Caller: s.Caller, Auth: keys, Extra: slices.Concat(s.fileRoutes(), []api.ExtraRoute{s.eventRoute()}, s.prospectRoutes(), s.pipelineRoutes()), Version: cfg.Version,
		PublicURL: cfg.PublicURL, MCP: s.endpoint, Fallback: web.Handler(http.HandlerFunc(notFoundPage)), AllowedOrigins: cfg.Origins, Ready: s.Ready, Degraded: s.degraded, Gatherer: s.registry, Metrics: requests, Log: cfg.Log})
	return nil
}

// findFFmpeg returns the ffmpeg of the configuration, or nil where none works.
func (s *Service) findFFmpeg() *preview.FFmpeg {
	f, err := preview.FindFFmpeg(context.Background(), s.cfg.FFmpeg)
	if err != nil {
		s.log.Debug("videos have no previews: there is no ffmpeg that works", "error", err)
	}
	return f
}

// shown waits for writes with the indexer's waiter, as long as searches may wait.
func (c Config) shown(w *indexer.Waiter) indextoken.Shown {
	return func(ctx context.Context, tenant library.TenantID, versions []indexstate.DocumentVersion) bool {
		writes := make([]indexer.Write, len(versions))
		for i, v := range versions {
			writes[i] = indexer.Write{Key: v.Key, Version: v.Version}
		}
		return w.Await(ctx, tenant, writes, c.IndexWait)
	}
}

// rateBudgets returns the request budgets; tests and benchmarks lift them.
func (c Config) rateBudgets() map[op.RateClass]op.Budget {
	switch {
	case c.SearchPerMin == 0:
		return op.Budgets
	case c.SearchPerMin < 0:
		return map[op.RateClass]op.Budget{}
	}
	return map[op.RateClass]op.Budget{op.RateSearch: {Calls: c.SearchPerMin, Window: time.Minute}}
}

// notFoundPage answers for what is neither a route of the API nor a page.
func notFoundPage(w http.ResponseWriter, r *http.Request) {
	op.WriteProblem(w, r, library.NewError(library.KindNotFound, library.CodeNotFound, "Page not found. GET /openapi.json lists the routes; the gallery is at /."))
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
