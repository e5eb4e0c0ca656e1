package sample

import (
	"context"
	"os"
	"testing"
)

func TestTryOut(t *testing.T) {
	dir := os.Getenv("VITRINE_SAMPLE")
	if dir == "" {
		t.Skip()
	}
	os.RemoveAll(dir)
	rep, err := Write(context.Background(), dir, Options{Count: 120, Seed: 7, TruthPath: dir + ".json"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(rep.Bytes, len(rep.Files))
}
