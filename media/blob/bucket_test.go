package blob_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"vitrine/internal/randtest"
	"vitrine/internal/testenv"
	"vitrine/library"
	"vitrine/media/blob"
	"vitrine/media/blob/blobtest"
)

// bucketAt opens a store of its own in a bucket.
func bucketAt(t *testing.T, s *testenv.S3Server, url string) *blob.Bucket {
	t.Helper()
	at, err := blob.At(url, s.Access)
	if err != nil {
		t.Fatal(err)
	}
	id, err := at.Mark(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p, err := at.Open(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return p.(*blob.Bucket)
}

func TestBucket_KeepsTheContract(t *testing.T) {
	s := testenv.S3(t)
	url := s.Bucket("contract")
	var n atomic.Int32
	blobtest.Run(t, func(t *testing.T) blob.Store {
		return bucketAt(t, s, fmt.Sprintf("%s/library-%d", url, n.Add(1)))
	})
}

// TestBucket_AnUploadBesideTheSweepOfTheSameBytesKeepsThem: the sweep removes old bytes that
// nobody knows, while somebody stores the same bytes again.
func TestBucket_AnUploadBesideTheSweepOfTheSameBytesKeepsThem(t *testing.T) {
	s := testenv.S3(t)
	b := bucketAt(t, s, s.Bucket("race"))
	const tenant = library.TenantID("00000000-0000-4000-8000-00000000000a")
	stage := func(content string) blob.Staged {
		t.Helper()
		got, err := b.Stage(t.Context(), tenant, blob.NewStagingID(), strings.NewReader(content), 100)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	removed := 0
	for round := range 60 {
		content := fmt.Sprint("round ", round)
		old := stage(content)
		if err := b.Commit(t.Context(), tenant, old.ID, old.SHA1); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(s.Dir, "race", "assets", string(tenant), string(old.SHA1[:2]), string(old.SHA1))
		hourAgo := time.Now().Add(-time.Hour)
		if err := os.Chtimes(path, hourAgo, hourAgo); err != nil {
			t.Fatal(err)
		}
		again := stage(content)
		swept := make(chan error, 1)
		go func() {
			time.Sleep(time.Duration(round%20) * time.Millisecond)
			gone, err := b.RemoveLost(t.Context(), tenant, old.SHA1, time.Now().Add(-time.Minute))
			if gone {
				removed++
			}
			swept <- err
		}()
		time.Sleep(time.Duration(round/20*4) * time.Millisecond)
		if err := errors.Join(b.Commit(t.Context(), tenant, again.ID, again.SHA1), <-swept); err != nil {
			t.Fatal(err)
		}
		if n, err := b.Size(t.Context(), tenant, old.SHA1); err != nil || n != again.Size {
			t.Fatalf("round %d: %d bytes, %v", round, n, err)
		}
	}
	t.Logf("the sweep came first in %d of 60 rounds", removed)
	if removed == 0 || removed == 60 {
		t.Error("the two never met")
	}
}

// TestBucket_ReadsInAnyOrderAndAcrossABrokenConnection: readers of formats jump about.
func TestBucket_ReadsInAnyOrderAndAcrossABrokenConnection(t *testing.T) {
	s := testenv.S3(t)
	b := bucketAt(t, s, s.Bucket("reads"))
	const tenant = library.TenantID("00000000-0000-4000-8000-00000000000a")
	data := make([]byte, 20<<20) // more than one request holds
	for i := range data {
		data[i] = byte(i*7 + i>>11)
	}
	staged, err := b.Stage(t.Context(), tenant, blob.NewStagingID(), bytes.NewReader(data), 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	o, got, err := b.OpenStaged(t.Context(), tenant, staged.ID)
	if err != nil || got != staged || o.Size() != int64(len(data)) {
		t.Fatalf("%+v %v", got, err)
	}
	defer o.Close()
	randtest.Run(t, func(t *testing.T, random *rand.Rand) { readAnyhow(t, random, s, o, data) })
}

// readAnyhow reads an object 300 times, while its server is started again once.
func readAnyhow(t *testing.T, random *rand.Rand, s *testenv.S3Server, o blob.Object, data []byte) {
	t.Helper()
	for i := range 300 {
		off, n := random.Int64N(int64(len(data))), random.IntN(100_000)
		if i%3 > 0 { // near the beginning, and forward by a little
			off = random.Int64N(200_000)
		}
		if i == 150 {
			s.Stop()
			s.Start()
		}
		p := make([]byte, n)
		m, err := o.ReadAt(p, off)
		want := data[off:min(off+int64(n), int64(len(data)))]
		if !bytes.Equal(p[:m], want) || err != nil && (m == n || !errors.Is(err, io.EOF)) {
			t.Fatalf("%d bytes at %d: %d, %v", n, off, m, err)
		}
	}
}
