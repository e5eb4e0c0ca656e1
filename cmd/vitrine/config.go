package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/lmittmann/tint"
	"golang.org/x/term"

	"vitrine/api/client"
	"vitrine/embed"
	"vitrine/internal/stack"
	"vitrine/library"
	"vitrine/service"
)

// servers is how operators' commands find the parts of the product.
type servers struct {
	PostgresURL   string   `env:"VITRINE_POSTGRES_URL" help:"PostgreSQL 17, as a libpq URL. The local stack's when left out, as with Kafka and OpenSearch."`
	KafkaBrokers  []string `env:"VITRINE_KAFKA_BROKERS" help:"Kafka 4 brokers, as host:port, separated by commas."`
	OpensearchURL []string `env:"VITRINE_OPENSEARCH_URL" name:"opensearch-url" help:"OpenSearch 3 nodes with k-NN, as URLs, separated by commas."`
	DataDir       string   `env:"VITRINE_DATA_DIR" default:".vitrine/data" help:"Folder for files and the key that links are signed with; replicas share it."`
	Prefix        string   `env:"VITRINE_PREFIX" help:"Stands before every index and topic, for deployments that share servers."`
	LogFormat     string   `env:"VITRINE_LOG_FORMAT" enum:"auto,text,json" default:"auto" help:"auto, text or json."`
	LogLevel      string   `env:"VITRINE_LOG_LEVEL" enum:"debug,info,warn,error" default:"info" help:"debug, info, warn or error."`
	embedding
}

// embedding is what turns texts into vectors.
type embedding struct {
	EmbedDriver     string `env:"VITRINE_EMBED_DRIVER" enum:",none,builtin,onnx,openai" default:"" help:"What gives texts their meaning: none, builtin (a model in this process), onnx (the same model in ONNX Runtime, where the program was built with it) or openai (a server that speaks its protocol). When left out: builtin with the local stack's model where both are there, else none."`
	EmbedModelDir   string `env:"VITRINE_EMBED_MODEL_DIR" help:"builtin, onnx: folder of a BERT sentence model, with model.safetensors, vocab.txt and config.json."`
	EmbedRuntime    string `env:"VITRINE_EMBED_RUNTIME" help:"onnx: path of libonnxruntime.so, 1.17 or newer."`
	EmbedURL        string `env:"VITRINE_EMBED_URL" name:"embed-url" help:"openai: address of the API with its version, such as http://localhost:11434/v1."`
	EmbedKey        string `env:"VITRINE_EMBED_KEY" help:"openai: API key; better given by the environment than on the command line."`
	EmbedModel      string `env:"VITRINE_EMBED_MODEL" help:"openai: name of the model."`
	EmbedDimensions int    `env:"VITRINE_EMBED_DIMENSIONS" help:"openai: length of the model's vectors."`
}

func (e embedding) config() embed.Config {
	return embed.Config{Driver: e.EmbedDriver, Dir: e.EmbedModelDir, Runtime: e.EmbedRuntime, URL: e.EmbedURL, Key: e.EmbedKey, Model: e.EmbedModel, Dimensions: e.EmbedDimensions}
}

// config fills what was left out with the local stack's addresses.
func (s servers) config() (service.Config, error) {
	cfg := service.Config{PostgresURL: s.PostgresURL, Brokers: s.KafkaBrokers, OpenSearchURL: s.OpensearchURL,
		DataDir: s.DataDir, Prefix: s.Prefix, Version: version, Log: s.logger(), Embed: s.embedding.config()}
	if cfg.PostgresURL != "" && len(cfg.Brokers) > 0 && len(cfg.OpenSearchURL) > 0 {
		return cfg, nil
	}
	local, err := localStack()
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
	if cfg.PostgresURL == "" {
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

// localStack is the stack of the folder the command is called in.
func localStack() (stack.Config, error) {
	dir, err := os.Getwd()
	if err != nil {
		return stack.Config{}, err
	}
	return stack.FromEnv(dir)
}

func (s servers) logger() *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(s.LogLevel)) // kong has checked it
	if s.LogFormat == "json" || s.LogFormat == "auto" && !term.IsTerminal(int(os.Stderr.Fd())) {
		return slog.New(slog.NewJSONHandler(os.Stderr, &slog.HandlerOptions{Level: level}))
	}
	return slog.New(tint.NewTextHandler(os.Stderr, &tint.Options{Level: level, TimeFormat: time.TimeOnly, NoColor: !term.IsTerminal(int(os.Stderr.Fd()))}))
}

// remote is how users' commands find a running service.
type remote struct {
	Server string `env:"VITRINE_URL" help:"Address of the service. The one of the last vitrine demo in this folder when left out."`
	Key    string `env:"VITRINE_API_KEY" help:"API key; better given by the environment than on the command line."`
}

// profile is what a demo leaves for the commands that follow it in its folder.
type profile struct {
	Server string           `json:"server"`
	Key    string           `json:"key"`
	Tenant library.TenantID `json:"tenant"`
}

// profilePath is where the profile lies, readable by its owner only.
const profilePath = ".vitrine/client.json"

func readProfile() (p profile, err error) {
	raw, err := os.ReadFile(profilePath)
	if err != nil {
		return p, err
	}
	return p, json.Unmarshal(raw, &p)
}

func (p profile) write() error {
	raw, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(profilePath), 0o700); err != nil {
		return err
	}
	return os.WriteFile(profilePath, append(raw, '\n'), 0o600)
}

func (r remote) client() (*client.Client, error) {
	p, _ := readProfile() // a missing one leaves both empty
	if r.Server == "" {
		r.Server = p.Server
	}
	if r.Server == "" {
		r.Server = "http://" + service.DefaultListen
	}
	if r.Key == "" && r.Server == p.Server {
		r.Key = p.Key
	}
	if r.Key == "" {
		return nil, errors.New("an API key is needed: make one with vitrine keys create, and give it as VITRINE_API_KEY")
	}
	return &client.Client{Base: strings.TrimRight(r.Server, "/"), Key: r.Key}, nil
}

// describe gives an error in the words a user needs.
func describe(err error) string {
	var f *library.Fault
	if !errors.As(err, &f) {
		return err.Error()
	}
	var b strings.Builder
	b.WriteString(f.Detail)
	for _, x := range f.Fields {
		fmt.Fprintf(&b, "\n  %s: %s %s", x.Field, x.Message, x.Hint)
	}
	if f.Cause != nil {
		fmt.Fprintf(&b, " (%v)", f.Cause)
	}
	return b.String()
}
