package extracttest

import "testing"

// recorder is a test that may fail without failing this one.
type recorder struct {
	testing.TB
	failed bool
}

func (r *recorder) Helper()               {}
func (r *recorder) Errorf(string, ...any) { r.failed = true }

var kept []byte

func TestBound_BoundedSeesWhatIsAllocatedAndFreed(t *testing.T) {
	for _, tt := range []struct {
		name      string
		length, n int
		want      bool
	}{
		{"a little", 10, 1 << 20, false},
		{"one piece more than the bound", 10, MaxMemory + 1<<20, true},
		{"as much as a long input may take", 1 << 20, MaxMemory + 50<<20, false},
	} {
		r := &recorder{TB: t}
		Bounded(r, tt.length, func() { kept = make([]byte, tt.n); kept = nil })
		if r.failed != tt.want {
			t.Errorf("%s: failed is %v, want %v", tt.name, r.failed, tt.want)
		}
	}
	r := &recorder{TB: t}
	Bounded(r, 10, func() {
		for range 100 {
			kept = make([]byte, 1<<20)
		}
	})
	if !r.failed {
		t.Error("a hundred pieces of a MiB passed a bound of 64 MiB")
	}
}
