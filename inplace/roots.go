// Package inplace imports folders without copying them, and serves the files from where
// they lie.
//
// In come folders of roots that the operator allows; out come assets whose files stay
// where they are, and a report of every run. A file is read once, hashed and stored with
// its place and with what the file system says of it. It is served only while it is what
// was imported: whatever the file system says differently is read and hashed again first.
// Nothing is ever written below a root.
package inplace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"vitrine/library"
	"vitrine/store"
)

// Root is a folder that the operator allows to be imported in place, by a name. Places are
// stored by the name, so the folder may be mounted elsewhere later.
type Root struct {
	Name   string
	Dir    string           // absolute
	Tenant library.TenantID // whose folder it is; empty: the oldest tenant's
}

// Roots are all roots of a service.
type Roots struct {
	list    []Root
	tenants *store.Tenants

	mu   sync.Mutex
	home library.TenantID // the oldest tenant
}

var rootName = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,63}$`)

// ParseRoots reads roots from their settings: folder, name=folder or name@tenant_id=folder. A
// folder without a name is called by its last part.
func ParseRoots(settings []string) ([]Root, error) {
	var list []Root
	for _, s := range settings {
		r := Root{Dir: strings.TrimSpace(s)}
		if name, dir, found := strings.Cut(r.Dir, "="); found && !strings.ContainsAny(name, `/\`) {
			name, tenant, of := strings.Cut(name, "@")
			if r.Name, r.Dir, r.Tenant = name, dir, library.TenantID(tenant); of && !r.Tenant.Valid() {
				return nil, fmt.Errorf("the root %q names no tenant behind the @; vitrine tenants list shows their ids", s)
			}
		} else {
			r.Name = strings.Trim(regexp.MustCompile(`[^a-z0-9]+`).ReplaceAllString(strings.ToLower(filepath.Base(r.Dir)), "-"), "-")
		}
		switch {
		case r.Dir == "":
			continue
		case !rootName.MatchString(r.Name):
			return nil, fmt.Errorf("the root %q has no name of lower-case letters, digits, - and _; write name=%s", s, r.Dir)
		case !filepath.IsAbs(r.Dir):
			return nil, fmt.Errorf("the root %q is not an absolute path", s)
		case slices.ContainsFunc(list, func(o Root) bool { return o.Name == r.Name }):
			return nil, fmt.Errorf("two roots are called %s; give one another name: name=%s", r.Name, r.Dir)
		}
		r.Dir = filepath.Clean(r.Dir)
		list = append(list, r)
	}
	return list, nil
}

// NewRoots returns the roots of a service.
func NewRoots(list []Root, tenants *store.Tenants) *Roots {
	return &Roots{list: list, tenants: tenants}
}

// All returns every root.
func (rs *Roots) All() []Root { return rs.list }

// get returns a root of a tenant.
func (rs *Roots) get(ctx context.Context, tenant library.TenantID, name string) (Root, bool, error) {
	for _, r := range rs.list {
		if r.Name == name {
			of, err := rs.Tenant(ctx, r)
			return r, err == nil && of == tenant, err
		}
	}
	return Root{}, false, nil
}

// Tenant returns the id of the tenant whose root it is; "" where there is none yet.
func (rs *Roots) Tenant(ctx context.Context, r Root) (library.TenantID, error) {
	if r.Tenant != "" {
		return r.Tenant, nil
	}
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if rs.home == "" {
		list, err := rs.tenants.List(ctx)
		if err != nil || len(list) == 0 {
			return "", err
		}
		rs.home = list[0].ID
	}
	return rs.home, nil
}

// Of returns the roots of a tenant.
func (rs *Roots) Of(ctx context.Context, tenant library.TenantID) ([]Root, error) {
	var out []Root
	for _, r := range rs.list {
		of, err := rs.Tenant(ctx, r)
		if err != nil {
			return nil, err
		}
		if of == tenant {
			out = append(out, r)
		}
	}
	return out, nil
}

// Find returns the root and the folder below it that a caller names: an absolute path, or
// the name of a root, with a slash and the path of a folder below it or without. What is no
// folder of a root of the tenant is an error that names the roots.
func (rs *Roots) Find(ctx context.Context, tenant library.TenantID, named string) (Root, string, error) {
	list, err := rs.Of(ctx, tenant)
	if err != nil {
		return Root{}, "", err
	}
	var best Root
	folder := ""
	clean := filepath.Clean(named)
	for _, r := range list {
		if rest, ok := strings.CutPrefix(clean, r.Name); ok && (rest == "" || rest[0] == '/') {
			best, folder = r, strings.TrimPrefix(rest, "/")
			break
		}
		if rel, err := filepath.Rel(r.Dir, clean); filepath.IsAbs(clean) && err == nil && filepath.IsLocal(rel) && len(r.Dir) > len(best.Dir) {
			best, folder = r, filepath.ToSlash(rel)
		}
	}
	if folder == "." {
		folder = ""
	}
	if best.Name == "" || folder != "" && !filepath.IsLocal(filepath.FromSlash(folder)) {
		return Root{}, "", notARoot(list)
	}
	return best, folder, rs.check(best, folder)
}

func notARoot(list []Root) error {
	hint := "The operator allows no folder of this tenant to be imported in place; the setting VITRINE_IMPORT_ROOTS of the service names them."
	if len(list) > 0 {
		var names []string
		for _, r := range list {
			names = append(names, r.Name)
		}
		hint = "Allowed are the folders below these roots, by absolute path or as root/folder: " + strings.Join(names, ", ") + ". The operator adds others in VITRINE_IMPORT_ROOTS."
	}
	return library.Invalid(library.FieldError{Field: "folder", Code: "unknown", Message: "Expected a folder that the operator allows to be imported in place.", Hint: hint})
}

// check reports whether a folder can be opened now.
func (rs *Roots) check(r Root, folder string) error {
	root, err := os.OpenRoot(r.Dir)
	if err != nil {
		return away(r, err)
	}
	defer root.Close()
	info, err := root.Stat(below(folder))
	if err == nil && info.IsDir() {
		return nil
	}
	return library.Invalid(library.FieldError{Field: "folder", Code: "unknown", Message: "There is no such folder in the root " + r.Name + ".", Hint: "Links that lead out of the root are not followed."})
}

// below is a folder as os.Root names it.
func below(folder string) string {
	if folder == "" {
		return "."
	}
	return folder
}

// away is the error of a root that is not there: its disk may be mounted later.
func away(r Root, cause error) error {
	return &library.Error{Kind: library.KindUnavailable, Code: library.CodeFilesUnavailable, RetryAfter: 30 * time.Second, Cause: cause,
		Detail: "The root " + r.Name + " cannot be read at present. Is its disk mounted?"}
}

// open opens a root's folder.
func (r Root) open() (*os.Root, error) {
	root, err := os.OpenRoot(r.Dir)
	if err != nil {
		return nil, away(r, err)
	}
	return root, nil
}

// errNoFile reports something that is no regular file.
var errNoFile = errors.New("it is no regular file")

// openFile opens a regular file below a root. No link leads out of the root, at whatever
// moment it is put there, and nothing that is no file is waited for.
func openFile(root *os.Root, name string) (*os.File, fs.FileInfo, error) {
	f, err := root.OpenFile(path.Clean(name), os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errNoFile
	}
	if err != nil {
		_ = f.Close()
		return nil, nil, err
	}
	return f, info, nil
}
