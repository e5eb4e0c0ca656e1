// Package nodetest runs programs of Node.js in tests, with libraries that internal/tools
// lists: clients that we did not write, and the counting of tokens.
package nodetest

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vitrine/internal/testenv"
)

// within bounds how long a program may run.
const within = 3 * time.Minute

// Run runs an ES module with the libraries of a tool, such as mcp-client-typescript, and
// returns what it writes to standard output. env is added to the environment. A program
// that fails ends the test with what it wrote to standard error.
func Run(t testing.TB, tool string, program, stdin []byte, env ...string) []byte {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "program.mjs"), program, 0o600); err != nil {
		t.Fatal(err)
	}
	// Node.js looks for libraries beside the program.
	if err := os.Symlink(testenv.Tool(t, tool), filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	cmd := exec.CommandContext(ctx, testenv.Tool(t, "node"), "program.mjs")
	cmd.Dir, cmd.Env, cmd.Stdin = dir, append(os.Environ(), env...), bytes.NewReader(stdin)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		message := stderr.String()
		t.Fatalf("the program ended with %v:\n%s", err, message[max(0, len(message)-4000):])
	}
	return out
}

//go:embed tokens.mjs
var tokensProgram []byte

// Tokens returns how many tokens each text takes in the context of current models
// (o200k), under the same names.
func Tokens(t testing.TB, texts map[string]string) map[string]int {
	t.Helper()
	in, err := json.Marshal(texts)
	if err != nil {
		t.Fatal(err)
	}
	var counts map[string]int
	if err := json.Unmarshal(Run(t, "tiktoken", tokensProgram, in), &counts); err != nil {
		t.Fatal(err)
	}
	if len(counts) != len(texts) {
		t.Fatalf("%d texts were counted, not %d", len(counts), len(texts))
	}
	return counts
}
