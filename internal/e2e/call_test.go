package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"vitrine/internal/testenv"
	"vitrine/library"
	"vitrine/op"
	"vitrine/op/all"
)

// run runs the binary as a user of a world's service, and returns what it printed
// and its exit status.
func (w world) run(stdin []byte, args ...string) (stdout, stderr string, status int) {
	w.T.Helper()
	cmd := exec.CommandContext(w.T.Context(), failpointBinary(w.T.(*testing.T)), args...)
	cmd.Dir = w.T.TempDir() // without the profile of a demo
	cmd.Env = append(os.Environ(), "VITRINE_URL="+w.URL, "VITRINE_API_KEY="+w.Key)
	cmd.Stdin = bytes.NewReader(stdin)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exited *exec.ExitError
	if err != nil && !errors.As(err, &exited) {
		w.T.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// TestCall_RunsEveryOperation calls every operation on the command line, with its
// arguments by name, and holds the response against the output schema; then again
// as text.
func TestCall_RunsEveryOperation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for o, args := range w.examples(all.DocumentedCatalog().Operations) {
		words := []string{"call", o.Name}
		for name, v := range args {
			encoded, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			text := string(encoded)
			if s, ok := v.(string); ok {
				text = s
			}
			words = append(words, "--"+strings.ReplaceAll(name, "_", "-")+"="+text)
		}
		w.callBothWays(o, words)
	}
}

func (w world) callBothWays(o op.Operation, words []string) {
	w.T.Helper()
	out, errs, status := w.run(nil, append(words, "--output", "json")...)
	if status != 0 || errs != "" {
		w.T.Errorf("%q ends with %d: %s", words, status, errs)
		return
	}
	for _, f := range o.CheckOutput([]byte(out)) {
		w.T.Errorf("%s: %s %s", o.Name, f.Field, f.Message)
	}
	out, errs, status = w.run(nil, words...)
	for _, verb := range []string{"Delete", "Create", "Add", "Branch", "Undo", "Confirm", "Save", "Erase", "Unlink"} {
		if strings.HasPrefix(o.Name, verb) {
			return // it cannot be done twice
		}
	}
	if status != 0 || len(out) < 5 || strings.HasPrefix(out, "{") {
		w.T.Errorf("%q as text ends with %d: %s%s", words, status, out, errs)
	}
}

func TestCall_FilesStandardInputAndExitStatuses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	file := filepath.Join(t.TempDir(), "owl.png")
	if err := os.WriteFile(file, picture(77, "an owl"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, errs, status := w.run(nil, "call", "StoreAsset", "--filename", "owl.png", "--mime-type", "image/png", "--asset-data-base64", "@"+file, "--output=json")
	var stored struct {
		Asset struct {
			Hash string `json:"asset_h"`
		} `json:"asset"`
	}
	if err := json.Unmarshal([]byte(out), &stored); err != nil || status != 0 || stored.Asset.Hash == "" {
		t.Fatalf("%d %s %s", status, out, errs)
	}
	if out, errs, status := w.run([]byte(`{"title":"An owl"}`), "call", "update-asset", "--asset-h", stored.Asset.Hash, "--json", "-"); status != 0 || !strings.Contains(out, "An owl") {
		t.Errorf("%d %s %s", status, out, errs)
	}
	reader := w.NewKey(w.Tenant, library.PermRead)
	for _, c := range []struct {
		words  []string
		status int
		said   string
	}{
		{[]string{"call", "SearchAsets"}, 2, "Did you mean SearchAssets?"},
		{[]string{"call", "SearchAssets", "--qery", "x"}, 2, "Did you mean --query?"},
		{[]string{"call", "SearchAssets", "--cursor", "nonsense"}, 2, "cursor"},
		{[]string{"call", "UpdateAsset", "--asset_h", stored.Asset.Hash, "--title", "x", "--key", reader}, 3, "PERMISSION_REQUIRED"},
		{[]string{"call", "--key", "napi_x", "SearchAssets"}, 3, "UNAUTHENTICATED"},
		{[]string{"call", "GetAssetDetails", "--asset_h", strings.Repeat("0", 40)}, 4, "NOT_FOUND"},
		{[]string{"call", "SearchAssets", "--server", "http://127.0.0.1:1"}, 1, "no service responds"},
	} {
		out, errs, status := w.run(nil, c.words...)
		if status != c.status || out != "" || !strings.Contains(errs, c.said) {
			t.Errorf("%q ends with %d, want %d and %q: %s%s", c.words, status, c.status, c.said, out, errs)
		}
	}
	_, errs, status = w.run(nil, "call", "SearchAssets", "--limit", "1000", "--output", "json")
	var problem struct {
		Code   string
		Errors []struct{ Field string }
	}
	if err := json.Unmarshal([]byte(errs), &problem); err != nil || status != 2 || problem.Code != library.CodeValidationFailed || len(problem.Errors) != 1 || problem.Errors[0].Field != "limit" {
		t.Errorf("%d %s: %v", status, errs, err)
	}
	if out, _, status := w.run(nil, "call", "StoreAsset", "--help"); status != 0 || !strings.Contains(out, "--filename  string") {
		t.Errorf("%d %s", status, out)
	}
}

// TestCompletion_WorksInEveryShell types in bash, zsh and fish.
func TestCompletion_WorksInEveryShell(t *testing.T) {
	t.Parallel()
	bin := failpointBinary(t)
	dir := t.TempDir()
	if err := os.Symlink(bin, filepath.Join(dir, "vitrine")); err != nil {
		t.Fatal(err)
	}
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]string{"vitrine call Sea": "SearchAssets SearchContacts SearchModels SearchPrompts SearchProspects", "vitrine call SearchAssets --search_mode f": "fulltext fuzzy",
		"vitrine recon": "reconcile", "vitrine completion z": "zsh", "vitrine call SearchAssets --filters.st": "--filters.status"}
	for shell, c := range map[string]struct{ program, script string }{
		"bash": {bash, `source <(vitrine completion bash); words=($LINE); COMP_WORDS=("${words[@]}"); COMP_CWORD=$((${#words[@]}-1)); _vitrine; printf '%s\n' "${COMPREPLY[@]}"`},
		"fish": {testenv.Tool(t, "fish"), `vitrine completion fish | source; complete -C "$LINE" | string split -f 1 \t; true`},
		// A pseudo terminal, into which the line and a tab are typed.
		"zsh": {testenv.Tool(t, "zsh"), `zmodload zsh/zpty; zpty z "zsh -f -i"; zpty -w z 'PS1=""; autoload -Uz compinit; compinit -u -D; source <(vitrine completion zsh); zstyle ":completion:*" list-grouped false
comppostfuncs=(report); report() { compstate[insert]=""; compstate[list]=""; }; compadd() { local -a out; builtin compadd -O out "$@"; (( $#out )) && print -rl -- "got:"$^out > '$OUT'; builtin compadd "$@" }; print ready > '$OUT.ready
while [[ ! -e $OUT.ready ]]; do sleep 0.1; done; zpty -w -n z "$LINE"$'\t'; for i in {1..100}; do [[ -s $OUT ]] && break; sleep 0.1; done; zpty -d z; sed -n 's/^got://p' $OUT`},
	} {
		for line, want := range cases {
			cmd := exec.CommandContext(t.Context(), c.program, "-c", c.script)
			cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "LINE="+line, "OUT="+filepath.Join(t.TempDir(), "out"), "HOME="+dir)
			out, err := cmd.CombinedOutput()
			words := strings.Fields(string(out))
			if err != nil || !sameWords(words, strings.Fields(want)) {
				t.Errorf("%s completes %q by %q (%v), want %q", shell, line, words, err, want)
			}
		}
	}
}

// sameWords compares without regard to order.
func sameWords(a, b []string) bool {
	seen := map[string]bool{}
	for _, w := range a {
		seen[w] = true
	}
	for _, w := range b {
		if !seen[w] {
			return false
		}
		delete(seen, w)
	}
	return len(seen) == 0
}
