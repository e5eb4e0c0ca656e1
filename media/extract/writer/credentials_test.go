package writer

import (
	"testing"

	"vitrine/media/extract/container"
)

func TestBrokenCredentialsAreNamedNotFatal(t *testing.T) {
	l := readAs(t, "c2pa", container.Chunk{Place: "c2pa", Key: "png:caBX", Data: []byte("no boxes in here")})
	if l.C2PA != nil || len(l.Warnings) != 1 || l.HasGenerationData() {
		t.Errorf("read as %+v", l)
	}
}
