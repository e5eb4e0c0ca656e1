// Package settings finds the servers that a command of an operator works on.
//
// In come flags and environment variables; out comes the configuration of the
// service, with the local stack's addresses where none were named. The struct tags
// are those of the command lines that embed the types; the package itself parses
// nothing.
package settings

import (
	"cmp"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/lmittmann/tint"
	"golang.org/x/term"

	"vitrine/embed"
	"vitrine/inplace"
	"vitrine/internal/stack"
	"vitrine/service"
)

// Servers are the flags that name the parts of a deployment.
type Servers struct {
	PostgresURL   string   `env:"VITRINE_POSTGRES_URL" help:"PostgreSQL 17 URL (libpq; TLS by sslmode, sslrootcert, sslcert and sslkey) of the role that owns the schema. Used only for migrations, backup and restore. Default: the local stack, as for Kafka and OpenSearch."`
	PostgresApp   string   `env:"VITRINE_POSTGRES_APP_URL" name:"postgres-app-url" help:"PostgreSQL URL of the role for requests, a member of vitrine_app and of nothing else. Default: vitrine_app on the same server, with a password derived from the owner's."`
	PostgresIndex string   `env:"VITRINE_POSTGRES_INDEXER_URL" name:"postgres-indexer-url" help:"PostgreSQL URL of the role for relay, indexer and reconciler, a member of vitrine_indexer."`
	KafkaBrokers  []string `env:"VITRINE_KAFKA_BROKERS" help:"Kafka 4 brokers as host:port, separated by commas."`
	OpensearchURL []string `env:"VITRINE_OPENSEARCH_URL" name:"opensearch-url" help:"OpenSearch 3 nodes (with the k-NN plugin) as URLs, separated by commas."`
	Security
	DataDir string `env:"VITRINE_DATA_DIR" default:".vitrine/data" help:"Folder for files and the URL signing key. Shared by all replicas."`
	Blobs   string `env:"VITRINE_BLOBS" help:"Where files are kept instead: a folder, or s3://bucket/prefix. Default: the folder blobs in VITRINE_DATA_DIR."`
	Buckets
	ImportRoots []string `env:"VITRINE_IMPORT_ROOTS" name:"import-roots" help:"Folders that may be imported in place, without copying: /path, name=/path, or name@tenant_id=/path for the folder of a tenant other than the oldest; separated by commas. Default: none."`
	FFmpeg      string   `env:"VITRINE_FFMPEG" name:"ffmpeg" help:"Program that reads frames of videos for their previews. Default: ffmpeg in PATH; without it videos have no previews."`
	Vips        string   `env:"VITRINE_VIPS" name:"vips" help:"Program of libvips that reads AVIF, HEIC and JPEG XL for their previews. Default: vipsthumbnail in PATH; without it they have none."`
	Chromium    string   `env:"VITRINE_CHROMIUM" name:"chromium" help:"Browser that draws PDF decks which ask for it. Default: Chromium or Chrome in PATH; none: never. Without it decks are drawn by the service itself."`
	Prefix      string   `env:"VITRINE_PREFIX" help:"Prefix for index and topic names, for deployments that share servers."`
	LogFormat   string   `env:"VITRINE_LOG_FORMAT" enum:"auto,text,json" default:"auto" help:"auto, text or json."`
	LogLevel    string   `env:"VITRINE_LOG_LEVEL" enum:"debug,info,warn,error" default:"info" help:"debug, info, warn or error."`
	Embedding
}

// Embedding are the flags of what turns texts into vectors.
type Embedding struct {
	EmbedDriver     string `env:"VITRINE_EMBED_DRIVER" enum:",none,builtin,openai" default:"" help:"Embedding backend: none, builtin (a model in this process) or openai (a server with an OpenAI-compatible API). Default: builtin with the local stack's model if it is installed, else none."`
	EmbedModelDir   string `env:"VITRINE_EMBED_MODEL_DIR" help:"builtin: folder of a BERT embedding model with model.safetensors, vocab.txt and config.json."`
	EmbedURL        string `env:"VITRINE_EMBED_URL" name:"embed-url" help:"openai: base URL of the API with its version, such as http://localhost:11434/v1."`
	EmbedKey        string `env:"VITRINE_EMBED_KEY" help:"openai: API key. Set it in the environment rather than on the command line."`
	EmbedModel      string `env:"VITRINE_EMBED_MODEL" help:"openai: name of the model."`
	EmbedDimensions int    `env:"VITRINE_EMBED_DIMENSIONS" help:"openai: dimension of the model's vectors."`
}

// Config returns the flags as package embed takes them.
func (e Embedding) Config() embed.Config {
	return embed.Config{Driver: e.EmbedDriver, Dir: e.EmbedModelDir, URL: e.EmbedURL, Key: e.EmbedKey, Model: e.EmbedModel, Dimensions: e.EmbedDimensions}
}

// Config returns the configuration of a service of this version. Addresses that were
// left out are those of the local stack of the current folder; without a running
// one it fails.
func (s Servers) Config(version string) (service.Config, error) {
	cfg := service.Config{PostgresURL: s.PostgresURL, PostgresAppURL: s.PostgresApp, PostgresIndexerURL: s.PostgresIndex, Brokers: s.KafkaBrokers, OpenSearchURL: s.OpensearchURL,
		DataDir: s.DataDir, Blobs: s.Blobs, FFmpeg: s.FFmpeg, Vips: s.Vips, Chromium: s.Chromium, Prefix: s.Prefix, Version: version, Log: s.Logger(), Embed: s.Embedding.Config()}
	var err error
	if cfg.KafkaSecurity, cfg.OpenSearchSecurity, err = s.Security.read(); err != nil {
		return cfg, err
	}
	if cfg.ImportRoots, err = inplace.ParseRoots(s.ImportRoots); err != nil {
		return cfg, fmt.Errorf("VITRINE_IMPORT_ROOTS: %w", err)
	}
	if cfg.S3, err = s.Buckets.Access(); err != nil {
		return cfg, err
	}
	database := cfg.PostgresURL != "" || cfg.PostgresAppURL != "" && cfg.PostgresIndexerURL != ""
	if database && len(cfg.Brokers) > 0 && len(cfg.OpenSearchURL) > 0 {
		return cfg, nil
	}
	local, err := LocalStack()
	if err != nil {
		return cfg, err
	}
	running, err := stack.Running(local.Dir)
	if err != nil {
		return cfg, fmt.Errorf("no servers are named (VITRINE_POSTGRES_URL, VITRINE_KAFKA_BROKERS, VITRINE_OPENSEARCH_URL) and none run here; start them with: vitrine stack up")
	}
	if dir, ok := stack.HasModel(local); ok && cfg.Embed.Driver == "" {
		cfg.Embed.Driver, cfg.Embed.Dir = embed.Builtin, cmp.Or(cfg.Embed.Dir, dir)
	}
	if !database {
		cfg.PostgresURL = running.PostgresURL
	}
	if len(cfg.Brokers) == 0 {
		cfg.Brokers = running.KafkaBrokers
	}
	if len(cfg.OpenSearchURL) == 0 {
		cfg.OpenSearchURL = []string{running.OpenSearchURL}
	}
	return cfg, nil
}

// LocalStack returns the configuration of the local stack of the current folder.
func LocalStack() (stack.Config, error) {
	dir, err := os.Getwd()
	if err != nil {
		return stack.Config{}, err
	}
	return stack.FromEnv(dir)
}

// Logger returns the logger that the flags ask for: JSON, or text that people read.
func (s Servers) Logger() *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(s.LogLevel)) // kong has checked it
	if s.LogFormat == "json" || s.LogFormat == "auto" && !term.IsTerminal(int(os.Stderr.Fd())) {
		return slog.New(slog.NewJSONHandler(os.Stderr, &slog.HandlerOptions{Level: level}))
	}
	return slog.New(tint.NewTextHandler(os.Stderr, &tint.Options{Level: level, TimeFormat: time.TimeOnly, NoColor: !term.IsTerminal(int(os.Stderr.Fd()))}))
}
