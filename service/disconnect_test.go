package service_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"vitrine/api/client"
	"vitrine/library"
	"vitrine/media/blob"
	"vitrine/service"
	"vitrine/service/servicetest"
	"vitrine/store/storetest"
)

// statuses sums up the requests that a service has counted, by status.
func statuses(t *testing.T, s *service.Service) map[string]int {
	t.Helper()
	got := map[string]int{}
	for line := range strings.Lines(metricsOf(t, s)) {
		rest, ok := strings.CutPrefix(line, "vitrine_http_requests_total{")
		if !ok {
			continue
		}
		labels, value, _ := strings.Cut(strings.TrimSpace(rest), "} ")
		_, status, _ := strings.Cut(labels, `status="`)
		n, err := strconv.Atoi(value)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		got[strings.Trim(status, `"`)] += n
	}
	return got
}

// blobFiles counts the files below a part of the blob folder.
func blobFiles(t *testing.T, cfg service.Config, part string) (n int) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(cfg.DataDir, "blobs", part), func(_ string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			n++
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestDisconnects_CountAs499AndLeaveNothingBehind has clients leave in the middle of
// each kind of request. None of it is a defect of the service.
func TestDisconnects_CountAs499AndLeaveNothingBehind(t *testing.T) {
	t.Parallel()
	e := servicetest.Start(t, servicetest.Options{Roles: []service.Role{service.RoleAPI, service.RoleIndex}})
	large := append(picture(1), make([]byte, 24<<20)...) // more than the buffers of a connection hold
	kept := storeBytes(t, e.Service, e.Tenant, large)
	left, atStart := 0, statuses(t, e.Service) // it was asked whether it is ready before it was
	failed := func(now map[string]int) int { return now["500"] + now["503"] - atStart["500"] - atStart["503"] }
	expect := func(what string) {
		t.Helper()
		left++
		servicetest.Eventually(t, what+" is counted as 499", func() error {
			if got := statuses(t, e.Service); got["499"] != left || failed(got) != 0 {
				return fmt.Errorf("counted are %v %s", got, grepLog(e, "download"))
			}
			return nil
		})
	}

	send(t, e, "GET /api/v1/assets/"+string(kept.SHA1)+"/download HTTP/1.1\r\n", "", 1<<10)
	expect("a download that is broken off")

	ticket, err := e.Client("").CreateUploadUrl(t.Context(), client.CreateUploadUrlInput{Filename: "a.png", MIMEType: "image/png"})
	if err != nil {
		t.Fatal(err)
	}
	_, path, _ := strings.Cut(ticket.SignedURL, e.Cfg.Listen)
	send(t, e, "PUT "+path+" HTTP/1.1\r\nContent-Type: image/png\r\nContent-Length: 1000000\r\n", "the beginning", 0)
	expect("an upload that is broken off")

	send(t, e, "POST /api/v1/assets/search HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n", `{"query": "fo`, 0)
	expect("JSON that is broken off")

	unlock := lockAssets(t, e)
	leave(t, func(ctx context.Context) error {
		_, err := e.Client("").GetAssetDetails(ctx, client.GetAssetDetailsInput{AssetH: string(kept.SHA1)})
		return err
	})
	expect("a call whose answer nobody waits for")

	before := blobFiles(t, e.Cfg, "assets")
	leaveStoring(t, e)
	unlock()
	agreeInNumber(t, e, before)
	if got := statuses(t, e.Service); failed(got) != 0 {
		t.Errorf("counted are %v", got)
	}
	for line := range strings.Lines(e.Logs.Tail(1 << 20)) {
		if strings.Contains(line, "request failed") && !strings.Contains(line, "NOT_READY") {
			t.Errorf("a client that left is logged as a failure: %s", line)
		}
	}
}

// agreeInNumber waits until there are as many files as assets, at least as many as before, and
// nothing is staged.
func agreeInNumber(t *testing.T, e *servicetest.Env, before int) {
	t.Helper()
	owner := storetest.Owner(t, e.Cfg.PostgresURL)
	servicetest.Eventually(t, "bytes and rows are the same in number", func() error {
		var rows int
		if err := owner.QueryRow(t.Context(), `SELECT count(*) FROM assets`).Scan(&rows); err != nil {
			return err
		}
		if files := blobFiles(t, e.Cfg, "assets"); files != rows || blobFiles(t, e.Cfg, "staging") != 0 || files < before {
			return fmt.Errorf("%d files for %d assets, %d staged", files, rows, blobFiles(t, e.Cfg, "staging"))
		}
		return nil
	})
}

// leaveStoring stores a file and leaves before it is answered.
func leaveStoring(t *testing.T, e *servicetest.Env) {
	t.Helper()
	c := e.Client("")
	c.Patience = -1
	leaving, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := c.StoreAsset(leaving, client.StoreAssetInput{Filename: "b.png", MIMEType: "image/png", AssetDataBase64: base64.StdEncoding.EncodeToString(picture(77))})
		done <- err
	}()
	time.Sleep(300 * time.Millisecond) // wherever it is by now
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Fatalf("storing was answered with %v", err)
	}
}

// send sends the beginning of a request, reads some bytes of the answer, and is gone.
func send(t *testing.T, e *servicetest.Env, head, body string, read int64) {
	t.Helper()
	c, err := net.Dial("tcp", e.Cfg.Listen)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fprintf(c, "%sHost: %s\r\nX-API-Key: %s\r\n\r\n%s", head, e.Cfg.Listen, e.Key, body); err != nil {
		t.Fatal(err)
	}
	if _, err := io.CopyN(io.Discard, c, read); err != nil {
		t.Fatal(err)
	}
	time.Sleep(50 * time.Millisecond) // so that what was sent is read as a part, not only as a broken connection
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
}

// leave makes a call that waits, and leaves once it does.
func leave(t *testing.T, call func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if err := call(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("it was answered with %v", err)
	}
}

// lockAssets makes whoever reads or writes assets wait until unlock is called.
func lockAssets(t *testing.T, e *servicetest.Env) (unlock func()) {
	t.Helper()
	conn := storetest.Owner(t, e.Cfg.PostgresURL)
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), `LOCK TABLE assets IN ACCESS EXCLUSIVE MODE`); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := tx.Rollback(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// TestSweep_TakesWhatDiedAfterHalfAnHourAndUploadsAfterTheirAge ages files as time does.
func TestSweep_TakesWhatDiedAfterHalfAnHourAndUploadsAfterTheirAge(t *testing.T) {
	t.Parallel()
	cfg, blobs := withAsset(t)
	s, err := service.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	home, err := s.Store.Tenants.EnsureDefault(t.Context(), operator)
	if err != nil {
		t.Fatal(err)
	}
	staged := stageBytes(t, s, home.ID, picture(1))
	half := filepath.Join(blobs, "staging", string(home.ID), blob.NewStagingID()+"~"+blob.NewStagingID())
	if err := os.WriteFile(half, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	orphan := stageBytes(t, s, home.ID, picture(2))
	if err := s.Blobs.Commit(t.Context(), home.ID, orphan.ID, orphan.SHA1); err != nil {
		t.Fatal(err)
	}
	sweep := func(age time.Duration, stagedFiles, orphans int, referenced int64) {
		t.Helper()
		err := filepath.WalkDir(blobs, func(path string, e fs.DirEntry, err error) error {
			if err == nil && e.Type().IsRegular() {
				at := time.Now().Add(-age)
				err = os.Chtimes(path, at, at)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		got, err := s.Sweep(t.Context(), service.SweepOptions{Age: 24 * time.Hour})
		if err != nil || got.StagedFiles != stagedFiles || got.OrphanFiles != orphans || got.Referenced != referenced {
			t.Errorf("after %s: %+v %v", age, got, err)
		}
	}
	sweep(10*time.Minute, 0, 0, 2)
	sweep(40*time.Minute, 1, 1, 1)
	if _, _, err := s.Blobs.OpenStaged(t.Context(), home.ID, staged.ID); err != nil {
		t.Errorf("an upload that waits to be stored is gone after 40 minutes: %v", err)
	}
	sweepAll := func() service.SweepResult {
		got, err := s.Sweep(t.Context(), service.SweepOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if got := sweepAll(); got.StagedFiles != 1 || got.OrphanFiles != 0 || got.Referenced != 1 {
		t.Errorf("at last: %+v", got)
	}
}

func stageBytes(t *testing.T, s *service.Service, tenant library.TenantID, data []byte) blob.Staged {
	t.Helper()
	staged, err := s.Blobs.Stage(t.Context(), tenant, blob.NewStagingID(), strings.NewReader(string(data)), 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	return staged
}

// TestSweep_RemovesNothingInTheWrongPlaceUnlessItsLimitIsLifted: a folder whose files
// the database does not know is probably another library's.
func TestSweep_RemovesNothingInTheWrongPlaceUnlessItsLimitIsLifted(t *testing.T) {
	t.Parallel()
	cfg, _ := withAsset(t)
	s, err := service.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	const tenant = library.TenantID("00000000-0000-4000-8000-0000000000aa")
	const n = 101
	for i := range n {
		o := stageBytes(t, s, tenant, []byte(fmt.Sprint("orphan ", i)))
		if err := s.Blobs.Commit(t.Context(), tenant, o.ID, o.SHA1); err != nil {
			t.Fatal(err)
		}
	}
	got, err := s.Sweep(t.Context(), service.SweepOptions{})
	var many *service.TooManyOrphansError
	if !errors.As(err, &many) || many.Orphans != n || many.Files != n+1 || many.Bytes == 0 || !strings.Contains(err.Error(), "vitrine sweep --no-limit") {
		t.Errorf("%+v %v", got, err)
	}
	if files := blobFiles(t, cfg, "assets"); files != n+1 {
		t.Errorf("%d files are left", files)
	}
	if got, err := s.Sweep(t.Context(), service.SweepOptions{NoLimit: true}); err != nil || got.OrphanFiles != n || got.Referenced != 1 {
		t.Errorf("without a limit: %+v %v", got, err)
	}
	if files := blobFiles(t, cfg, "assets"); files != 1 {
		t.Errorf("%d files are left", files)
	}
}

func grepLog(e *servicetest.Env, word string) (out string) {
	for line := range strings.Lines(e.Logs.Tail(1 << 22)) {
		if strings.Contains(line, word) {
			out += line
		}
	}
	return out
}
