package bench

import (
	"bufio"
	"context"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// Setting is where and with what a run measured. What cannot be found out is empty.
type Setting struct {
	Date       string `json:"date"`
	Processor  string `json:"processor"`
	Processors int    `json:"processors"`
	MemoryGB   int    `json:"memory_gb"`
	System     string `json:"system"`
	Load       string `json:"load"` // of the last minute, at the start
	Go         string `json:"go"`
	Vitrine    string `json:"vitrine"`
	PostgreSQL string `json:"postgresql"`
	OpenSearch string `json:"opensearch"`
	Kafka      string `json:"kafka"`
	Count      int    `json:"count"`
	Natural    int    `json:"natural"`
	Edge       int    `json:"edge"`
	Seed       uint64 `json:"seed"`
}

func (e *env) setting(ctx context.Context) Setting {
	s := Setting{Date: time.Now().UTC().Format(time.DateOnly), Processor: colonValue("/proc/cpuinfo", "model name"), Processors: runtime.NumCPU(),
		System: runtime.GOOS + "/" + runtime.GOARCH, Go: runtime.Version(), Vitrine: e.cfg.Version, Kafka: e.Kafka,
		Count: e.Count, Natural: e.Natural, Edge: e.Edge, Seed: e.Seed}
	if kb, _, ok := strings.Cut(colonValue("/proc/meminfo", "MemTotal"), " "); ok {
		n, _ := strconv.Atoi(kb)
		s.MemoryGB = (n + 1<<19) >> 20
	}
	if raw, err := os.ReadFile("/proc/loadavg"); err == nil {
		s.Load, _, _ = strings.Cut(string(raw), " ")
	}
	if conn, err := pgx.Connect(ctx, e.cfg.PostgresURL); err == nil {
		_ = conn.QueryRow(ctx, "SHOW server_version").Scan(&s.PostgreSQL)
		_ = conn.Close(ctx)
	}
	var response struct {
		Version struct {
			Number string `json:"number"`
		} `json:"version"`
	}
	if e.index(ctx, http.MethodGet, "/", nil, &response) == nil {
		s.OpenSearch = response.Version.Number
	}
	return s
}

// colonValue returns the first value of a name in a file of "name : value" lines.
func colonValue(path, name string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if k, v, ok := strings.Cut(lines.Text(), ":"); ok && strings.TrimSpace(k) == name {
			return strings.TrimSpace(v)
		}
	}
	return ""
}
