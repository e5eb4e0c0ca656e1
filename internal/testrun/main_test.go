package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"vitrine/internal/randtest"
)

// try builds this program and lets it test a module of one file.
func try(t *testing.T, tests string) (out string, code int) {
	t.Helper()
	dir := t.TempDir()
	program := filepath.Join(dir, "testrun")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	module := filepath.Join(dir, "module")
	for name, text := range map[string]string{"go.mod": "module tried\n\ngo 1.26\n", "tried_test.go": "package tried\n\nimport \"testing\"\nimport \"syscall\"\nvar _ = syscall.Getenv\n" + tests} {
		if err := os.MkdirAll(module, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(module, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(program, "./...")
	cmd.Dir = module
	cmd.Env = append(os.Environ(), "GOFLAGS=")
	told, err := cmd.CombinedOutput()
	var ended *exec.ExitError
	if errors.As(err, &ended) {
		code = ended.ExitCode()
	} else if err != nil {
		t.Fatal(err)
	}
	return string(told), code
}

func TestTestrun_SkippedTestIsListedWithItsReasonAndFailsTheRun(t *testing.T) {
	out, code := try(t, `
func TestPasses(t *testing.T) { t.Log("quiet") }
func TestLacks(t *testing.T) { t.Run("part", func(t *testing.T) { t.Skip("no server here") }) }
`)
	if code != 1 || !strings.Contains(out, "ok  \ttried\t") || strings.Contains(out, "quiet") ||
		!strings.Contains(out, "Skipped tests, 1:\n  tried TestLacks/part: tried_test.go:8: no server here\n\n2 passed, 0 failed, 1 skipped\n1 tests were skipped") {
		t.Errorf("exit code %d\n%s", code, out)
	}
}

func TestTestrun_AbsentSampleFilesMayBeSkipped(t *testing.T) {
	out, code := try(t, `
func TestPasses(t *testing.T) {}
func TestLacks(t *testing.T) { t.Skip("the files of ../shared/corpus are absent") }
`)
	if code != 0 || !strings.HasSuffix(out, "\n1 passed, 0 failed, 1 skipped\n") {
		t.Errorf("exit code %d\n%s", code, out)
	}
}

func TestTestrun_SeedIsPrintedAndPassedOn(t *testing.T) {
	t.Setenv(randtest.SeedVariable, "4711")
	out, code := try(t, `
func TestSeed(t *testing.T) { if s, _ := syscall.Getenv("`+randtest.SeedVariable+`"); s != "4711" { t.Error("no seed") } }
`)
	if code != 0 || !strings.HasPrefix(out, "random tests: "+randtest.SeedVariable+"=4711 ") {
		t.Errorf("exit code %d\n%s", code, out)
	}
}

func TestTestrun_FailureIsShownAndFailsTheRun(t *testing.T) {
	out, code := try(t, `
func TestPasses(t *testing.T) { t.Log("quiet") }
func TestFails(t *testing.T) { t.Run("part", func(t *testing.T) { t.Error("not as promised") }) }
`)
	for _, want := range []string{"--- FAIL: TestFails", "--- FAIL: TestFails/part", "tried_test.go:8: not as promised", "FAIL\ttried\t"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q", want)
		}
	}
	if code != 1 || strings.Contains(out, "quiet") || strings.Contains(out, "Skipped tests") {
		t.Errorf("exit code %d\n%s", code, out)
	}
}

func TestTestrun_WhatDoesNotCompileIsShown(t *testing.T) {
	out, code := try(t, "func TestBroken(t *testing.T) { missing() }\n")
	if code != 1 || !strings.Contains(out, "undefined: missing") || !strings.Contains(out, "FAIL\ttried [build failed]") {
		t.Errorf("exit code %d\n%s", code, out)
	}
}

func TestTestrun_ProgramThatDiesIsShown(t *testing.T) {
	out, code := try(t, "func TestDies(t *testing.T) { go func() { panic(\"gone\") }(); select {} }\n")
	if code != 1 || !strings.Contains(out, "panic: gone") || !strings.Contains(out, "FAIL\ttried\t") {
		t.Errorf("exit code %d\n%s", code, out)
	}
}
