package e2e

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"

	"vitrine/api/client"
	"vitrine/media/preview/previewtest"
	"vitrine/service/servicetest"
)

// TestPictures_FiftyRequestsAtOnceStayWithinTheMemoryPromised asks the real service for
// the pictures of assets that are small as files and large in memory: inside the
// details of fifty assets at once, then as thumbnails of several sizes.
func TestPictures_FiftyRequestsAtOnceStayWithinTheMemoryPromised(t *testing.T) {
	t.Parallel()
	k := newKilled(t)
	p := serve(t, k.cfg, "", "api")
	hashes := k.storeLarge(t, 50)
	idle := p.memory("VmRSS")
	// From here on the highest value counts.
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", p.cmd.Process.Pid), []byte("5"), 0); err != nil {
		t.Skipf("this system does not measure how much memory a process took: %v", err)
	}
	var mu sync.Mutex
	said := map[string]int{}
	count := func(what string) {
		mu.Lock()
		defer mu.Unlock()
		said[what]++
	}
	var all sync.WaitGroup
	for i, hash := range hashes {
		all.Go(func() { count("image " + k.inlineImage(t, hash)) })
		all.Go(func() { count("thumbnail " + k.thumbnail(t, hash, []string{"256", "512", "1024", "2048"}[i%4])) })
	}
	all.Wait()
	peak := p.memory("VmHWM")
	t.Logf("%d MB above %d MB; %v", (peak-idle)/1e6, idle/1e6, said)
	if peak-idle > 256e6 {
		t.Errorf("it took %d MB above %d MB", (peak-idle)/1e6, idle/1e6)
	}
	// How many are decoded in time is a matter of the machine; that nothing else is
	// answered is not.
	if said["image shown"]+said["thumbnail shown"]+said["image busy"]+said["thumbnail busy"] != 100 {
		t.Errorf("the answers are neither pictures nor a clear word that too much is going on: %v", said)
	}
	for i := range 5 { // who asks again as it was told to gets its picture
		servicetest.Eventually(t, "a picture is shown after the rush", func() error {
			if got := k.inlineImage(t, hashes[i]); got != "shown" {
				return errors.New(got)
			}
			return nil
		})
	}
}

// storeLarge stores pictures that are small as files and large in memory, the first ones of different kinds.
func (k killed) storeLarge(t *testing.T, n int) (hashes []string) {
	t.Helper()
	const edge = 4000
	kinds := []struct {
		mime string
		data []byte
	}{
		{"image/png", previewtest.PNG(edge, edge, 16, 6, false)},
		{"image/png", previewtest.PNG(edge, edge, 16, 6, true)},
		{"image/jpeg", previewtest.ProgressiveJPEG(edge, edge, 0x22, 0x11, 0x11)},
		{"image/webp", previewtest.LosslessWebP(edge, edge, true)},
		{"image/png", previewtest.PNG(8191, 8191, 16, 6, false)},
	}
	for i := range n {
		kind := kinds[min(i%len(kinds), len(kinds)-1)]
		data := append(kind.data[:len(kind.data):len(kind.data)], fmt.Sprintf("%08d", i)...) // so that each is an asset of its own
		stored, err := k.api.StoreAsset(t.Context(), client.StoreAssetInput{Filename: "large.bin", MIMEType: kind.mime, AssetDataBase64: base64.StdEncoding.EncodeToString(data)})
		if err != nil {
			t.Fatal(err)
		}
		hashes = append(hashes, stored.Asset.AssetH)
	}
	return hashes
}

// inlineImage returns how the picture came that belongs to an asset's details: "shown",
// "busy", or what was said instead.
func (k killed) inlineImage(t *testing.T, hash string) string {
	detail, err := k.api.GetAssetDetails(t.Context(), client.GetAssetDetailsInput{AssetH: hash, IncludeImage: true})
	switch {
	case err != nil:
		return err.Error()
	case detail.PreviewImage.Included:
		return "shown"
	case detail.PreviewImage.Code == "DECODING_BUSY" && detail.PreviewImage.RetryAfter > 0:
		return "busy"
	}
	return fmt.Sprintf("%+v", detail.PreviewImage)
}

// thumbnail is inlineImage for a thumbnail of a size.
func (k killed) thumbnail(t *testing.T, hash, size string) string {
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, k.api.Base+"/api/v1/assets/"+hash+"/thumbnail?size="+size, nil)
	if err != nil {
		return err.Error()
	}
	req.Header.Set("X-API-Key", k.api.Key)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err.Error()
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	switch {
	case err != nil:
		return err.Error()
	case res.StatusCode == http.StatusOK:
		return "shown"
	case res.StatusCode == http.StatusServiceUnavailable && strings.Contains(string(body), "DECODING_BUSY") && res.Header.Get("Retry-After") != "":
		return "busy"
	}
	return res.Status + " " + string(body)
}

// memory reads a number of bytes out of the process's status.
func (p *process) memory(name string) int64 {
	p.t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		p.t.Skipf("this system does not tell how much memory a process takes: %v", err)
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, name+":"); ok {
			var kb int64
			if _, err := fmt.Sscanf(strings.TrimSpace(rest), "%d kB", &kb); err != nil {
				p.t.Fatal(err)
			}
			return kb << 10
		}
	}
	p.t.Fatalf("no %s in the process's status", name)
	return 0
}
