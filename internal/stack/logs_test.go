package stack

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestLogs_TheLastLinesOfAText(t *testing.T) {
	cases := []struct {
		text string
		n    int
		want string
	}{
		{"a\nb\nc\n", 2, "b\nc\n"},
		{"a\nb\nc", 2, "b\nc"},
		{"a\nb\n", 9, "a\nb\n"},
		{"a\n\nb\n", 2, "\nb\n"},
		{"a\n", 0, ""},
		{"", 3, ""},
	}
	for _, c := range cases {
		if got := lastLines(c.text, c.n); got != c.want {
			t.Errorf("lastLines(%q, %d) = %q, want %q", c.text, c.n, got, c.want)
		}
	}
}

func TestLogs_ShowTheServersAskedForAndMissingLogsAreEmpty(t *testing.T) {
	cfg := Config{Dir: t.TempDir()}
	if err := os.MkdirAll(filepath.Join(cfg.Dir, Kafka), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(cfg.Dir, Kafka, "kafka.log"), []byte("one\ntwo\nthree\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := Logs(t.Context(), cfg, []string{Kafka, Postgres}, 2, false, &out); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); !strings.Contains(got, "kafka.log <==\ntwo\nthree\n==>") || !strings.HasSuffix(got, "postgres.log <==\n") {
		t.Errorf("logs are\n%s", got)
	}
	if err := Logs(t.Context(), cfg, []string{"../secrets"}, 2, false, &out); err == nil {
		t.Error("a log of no server is read")
	}
}

func TestLogs_FollowingALogShowsWhatIsAddedOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	write := func(text string) {
		file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		if _, err := file.WriteString(text); err != nil {
			t.Fatal(err)
		}
	}
	var out strings.Builder
	read := func(from int64) int64 {
		end, err := copyFrom(&out, path, from)
		if err != nil {
			t.Fatal(err)
		}
		return end
	}
	write("first\n")
	end := read(0)
	write("second\n")
	end = read(end)
	end = read(end)
	if err := os.Remove(path); err != nil { // set aside at a restart
		t.Fatal(err)
	}
	write("new\n")
	read(end)
	if out.String() != "first\nsecond\nnew\n" {
		t.Errorf("followed %q", out.String())
	}
}
