package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"strings"

	"vitrine/internal/settings"
	"vitrine/internal/stack"
	"vitrine/service"
)

// servers is how the commands find what they measure.
type servers struct{ settings.Servers }

func (s *servers) config() (service.Config, error) { return s.Config(version) }

// measured is what every measurement does with its outcome.
type measured struct {
	Seed  uint64 `default:"1" help:"Random seed."`
	Write string `type:"path" placeholder:"FILE" help:"Also write the report as a page. Text added by hand is kept."`
	JSON  bool   `name:"json" help:"Print the report as JSON."`
	Check bool   `help:"Exit with an error if a result misses its target."`
}

// tell writes and prints a report; page makes its page of the command that wrote
// it and the page as it is.
func (m *measured) tell(report interface {
	Print(io.Writer) error
	Met() bool
}, command string, page func(command, before string) string,
) error {
	if m.Write != "" {
		before, err := os.ReadFile(m.Write)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := os.WriteFile(m.Write, []byte(page(command, string(before))), 0o644); err != nil {
			return err
		}
	}
	if err := m.print(report.Print, report); err != nil {
		return err
	}
	if m.Check && !report.Met() {
		return errMissed
	}
	return nil
}

func (m *measured) print(table func(io.Writer) error, report any) error {
	if !m.JSON {
		return table(os.Stdout)
	}
	e := json.NewEncoder(os.Stdout)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(report)
}

// again writes the call that measures the same: the flags that are not as usual.
func again(command string, flags ...string) string {
	return strings.Join(append([]string{command}, slices.DeleteFunc(flags, func(f string) bool { return f == "" })...), " ")
}

// flag returns a flag with its value, or "" where that is the usual one.
func flag[T comparable](name string, value, usual T) string {
	if value == usual {
		return ""
	}
	return fmt.Sprintf("--%s %v", name, value)
}

// quieten leaves out what the measured service says all the time: it would drown
// the steps.
func (s *servers) quieten(cfg *service.Config) {
	if s.LogLevel == "info" {
		cfg.Log = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	}
}

// kafkaVersion is known of the local stack only: Kafka itself does not tell.
func (s *servers) kafkaVersion() string {
	if len(s.KafkaBrokers) == 0 {
		return stack.KafkaVersion
	}
	return ""
}
