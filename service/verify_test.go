package service_test

import (
	"bytes"
	"context"
	"crypto/sha1"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"vitrine/api/client"
	"vitrine/importer"
	"vitrine/library"
	"vitrine/media/blob"
	"vitrine/service"
	"vitrine/service/servicetest"
	"vitrine/store"
	"vitrine/store/storetest"
	"vitrine/verify"
)

// shelf is a product with imported files, whose folder of files a test damages.
type shelf struct {
	*servicetest.Env
	t       *testing.T
	imports string
	files   [][]byte
}

func newShelf(t *testing.T, n int) *shelf {
	t.Helper()
	s := &shelf{Env: servicetest.Start(t, servicetest.Options{Roles: []service.Role{service.RoleAPI, service.RoleIndex},
		Adjust: func(c *service.Config) { c.DataDir = filepath.Join(t.TempDir(), "data") }}), t: t, imports: t.TempDir()}
	for i := range n {
		s.files = append(s.files, picture(5000+i))
		if err := os.WriteFile(filepath.Join(s.imports, fmt.Sprintf("%d.png", i)), s.files[i], 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got := s.importAll(); got.Stored != n {
		t.Fatalf("imported %+v", got)
	}
	return s
}

func (s *shelf) importAll() importer.Report {
	s.t.Helper()
	got, err := importer.Run(s.t.Context(), s.Client(""), []string{s.imports}, importer.Options{})
	if err != nil {
		s.t.Fatal(err)
	}
	return got
}

func (s *shelf) hash(i int) library.AssetHash {
	sum := sha1.Sum(s.files[i])
	return library.AssetHash(hex.EncodeToString(sum[:]))
}

// path is where the file of an asset lies.
func (s *shelf) path(i int) string {
	h := string(s.hash(i))
	return filepath.Join(s.Cfg.DataDir, "blobs", "assets", string(s.Tenant), h[:2], h)
}

// damage replaces the bytes of a stored file; nil removes it.
func (s *shelf) damage(i int, data []byte) {
	s.t.Helper()
	if err := os.Remove(s.path(i)); err != nil {
		s.t.Fatal(err)
	}
	if data == nil {
		return
	}
	if err := os.WriteFile(s.path(i), data, 0o600); err != nil {
		s.t.Fatal(err)
	}
}

func (s *shelf) verify(opt verify.Options) verify.Counts {
	s.t.Helper()
	got, err := verify.Run(s.t.Context(), s.Store.Files, s.Blobs, opt)
	if err != nil {
		s.t.Fatal(err)
	}
	return got
}

// download returns the status and the code, or the bytes, of an original.
func (s *shelf) download(i int) (int, string) {
	s.t.Helper()
	status, body, _ := s.Raw(http.MethodGet, "/api/v1/assets/"+string(s.hash(i))+"/download", s.Key, nil, nil)
	for _, code := range []string{library.CodeFileMissing, library.CodeFileDamaged} {
		if bytes.Contains(body, []byte(`"`+code+`"`)) {
			return status, code
		}
	}
	return status, string(body)
}

// unstored returns which files an import would send.
func (s *shelf) unstored() (list []int) {
	s.t.Helper()
	in := client.FindStoredInput{}
	for i := range s.files {
		in.Files = append(in.Files, client.AssetFileToSend{SHA1: string(s.hash(i)), Filename: "a.png", MIMEType: "image/png"})
	}
	out, err := s.Client("").FindStored(s.t.Context(), in)
	if err != nil {
		s.t.Fatal(err)
	}
	for i, f := range out.Files {
		if !f.Stored {
			list = append(list, i)
		}
		known, err := s.Client("").CreateUploadUrl(s.t.Context(), client.CreateUploadUrlInput{Filename: "a.png", MIMEType: "image/png", SHA1: string(s.hash(i))})
		if err != nil || (known.AlreadyStored != "") != f.Stored {
			s.t.Errorf("FindStored says stored: %v, CreateUploadUrl %+v, %v", f.Stored, known, err)
		}
	}
	return list
}

func rotten(data []byte) []byte {
	out := bytes.Clone(data)
	out[len(out)/2] ^= 1
	return out
}

// TestVerify_FindsMissingShortAndRottenFilesAndAnImportHealsThem damages files as disks
// do. Nothing that is not what was stored is served as if it were.
func TestVerify_FindsMissingShortAndRottenFilesAndAnImportHealsThem(t *testing.T) {
	t.Parallel()
	s := newShelf(t, 6)
	s.damage(0, nil)
	s.damage(1, s.files[1][:100])
	s.damage(2, rotten(s.files[2]))
	if status, code := s.download(0); status != http.StatusNotFound || code != library.CodeFileMissing {
		t.Errorf("a missing file: %d %s", status, code)
	}
	if status, code := s.download(1); status != http.StatusUnprocessableEntity || code != library.CodeFileDamaged {
		t.Errorf("part of a file: %d %.100q", status, code)
	}
	if got := s.unstored(); !slices.Equal(got, []int{0, 1}) {
		t.Errorf("before a check an import would send %v", got)
	}
	if got := s.verify(verify.Options{}); got.Files != 6 || got.Missing != 1 || got.Size != 1 || got.Damaged() != 2 || got.Hashed != 0 {
		t.Errorf("looking at sizes found %+v", got)
	}
	var found []string
	got := s.verify(verify.Options{Share: 1, Found: func(d library.DamagedFile) { found = append(found, string(d.Problem)+string(d.Hash)) }})
	if got.Files != 6 || got.Missing != 1 || got.Size != 1 || got.Hash != 1 || got.Hashed < 4 || !got.Ended {
		t.Errorf("reading the files found %+v", got)
	}
	want := []string{"missing" + string(s.hash(0)), "size" + string(s.hash(1)), "hash" + string(s.hash(2))}
	if slices.Sort(found); !slices.Equal(found, slices.Sorted(slices.Values(want))) {
		t.Errorf("told of %v", found)
	}
	if got := s.unstored(); !slices.Equal(got, []int{0, 1, 2}) {
		t.Errorf("after the check an import would send %v", got)
	}
	if got := s.importAll(); got.Healed != 3 || got.Already != 3 || got.Failed != 0 {
		t.Errorf("importing again: %+v", got.Counts)
	}
	for i := range s.files {
		if status, body := s.download(i); status != http.StatusOK || body != string(s.files[i]) {
			t.Errorf("file %d after that: %d, %d bytes", i, status, len(body))
		}
	}
	if got := s.verify(verify.Options{Share: 1}); got.Damaged() != 0 || got.Healed != 0 || got.Hashed != 6 {
		t.Errorf("after that %+v", got)
	}
}

// TestVerify_AFileThatIsCopiedBackIsInOrderAgain: a problem is forgotten only by a check
// that could have found it.
func TestVerify_AFileThatIsCopiedBackIsInOrderAgain(t *testing.T) {
	t.Parallel()
	s := newShelf(t, 2)
	s.damage(0, nil)
	s.damage(1, rotten(s.files[1]))
	if got := s.verify(verify.Options{Share: 1}); got.Damaged() != 2 {
		t.Fatalf("%+v", got)
	}
	if got := s.verify(verify.Options{}); got.Missing != 1 || got.Hash != 1 || got.Healed != 0 {
		t.Errorf("a look at the sizes takes rotten bytes for healed: %+v", got)
	}
	s.damage(1, s.files[1])
	if err := os.WriteFile(s.path(0), s.files[0], 0o600); err != nil {
		t.Fatal(err)
	}
	if got := s.verify(verify.Options{}); got.Damaged() != 0 || got.Healed != 2 {
		t.Errorf("after they were copied back: %+v", got)
	}
	if got := s.unstored(); len(got) != 0 {
		t.Errorf("an import would send %v", got)
	}
}

// failing is a place whose disk does not return the bytes of one file.
type failing struct {
	blob.Store
	hash library.AssetHash
}

type failingFile struct{ blob.Object }

func (failingFile) ReadAt([]byte, int64) (int, error) { return 0, errors.New("input/output error") }

func (f failing) Open(ctx context.Context, tenant library.TenantID, hash library.AssetHash) (blob.Object, error) {
	o, err := f.Store.Open(ctx, tenant, hash)
	if err == nil && hash == f.hash {
		return failingFile{o}, nil
	}
	return o, err
}

func TestVerify_GoesOnBehindAFileThatCannotBeReadAndAfterAnInterruption(t *testing.T) {
	t.Parallel()
	s := newShelf(t, 5)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	bad := failing{s.Blobs, s.hash(3)}
	first, err := verify.Run(ctx, s.Store.Files, bad, verify.Options{Share: 1, Progress: func(done verify.Counts, total int64) {
		if total != 5 {
			t.Errorf("%d files in all", total)
		}
		if done.Files == 2 {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) || first.Files != 2 {
		t.Fatalf("interrupted: %+v %v", first, err)
	}
	second, err := verify.Run(t.Context(), s.Store.Files, bad, verify.Options{Share: 1, After: first.Last})
	if err != nil || first.Files+second.Files != 5 || first.Unreadable+second.Unreadable != 1 || first.Damaged()+second.Damaged() != 1 {
		t.Errorf("%+v, then %+v, %v", first, second, err)
	}
	if got := s.unstored(); !slices.Equal(got, []int{3}) {
		t.Errorf("an import would send %v", got)
	}
}

func TestVerify_AFolderThatIsAwayIsNotTakenForMissingFiles(t *testing.T) {
	t.Parallel()
	s := newShelf(t, 2)
	blobs := filepath.Join(s.Cfg.DataDir, "blobs")
	if err := os.Rename(blobs, blobs+"-away"); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(blobs, 0o750); err != nil {
		t.Fatal(err)
	}
	// What is open goes on being read where it was; a new process sees the mount point.
	if d, err := blob.OpenDisk(blobs, s.Blobs.ID()); err == nil {
		d.Close()
		t.Fatal("an empty folder was opened")
	}
	s.damageAt(blobs+"-away", 0)
	got, err := verify.Run(t.Context(), s.Store.Files, s.Blobs, verify.Options{})
	if library.AsError(err).Code != library.CodeFilesUnavailable || got.Damaged() != 0 {
		t.Errorf("%+v %v", got, err)
	}
	if n, err := s.Store.Files.CountDamaged(t.Context()); err != nil || len(n) != 0 {
		t.Errorf("recorded are %v, %v", n, err)
	}
}

// damageAt removes a file of a folder that was moved.
func (s *shelf) damageAt(folder string, i int) {
	s.t.Helper()
	if err := os.Remove(strings.Replace(s.path(i), filepath.Join(s.Cfg.DataDir, "blobs"), folder, 1)); err != nil {
		s.t.Fatal(err)
	}
}

// TestVerify_ReadsNoFasterThanItsRate: a check beside a service must leave the disk to it.
func TestVerify_ReadsNoFasterThanItsRate(t *testing.T) {
	t.Parallel()
	s := newShelf(t, 3)
	began := time.Now()
	const rate = 40 << 10
	got := s.verify(verify.Options{Share: 1, Rate: rate})
	if least := time.Duration(float64(got.Bytes) / rate * float64(time.Second)); got.Hashed != 3 || time.Since(began) < least {
		t.Errorf("%d files with %d bytes in %s", got.Hashed, got.Bytes, time.Since(began))
	}
}

// TestScrub_ReadsAllFilesInStepsAndShowsWhatIsDamaged runs the background check as the
// role work does, of which every process has one.
func TestScrub_ReadsAllFilesInStepsAndShowsWhatIsDamaged(t *testing.T) {
	t.Parallel()
	s := newShelf(t, 5)
	s.damage(4, rotten(s.files[4]))
	cfg := s.Cfg
	cfg.ScrubRate, cfg.Listen = 1<<20, "127.0.0.1:0"
	one, err := service.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer one.Close()
	step := func(within time.Duration) {
		t.Helper()
		if err := one.Scrub(t.Context(), within); err != nil {
			t.Fatal(err)
		}
	}
	last := func() store.Scrub { t.Helper(); return s.lastScrub(t) }
	step(time.Microsecond) // one file at a time
	if at := last(); at.EndedAt != nil || at.After.Hash == "" {
		t.Fatalf("after a step: %+v", at)
	}
	if _, claimed, err := s.Store.Files.ClaimScrub(t.Context(), "another process", time.Hour, time.Hour); err != nil || !claimed {
		t.Fatalf("between the steps nobody else may go on: %v", err)
	}
	before := last()
	step(time.Hour)
	if at := last(); at != before {
		t.Errorf("two processes check at the same time: %+v", at)
	}
	if err := s.Store.Files.SaveScrub(t.Context(), "another process", before.After, false); err != nil {
		t.Fatal(err)
	}
	step(time.Hour)
	ended := last()
	if ended.EndedAt == nil {
		t.Fatalf("the pass does not end: %+v", ended)
	}
	if got := s.unstored(); !slices.Equal(got, []int{4}) {
		t.Errorf("an import would send %v", got)
	}
	showsDamage(t, one)
	step(time.Hour)
	if at := last(); !at.BeganAt.Equal(ended.BeganAt) {
		t.Error("another pass begins at once")
	}
	if _, claimed, err := s.Store.Files.ClaimScrub(t.Context(), "later", time.Hour, 0); err != nil || !claimed {
		t.Errorf("no further pass begins when it is time: %v", err)
	}
	if at := last(); at.After.Hash != "" || at.EndedAt != nil {
		t.Errorf("the further pass begins at %+v", at)
	}
}

// lastScrub returns how far the pass over all files is.
func (s *shelf) lastScrub(t *testing.T) store.Scrub {
	t.Helper()
	at, err := s.Store.Files.LastScrub(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// showsDamage looks for one file of five with other bytes in the metrics.
func showsDamage(t *testing.T, one *service.Service) {
	t.Helper()
	metrics := metricsOf(t, one)
	for _, line := range []string{`vitrine_damaged_files{problem="hash"} 1`, `vitrine_damaged_files{problem="missing"} 0`, "vitrine_scrub_files_total 5"} {
		if !strings.Contains(metrics, line+"\n") {
			t.Errorf("the metrics lack %s", line)
		}
	}
}

func metricsOf(t *testing.T, s *service.Service) string {
	t.Helper()
	w := httptest.NewRecorder()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	s.Handler().ServeHTTP(w, r)
	body, err := io.ReadAll(w.Result().Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// TestStore_BytesOfTheSameSHA1ReplaceNothing: the row of a file whose bytes collide is
// made here as PostgreSQL would have it.
func TestStore_BytesOfTheSameSHA1ReplaceNothing(t *testing.T) {
	t.Parallel()
	s := newShelf(t, 1)
	other := rotten(s.files[0])
	s.damage(0, other)
	if _, err := storetest.Owner(t, s.Cfg.PostgresURL).Exec(t.Context(), `UPDATE assets SET sha256 = repeat('0', 64)`); err != nil {
		t.Fatal(err)
	}
	_, err := s.Client("").StoreAsset(t.Context(), client.StoreAssetInput{Filename: "a.png", MIMEType: "image/png", AssetDataBase64: base64.StdEncoding.EncodeToString(s.files[0])})
	if !client.IsCode(err, library.CodeHashCollision) {
		t.Errorf("it was answered with %v", err)
	}
	if kept, err := os.ReadFile(s.path(0)); err != nil || !bytes.Equal(kept, other) {
		t.Errorf("the file that was there has been replaced: %v", err)
	}
	s.damage(0, nil)
	_, err = s.Client("").StoreAsset(t.Context(), client.StoreAssetInput{Filename: "a.png", MIMEType: "image/png", AssetDataBase64: base64.StdEncoding.EncodeToString(s.files[0])})
	if !client.IsCode(err, library.CodeHashCollision) {
		t.Errorf("in the place of a missing file it was answered with %v", err)
	}
	if _, err := os.Stat(s.path(0)); err == nil {
		t.Error("other bytes have taken the place of a missing file")
	}
}
