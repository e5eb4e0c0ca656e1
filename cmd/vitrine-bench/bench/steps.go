package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/pprof"
)

// step is one part of a benchmark. Its name is that of its CPU profile.
type step struct {
	name    string
	measure func(context.Context) ([]Figure, error)
}

// one makes a step of what returns a single figure.
func one(name string, measure func(context.Context) (Figure, error)) step {
	return step{name, func(ctx context.Context) ([]Figure, error) {
		f, err := measure(ctx)
		return []Figure{f}, err
	}}
}

// measureAll runs steps in order and returns all their figures. It keeps a CPU profile of each in
// the folder profile, where one is named.
func measureAll(ctx context.Context, profile string, steps ...step) (all []Figure, err error) {
	for _, s := range steps {
		figures, err := profiled(profile, s.name, func() ([]Figure, error) { return s.measure(ctx) })
		if err != nil {
			return all, fmt.Errorf("measuring %s: %w", s.name, err)
		}
		all = append(all, figures...)
	}
	return all, nil
}

// profiled runs a step under the CPU profiler when a folder is named for it.
func profiled(dir, name string, measure func() ([]Figure, error)) (figures []Figure, err error) {
	if dir == "" {
		return measure()
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	f, err := os.Create(filepath.Join(dir, name+".pprof"))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, err
	}
	defer pprof.StopCPUProfile()
	return measure()
}
