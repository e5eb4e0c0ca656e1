//go:build failpoint

package failpoint

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Enabled reports whether this build has failpoints.
const Enabled = true

// plan is what VITRINE_FAILPOINTS asks for at one place.
type plan struct {
	pass   int // the pass that is meant, from 1; 0 means the default of the action
	action string
	delay  time.Duration
	path   string // of a file that says that the disk is full
}

var (
	mu     sync.Mutex
	passes = map[string]int{}
	plans  = mustParse(os.Getenv("VITRINE_FAILPOINTS"))
)

// Inject fails the way VITRINE_FAILPOINTS asks for at this place, or gives nil.
func Inject(name string) error {
	mu.Lock()
	p, planned := plans[name]
	passes[name]++
	n := passes[name]
	mu.Unlock()
	if !planned || !p.due(n) {
		return nil
	}
	fmt.Fprintln(os.Stderr, "failpoint: hit "+name)
	switch p.action {
	case "delay":
		time.Sleep(p.delay)
		return nil
	case "error":
		return fmt.Errorf("%w at %s", ErrInjected, name)
	case "full":
		if _, err := os.Stat(p.path); err != nil {
			return nil
		}
		return fmt.Errorf("%w at %s: %w", ErrInjected, name, syscall.ENOSPC)
	}
	os.Exit(137)
	return nil
}

// due reports whether the n-th pass is the one that is meant.
func (p plan) due(n int) bool {
	if p.pass == 0 {
		return p.action != "exit" || n == 1
	}
	return n == p.pass
}

// mustParse ends the process on a list it cannot read: an error test whose error
// is misspelt would pass for the wrong reason.
func mustParse(list string) map[string]plan {
	m, err := parse(list)
	if err != nil {
		fmt.Fprintln(os.Stderr, "VITRINE_FAILPOINTS:", err)
		os.Exit(2)
	}
	return m
}

func parse(list string) (map[string]plan, error) {
	m := map[string]plan{}
	for _, item := range strings.Split(list, ",") {
		if item = strings.TrimSpace(item); item == "" {
			continue
		}
		place, action, _ := strings.Cut(item, "=")
		name, pass, counted := strings.Cut(place, ":")
		if _, known := Names[name]; !known {
			return nil, fmt.Errorf("no failpoint is named %q", name)
		}
		p := plan{action: "exit"}
		var err error
		if counted {
			if p.pass, err = strconv.Atoi(pass); err != nil || p.pass < 1 {
				return nil, fmt.Errorf("%s: the pass must be a number from 1", name)
			}
		}
		switch kind, arg, _ := strings.Cut(action, ":"); kind {
		case "", "exit":
		case "error":
			p.action = "error"
		case "delay":
			if p.delay, err = time.ParseDuration(arg); err != nil {
				return nil, fmt.Errorf("%s: the delay must be a duration such as 500ms", name)
			}
			p.action = "delay"
		case "full":
			if p.action, p.path = "full", arg; arg == "" {
				return nil, fmt.Errorf("%s: full needs the path of a file", name)
			}
		default:
			return nil, fmt.Errorf("%s: the action must be exit, error, delay:DURATION or full:PATH", name)
		}
		m[name] = p
	}
	return m, nil
}
