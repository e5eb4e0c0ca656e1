package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"vitrine/service"
	"vitrine/service/servicetest"
)

// TestReextract_KilledRunGoesOnWhereItWas kills `vitrine reextract` in the middle, again
// and again, on a library whose lineage was damaged; in the end all is as it was,
// each file was read differently once, and the index agrees.
func TestReextract_KilledRunGoesOnWhereItWas(t *testing.T) {
	t.Parallel()
	e := servicetest.Start(t, servicetest.Options{})
	const n = 80
	var last servicetest.Stored
	for i := range n {
		last = e.StoreFile("", fmt.Sprintf("fox-%d.png", i), "image/png", picture(i, fmt.Sprintf("fox number%d", i)))
	}
	e.Search("", "fox", last.IndexToken)
	db, err := pgx.Connect(t.Context(), e.Cfg.PostgresURL)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close(context.WithoutCancel(t.Context()))
	count := func(what string) (n int) {
		t.Helper()
		if err := db.QueryRow(t.Context(), `SELECT count(*) FROM `+what).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	if _, err := db.Exec(t.Context(), `UPDATE lineage SET doc = '{"models": []}', parser_version = 0`); err != nil {
		t.Fatal(err)
	}
	binary, killed := failpointBinary(t), 0
	for range 6 {
		read := func() int { return count(`lineage WHERE parser_version > 0`) }
		if killReextract(t, binary, e.Cfg, read, n) {
			killed++
		}
		if read() == n {
			break
		}
	}
	if killed == 0 {
		t.Error("no run was killed in the middle: nothing was tried")
	}
	var report struct{ Changed, Same, Failed int }
	if err := json.Unmarshal([]byte(command(t, e.Cfg, "reextract", "--json")), &report); err != nil || report.Failed != 0 {
		t.Errorf("the last run: %+v, %v", report, err)
	}
	if changes := count(`audit WHERE action = 'lineage.extracted'`); changes != n {
		t.Errorf("%d files were read differently, want each of %d once", changes, n)
	}
	if left := count(`lineage WHERE parser_version = 0 OR doc #>> '{positive}' IS NULL`); left != 0 {
		t.Errorf("%d files still have the damaged lineage", left)
	}
	t.Logf("killed %d times; the last run read %+v", killed, report)
	indexIsRight(t, e)
}

// killReextract runs `vitrine reextract` and kills it once it has read some of n files, and not all. It
// returns whether it did.
func killReextract(t *testing.T, binary string, cfg service.Config, read func() int, n int) (killed bool) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), binary, "reextract", "--json")
	cmd.Env = environment(cfg, "")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	deadline := time.After(20 * time.Second)
	for before, ended := read(), false; !ended; {
		select {
		case <-done:
			ended = true
		case <-deadline:
			t.Fatal("a run read nothing in 20 s")
		case <-time.After(5 * time.Millisecond):
			if now := read(); now > before && now < n {
				_ = cmd.Process.Kill() // it may have ended meanwhile
				<-done
				killed, ended = true, true
			}
		}
	}
	return killed
}
