//go:build !linux

package e2e

import "errors"

func mountSmall(string, int) error { return errors.New("only Linux has tmpfs") }

func unmountSmall(string) error { return nil }
