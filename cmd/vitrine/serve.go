package main

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"

	"vitrine/automation/webhook"
	"vitrine/internal/settings"
	"vitrine/library"
	urlfetch "vitrine/media/fetch"
	"vitrine/service"
	"vitrine/store"
)

type serveCommand struct {
	servers
	Listen      string         `env:"VITRINE_LISTEN" default:"127.0.0.1:7788" help:"Address to listen on."`
	PublicURL   string         `env:"VITRINE_PUBLIC_URL" name:"public-url" help:"Public URL of the service, used in links. Default: http:// and the listen address."`
	TrustHost   bool           `env:"VITRINE_TRUST_HOST" help:"A reverse proxy on this machine keeps the original Host header and sets X-Forwarded-For."`
	Origins     []string       `env:"VITRINE_ALLOWED_ORIGINS" name:"allowed-origins" help:"Origins of web pages that may call the API."`
	Role        []service.Role `env:"VITRINE_ROLES" help:"Roles to run: api, relay, index, work. Default: all."`
	NoMigrate   bool           `env:"VITRINE_NO_MIGRATE" help:"Do not migrate the database schema at startup."`
	SearchRate  int            `env:"VITRINE_SEARCHES_PER_MINUTE" default:"120" help:"Rate limit of searches per minute and key; negative for no limit."`
	DecodeMB    int64          `env:"VITRINE_DECODE_MEMORY" name:"decode-memory" default:"160" help:"Memory for decoding images, in megabytes. An image that needs more, up to 595 MB, is decoded alone."`
	FetchHosts  []string       `env:"MCP_URL_INGEST_ALLOWLIST" name:"url-ingest-allowlist" help:"Hosts that StoreAsset fetches files from by asset_data_url, besides the built-in ones: media.example.com, or *.example.com for every host below it; separated by commas."`
	FetchBytes  int64          `env:"MCP_URL_INGEST_MAX_BYTES" name:"url-ingest-max-bytes" default:"104857600" help:"Maximum size of a file fetched from a URL, in bytes."`
	WebhookNets []string       `env:"VITRINE_WEBHOOK_ALLOW_PRIVATE" name:"webhook-allow-private" help:"Networks in CIDR notation that webhooks may be sent to although they are not public, such as 10.1.0.0/16; separated by commas."`
	WebhookCA   string         `env:"VITRINE_WEBHOOK_CA_FILE" name:"webhook-ca-file" help:"File of certificate authorities, in PEM, that endpoints of webhooks are trusted by besides those of the system."`
	ScrubMB     int64          `env:"VITRINE_SCRUB_RATE" name:"scrub-rate" default:"5" help:"Megabytes per second that the background check of files reads; 0 turns the check off."`
	ScrubEvery  time.Duration  `env:"VITRINE_SCRUB_EVERY" name:"scrub-every" default:"168h" help:"Time between the beginnings of two checks of all files."`
	Direct      time.Duration  `env:"VITRINE_DIRECT_DOWNLOADS" name:"direct-downloads" default:"0" help:"Answer downloads with a link to the S3 bucket itself, valid for this long, at most 5m. Such a link cannot be revoked. 0: the service serves the bytes."`
	KeepDays    int            `env:"VITRINE_JOURNAL_DAYS" name:"journal-days" default:"90" help:"Days for which operations can be listed and undone; 0 for ever."`
	TrashDays   int            `env:"VITRINE_TRASH_DAYS" name:"trash-days" default:"30" help:"Days after which assets in the trash are purged; 0 for never."`
	Watch       []string       `env:"VITRINE_WATCH" help:"Folders of VITRINE_IMPORT_ROOTS to import and watch from the start: root or root/folder; separated by commas."`
	Rescan      time.Duration  `env:"VITRINE_RESCAN_EVERY" name:"rescan-every" default:"5m" help:"Time between two looks through a whole watched folder, for what the system tells of no event."`
	SearchLimit time.Duration  `env:"VITRINE_SEARCH_LIMIT" name:"search-limit" default:"2s" help:"Time after which a search is stopped, at most 20s. A slow machine may need more."`
	IndexWait   time.Duration  `env:"VITRINE_INDEX_WAIT" name:"index-wait" default:"2s" help:"Time that a search waits for the write whose index_token it is given, at most 20s."`
	settings.Backups
	AuditMonths int `env:"VITRINE_AUDIT_MONTHS" default:"0" help:"Months for which the audit trail is kept, beside the current one; 0 for ever."`
}

// Run serves until it is told to stop. While the database or S3 is not there yet, it
// waits for it: processes may start in any order.
func (c *serveCommand) Run(ctx context.Context) error {
	cfg, err := c.config()
	if err != nil {
		return err
	}
	cfg.Listen, cfg.PublicURL, cfg.TrustHost, cfg.Origins, cfg.SearchPerMin = c.Listen, c.PublicURL, c.TrustHost, c.Origins, c.SearchRate
	cfg.ScrubRate, cfg.ScrubEvery = c.ScrubMB<<20, c.ScrubEvery
	if c.ScrubMB <= 0 {
		cfg.ScrubRate = -1
	}
	cfg.Fetch = urlfetch.Config{Allow: c.FetchHosts, MaxBytes: max(c.FetchBytes, 0)}
	if cfg.Webhooks, err = c.webhooks(); err != nil {
		return err
	}
	cfg.DirectDownloads = c.Direct
	cfg.Watch, cfg.Rescan, cfg.IndexWait, cfg.SearchLimit = c.Watch, c.Rescan, c.IndexWait, c.SearchLimit
	if cfg.Backups, err = c.Backups.Config(); err != nil {
		return err
	}
	cfg.DecodeMemory = c.DecodeMB << 20
	cfg.TrashFor = time.Duration(max(c.TrashDays, 0)) * 24 * time.Hour
	cfg.Retention = store.Retention{Journal: time.Duration(max(c.KeepDays, 0)) * 24 * time.Hour, AuditMonths: max(c.AuditMonths, 0)}
	roles := c.Role
	if len(roles) == 0 {
		roles = service.Roles
	}
	cfg.NoFiles = !service.NeedFiles(roles)
	s, err := untilUp(ctx, func() (*service.Service, error) {
		if !c.NoMigrate && cfg.PostgresURL != "" {
			if _, err := store.Migrate(ctx, cfg.Database()); err != nil {
				return nil, err
			}
		}
		return openCurrent(ctx, cfg)
	}, func(err error) { cfg.Log.Warn("waiting for the database or the storage for files", "error", err) })
	if err != nil {
		return err
	}
	defer s.Close()
	if _, err := s.Store.Tenants.EnsureDefault(ctx, operator); err != nil {
		return err
	}
	return s.Run(ctx, roles, func(a net.Addr) { cfg.Log.Info("listening", "address", a.String()) })
}

// webhooks reads which endpoints can be reached.
func (c *serveCommand) webhooks() (cfg webhook.Config, err error) {
	for _, text := range c.WebhookNets {
		p, err := netip.ParsePrefix(strings.TrimSpace(text))
		if err != nil {
			return cfg, fmt.Errorf("VITRINE_WEBHOOK_ALLOW_PRIVATE: %q is not a network such as 10.1.0.0/16", text)
		}
		cfg.AllowPrivate = append(cfg.AllowPrivate, p.Masked())
	}
	if c.WebhookCA == "" {
		return cfg, nil
	}
	pem, err := os.ReadFile(c.WebhookCA)
	if err != nil {
		return cfg, fmt.Errorf("VITRINE_WEBHOOK_CA_FILE: %w", err)
	}
	if cfg.RootCAs, err = x509.SystemCertPool(); err != nil {
		return cfg, err
	}
	if !cfg.RootCAs.AppendCertsFromPEM(pem) {
		return cfg, fmt.Errorf("VITRINE_WEBHOOK_CA_FILE: %s holds no certificate in PEM", c.WebhookCA)
	}
	return cfg, nil
}

// untilUp tries again while the database does not answer, up to two minutes.
func untilUp[T any](ctx context.Context, try func() (T, error), waiting func(error)) (T, error) {
	pause := backoff.NewExponentialBackOff()
	pause.MaxInterval = 3 * time.Second
	return backoff.Retry(ctx, func() (T, error) {
		v, err := try()
		if err == nil || library.AsError(err).Kind == library.KindUnavailable {
			return v, err
		}
		return v, backoff.Permanent(err)
	}, backoff.WithBackOff(pause), backoff.WithMaxElapsedTime(2*time.Minute), backoff.WithNotify(func(err error, _ time.Duration) { waiting(err) }))
}

// operator is who acts when a command goes to the database directly.
var operator = library.Actor{Kind: library.ActorSystem, ID: "command-line", Name: "command line"}

type migrateCommand struct{ servers }

func (c *migrateCommand) Run(ctx context.Context) error {
	cfg, err := c.config()
	if err != nil {
		return err
	}
	if cfg.PostgresURL == "" {
		return errors.New("migrating needs the login of the schema's owner in VITRINE_POSTGRES_URL")
	}
	steps, err := store.Repair(ctx, cfg.Database())
	if err != nil {
		return err
	}
	if steps == 0 {
		fmt.Println("The schema is up to date.")
		return nil
	}
	fmt.Printf("The schema is up to date after %d migration(s).\n", steps)
	return nil
}

// open builds the product for a command that works on it directly and needs no files.
func (s servers) open(ctx context.Context) (*service.Service, error) {
	cfg, err := s.config()
	if err != nil {
		return nil, err
	}
	cfg.NoFiles = true
	return openCurrent(ctx, cfg)
}

// openWithFiles is open for commands that work on the files too.
func (s servers) openWithFiles(ctx context.Context) (*service.Service, error) {
	cfg, err := s.config()
	if err != nil {
		return nil, err
	}
	return openCurrent(ctx, cfg)
}

// openCurrent builds the product on a database whose schema is current.
func openCurrent(ctx context.Context, cfg service.Config) (*service.Service, error) {
	if err := checkSchema(ctx, cfg); err != nil {
		return nil, err
	}
	return service.Open(ctx, cfg)
}

func checkSchema(ctx context.Context, cfg service.Config) error {
	behind, err := store.SchemaBehind(ctx, cfg.Database())
	if err == nil && behind > 0 {
		err = fmt.Errorf("the database schema lacks %d migration(s); run vitrine migrate, with the owner's login in VITRINE_POSTGRES_URL", behind)
	}
	return err
}

// warn prints a warning for the operator on the error output.
func warn(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }
