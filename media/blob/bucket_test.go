package blob_test

import (
	"fmt"
	"sync/atomic"
	"testing"

	"vitrine/internal/testenv"
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
