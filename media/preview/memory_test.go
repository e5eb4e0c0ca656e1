package preview

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"

	"vitrine/media/memory"
	"vitrine/media/preview/previewtest"
)

// TestMain serves as the process whose memory is measured when it is asked to.
func TestMain(m *testing.M) {
	if job := os.Getenv("VITRINE_DECODE_JOB"); job != "" {
		if err := decodeJob(job); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// job is what a process of its own decodes.
type job struct {
	Files    []string
	Edge     int
	Parallel int // of each file
}

// measured is what it took, in bytes of resident memory.
type measured struct {
	Idle, Peak int64
	Made       int
	Errors     []string
}

// decodeJob decodes under the settings of the service's collector, and prints what
// the system says of this process.
func decodeJob(raw string) error {
	var j job
	if err := json.Unmarshal([]byte(raw), &j); err != nil {
		return err
	}
	debug.SetGCPercent(400)
	debug.SetMemoryLimit(1 << 30)
	budget := memory.New(memory.Config{Wait: 3 * time.Second})
	var out measured
	var mu sync.Mutex
	decode := func(path string) {
		_, err := decodeFile(budget, path, j.Edge)
		mu.Lock()
		defer mu.Unlock()
		if err == nil {
			out.Made++
		} else {
			out.Errors = append(out.Errors, err.Error())
		}
	}
	if small, err := Make(context.Background(), budget, bytes.NewReader(previewtest.PNG(64, 64, 8, 2, false)), 1<<10, 64); err != nil || len(small) == 0 {
		return errors.Join(err, errors.New("nothing was made"))
	}
	debug.FreeOSMemory()
	var err error
	if out.Idle, err = resident("VmRSS"); err != nil {
		return err
	}
	var all sync.WaitGroup
	for _, path := range j.Files {
		for range j.Parallel {
			all.Go(func() { decode(path) })
		}
	}
	all.Wait()
	if out.Peak, err = resident("VmHWM"); err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(out)
}

func decodeFile(budget *memory.Budget, path string, edge int) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return Make(context.Background(), budget, f, info.Size(), edge)
}

// resident reads a number of bytes out of /proc/self/status.
func resident(name string) (int64, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, name+":"); ok {
			var kb int64
			_, err := fmt.Sscanf(strings.TrimSpace(rest), "%d kB", &kb)
			return kb << 10, err
		}
	}
	return 0, errors.New("no " + name)
}

// measure decodes files in a process of its own.
func measure(t *testing.T, edge, parallel int, pictures ...[]byte) measured {
	t.Helper()
	j := job{Edge: edge, Parallel: parallel}
	for i, data := range pictures {
		path := fmt.Sprintf("%s/%d", t.TempDir(), i)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		j.Files = append(j.Files, path)
	}
	raw, err := json.Marshal(j)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "VITRINE_DECODE_JOB="+string(raw))
	cmd.Stderr = os.Stderr
	said, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var out measured
	if err := json.Unmarshal(said, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestDecoding_FiftyAtOnceStayWithinTheMemoryPromised measures a process that is asked
// for the previews of fifty pictures of 16 megapixels at once.
func TestDecoding_FiftyAtOnceStayWithinTheMemoryPromised(t *testing.T) {
	if _, err := resident("VmHWM"); err != nil {
		t.Skipf("this system does not tell how much memory a process takes: %v", err)
	}
	const edge = 4000
	for name, data := range map[string][]byte{
		"PNG, 16 bit":             previewtest.PNG(edge, edge, 16, 6, false),
		"PNG, interlaced, 16 bit": previewtest.PNG(edge, edge, 16, 6, true),
		"JPEG, progressive 4:2:0": previewtest.ProgressiveJPEG(edge, edge, 0x22, 0x11, 0x11),
		"JPEG, progressive 4:4:4": previewtest.ProgressiveJPEG(edge, edge, 0x11, 0x11, 0x11),
		"WebP, lossless":          previewtest.LosslessWebP(edge, edge, false),
		"WebP, lossless, palette": previewtest.LosslessWebP(edge, edge, true),
		"WebP, many codes":        previewtest.WebPOfManyCodes(),
	} {
		t.Run(name, func(t *testing.T) {
			got := measure(t, 1024, 50, data)
			t.Logf("%d made; %d MB above %d MB", got.Made, (got.Peak-got.Idle)/1e6, got.Idle/1e6)
			if got.Made == 0 || got.Peak-got.Idle > 256e6 {
				t.Errorf("%+v", got)
			}
		})
	}
}

// TestDecoding_TheLargestPictureTakesAtMostSixHundredMegabytes has several of the
// largest pictures at once: one after the other is decoded.
func TestDecoding_TheLargestPictureTakesAtMostSixHundredMegabytes(t *testing.T) {
	if _, err := resident("VmHWM"); err != nil {
		t.Skipf("this system does not tell how much memory a process takes: %v", err)
	}
	const edge = 8191
	for name, data := range map[string][]byte{
		"PNG, 16 bit":             previewtest.PNG(edge, edge, 16, 6, false),
		"PNG, interlaced, 16 bit": previewtest.PNG(edge, edge, 16, 6, true),
		"JPEG, progressive 4:2:0": previewtest.ProgressiveJPEG(edge, edge, 0x22, 0x11, 0x11),
		"WebP, lossless, palette": previewtest.LosslessWebP(edge, edge, true),
	} {
		t.Run(name, func(t *testing.T) {
			got := measure(t, 2048, 3, data)
			t.Logf("%d made; %d MB above %d MB", got.Made, (got.Peak-got.Idle)/1e6, got.Idle/1e6)
			if got.Made == 0 || got.Peak-got.Idle > 600e6 {
				t.Errorf("%+v", got)
			}
		})
	}
}
