package transfer

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/go-chi/chi/v5"

	"vitrine/auth"
	"vitrine/library"
	"vitrine/media/blob"
	"vitrine/op"
	"vitrine/store"
	"vitrine/store/storetest"
)

// slowly is a transfer service that has little patience, behind a real server.
type slowly struct {
	*httptest.Server
	*Service
	disk   *blob.Disk
	tenant library.TenantID
	key    string
	ended  chan struct{} // one for each request that is over
}

func newSlowly(t *testing.T) *slowly {
	t.Helper()
	blobs, err := blob.CreateDisk(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = blobs.Close() })
	signer := blob.NewSigner(bytes.Repeat([]byte{7}, 32))
	rows, _ := storetest.Open(t)
	system := library.Actor{Kind: library.ActorSystem, ID: "test"}
	tenant, err := rows.Tenants.Create(t.Context(), system, "slow")
	if err != nil {
		t.Fatal(err)
	}
	_, key, err := auth.IssueKey(t.Context(), rows.Keys, system, auth.KeyRequest{Name: "test", Tenant: tenant.ID})
	if err != nil {
		t.Fatal(err)
	}
	s := New(rows, auth.New(rows.Keys), store.NewLimitCache(rows.Limits), blobs, signer, nil)
	s.pace = pace{grace: 300 * time.Millisecond, minRate: 100 << 10}
	out := &slowly{Service: s, disk: blobs, tenant: tenant.ID, key: key.ID, ended: make(chan struct{}, 10)}
	handle := func(f func(http.ResponseWriter, *http.Request, library.Actor) error) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if err := f(w, r, library.Actor{}); err != nil {
				op.WriteProblem(w, r, err)
			}
			out.ended <- struct{}{}
		}
	}
	router := chi.NewRouter()
	router.Put("/upload/{token}", handle(s.Upload))
	router.Get("/files/{token}/{name}", handle(s.Download))
	out.Server = httptest.NewServer(router)
	t.Cleanup(out.Close)
	return out
}

// dial opens a connection and sends the head of a request.
func (s *slowly) dial(t *testing.T, head string) *net.TCPConn {
	t.Helper()
	c, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	if _, err := fmt.Fprintf(c, "%s\r\nHost: x\r\n", head); err != nil {
		t.Fatal(err)
	}
	return c.(*net.TCPConn)
}

func (s *slowly) upload(t *testing.T, size int) *net.TCPConn {
	t.Helper()
	token := s.signer.Sign(blob.Grant{Purpose: blob.PurposeUpload, Tenant: s.tenant, Staged: blob.NewStagingID(), MIMEType: "image/png", MaxBytes: 100 << 20, Key: s.key}, time.Minute)
	c := s.dial(t, "PUT /upload/"+token+" HTTP/1.1")
	if _, err := fmt.Fprintf(c, "Content-Type: image/png\r\nContent-Length: %d\r\n\r\n", size); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestSlow_AnUploadThatTricklesIsBrokenOffAndLeavesNothing(t *testing.T) {
	t.Parallel()
	s := newSlowly(t)
	c := s.upload(t, 1<<20)
	began := time.Now()
	go func() {
		for range 200 {
			if _, err := c.Write([]byte("x")); err != nil {
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
	}()
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, _ := io.ReadAll(res.Body)
	if res.StatusCode != http.StatusBadRequest || !strings.Contains(string(body), "102400 bytes per second") {
		t.Errorf("it was answered %d %s", res.StatusCode, body)
	}
	if took := time.Since(began); took > 3*time.Second {
		t.Errorf("it was put up with for %s", took)
	}
	if left, _, err := s.disk.SweepStaged(t.Context(), 0); err != nil || left != 0 {
		t.Errorf("%d staged files are left, %v", left, err)
	}
}

func TestSlow_AnUploadAtTheLeastPaceArrives(t *testing.T) {
	t.Parallel()
	s := newSlowly(t)
	const pieces, piece = 20, 8 << 10 // 160 KiB/s, for longer than the grace
	c := s.upload(t, pieces*piece)
	for range pieces {
		if _, err := c.Write(make([]byte, piece)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(50 * time.Millisecond)
	}
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		t.Errorf("it was answered %d", res.StatusCode)
	}
}

// A large file goes to a client that reads, for longer than the grace; one that
// stops reading is let go.
func TestSlow_ADownloadEndsWhenNobodyReadsItAndNotBefore(t *testing.T) {
	t.Parallel()
	s := newSlowly(t)
	id, size := blob.NewStagingID(), 64<<20
	staged, err := s.blobs.Stage(t.Context(), s.tenant, id, bytes.NewReader(make([]byte, size)), int64(size))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.blobs.Commit(t.Context(), s.tenant, id, staged.SHA1); err != nil {
		t.Fatal(err)
	}
	if _, err := s.store.Assets.Add(t.Context(), library.Actor{Kind: library.ActorKey, ID: s.key, Tenant: s.tenant}, store.NewAsset{Asset: library.Asset{Hash: staged.SHA1,
		SHA256: staged.SHA256, BLAKE3: staged.BLAKE3, Filename: "a.png", MIMEType: "image/png", Size: staged.Size, CreatedAt: time.Now()}}); err != nil {
		t.Fatal(err)
	}
	s.pace = pace{grace: 300 * time.Millisecond, minRate: 10 << 20}
	token := s.signer.Sign(blob.Grant{Purpose: blob.PurposeDownload, Tenant: s.tenant, Asset: staged.SHA1, Filename: "a.png", MIMEType: "image/png", Key: s.key}, time.Minute)
	get := "GET /files/" + token + "/a.png HTTP/1.1"

	reads := s.dial(t, get)
	fmt.Fprint(reads, "Connection: close\r\n\r\n")
	res, err := http.ReadResponse(bufio.NewReader(reads), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var got int64
	for began := time.Now(); ; {
		n, err := io.CopyN(io.Discard, res.Body, 8<<20)
		got += n
		if err != nil {
			break
		}
		time.Sleep(100 * time.Millisecond)
		if time.Since(began) > 20*time.Second {
			t.Fatal("it does not end")
		}
	}
	if got != int64(size) {
		t.Errorf("a client that reads got %d of %d bytes", got, size)
	}
	<-s.ended

	stuck := s.dial(t, get)
	fmt.Fprint(stuck, "\r\n")
	if err := stuck.SetReadBuffer(4 << 10); err != nil {
		t.Fatal(err)
	}
	select {
	case <-s.ended:
	case <-time.After(10 * time.Second):
		t.Error("a client that does not read holds its connection")
	}
}
