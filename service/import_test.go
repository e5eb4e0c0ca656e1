package service_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vitrine/importer"
	"vitrine/service"
	"vitrine/service/servicetest"
)

// between calls a function after each response to a route, before the client sees it.
type between struct {
	route string
	do    func()
}

func (b between) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := http.DefaultTransport.RoundTrip(r)
	if err == nil && strings.HasSuffix(r.URL.Path, b.route) {
		b.do()
	}
	return res, err
}

// TestImport_AFileThatChangesMeanwhileIsStoredAsItIsNow: its link was made for the bytes
// that it had when it was hashed.
func TestImport_AFileThatChangesMeanwhileIsStoredAsItIsNow(t *testing.T) {
	t.Parallel()
	e := servicetest.Start(t, servicetest.Options{Roles: []service.Role{service.RoleAPI, service.RoleIndex}})
	path := filepath.Join(t.TempDir(), "fox.png")
	write := func(n int) {
		if err := os.WriteFile(path, picture(n), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(31)
	changes := 0
	c := *e.Client("")
	c.HTTP = &http.Client{Transport: between{"/find-stored", func() {
		if changes++; changes <= 2 {
			write(31 + changes)
		}
	}}}
	got, err := importer.Run(t.Context(), &c, []string{path}, importer.Options{})
	if err != nil || got.Stored != 1 || got.Failed != 0 {
		t.Fatalf("%+v %v", got, err)
	}
	status, data, _ := e.Raw(http.MethodGet, "/api/v1/assets/"+got.Files[0].Asset+"/download", e.Key, nil, nil)
	if status != http.StatusOK || string(data) != string(picture(33)) || changes != 3 {
		t.Errorf("after %d questions: %d, %d bytes", changes, status, len(data))
	}
	changes = -1000
	write(40)
	c.HTTP = &http.Client{Transport: between{"/find-stored", func() { changes++; write(1000 + changes) }}}
	got, err = importer.Run(t.Context(), &c, []string{path}, importer.Options{})
	if err != nil || got.Failed != 1 || !strings.Contains(got.Files[0].Reason, "SHA-1") && !strings.Contains(got.Files[0].Reason, "bytes") {
		t.Errorf("one that never stops changing: %+v %v", got, err)
	}
}
