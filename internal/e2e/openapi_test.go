package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"vitrine/internal/randtest"
	"vitrine/internal/testenv"
	"vitrine/service"
	"vitrine/service/servicetest"
)

// In make test, three cases are made per operation and phase, always the same, and not in
// the phases of boundary values, which has some 90 cases per operation and takes minutes,
// and of chains, whose cases follow from what the service answers.
const (
	usualExamples = "3"
	usualPhases   = "examples,fuzzing"
	allPhases     = usualPhases + ",coverage,stateful"
)

var generated = regexp.MustCompile(`(\d+) generated`)

// TestOpenAPI_SchemathesisFindsNoFault makes requests of the OpenAPI document, right and
// wrong ones and chains of them, and holds every answer against it, with all checks of
// schemathesis. VITRINE_OPENAPI_EXAMPLES sets how many are made per operation and phase.
func TestOpenAPI_SchemathesisFindsNoFault(t *testing.T) {
	t.Parallel()
	w := worldOf(servicetest.Start(t, servicetest.Options{Adjust: func(c *service.Config) { c.TrustHost = true }}))
	examples := os.Getenv("VITRINE_OPENAPI_EXAMPLES")
	if examples == "" {
		examples = usualExamples
	}
	// A fresh seed finds what nobody has looked for, which is for the long run: the fixed one
	// tells whether a change broke something.
	seeds, phases, least := randtest.Seeds(t), allPhases, 30
	if examples == usualExamples {
		seeds, phases, least = seeds[:1], usualPhases, 5
	}
	for _, seed := range seeds {
		cmd := exec.CommandContext(t.Context(), testenv.Tool(t, "schemathesis"), "--config-file", "testdata/schemathesis.toml", "run", w.URL+"/openapi.json",
			"--max-examples", examples, "--phases", phases, "--seed", fmt.Sprint(seed), "--no-color")
		if examples == usualExamples {
			cmd.Args = append(cmd.Args, "--generation-deterministic")
		}
		cmd.Env = append(os.Environ(), "VITRINE_KEY="+w.Key)
		out, err := cmd.CombinedOutput()
		if err != nil {
			_, failures, _ := strings.Cut(string(out), "= FAILURES =")
			t.Errorf("schemathesis ended with %v:\n%s", err, failures[:min(len(failures), 20_000)]+tail(string(out)))
		}
		var cases int
		if found := generated.FindSubmatch(out); found != nil {
			cases, _ = strconv.Atoi(string(found[1])) // digits
		}
		if t.Logf("%d cases with seed %d", cases, seed); cases < least*len(w.Catalog.Operations) {
			t.Errorf("only %d cases were made:\n%s", cases, tail(string(out)))
		}
	}
}
