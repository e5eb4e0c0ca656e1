package blob

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/uuid"

	"vitrine/library"
)

// markName is the file that tells a blob folder from an empty mount point. It holds
// the folder's id.
const markName = "vitrine-blobs"

// markTemp begins the name of a mark that is not in its place yet.
const markTemp = ".mark-"

// FolderState is what stands at a path where a blob folder is looked for.
type FolderState string

// The states of a folder.
const (
	FolderMissing FolderState = "missing" // there is no folder
	FolderEmpty   FolderState = "empty"   // an empty one: new, or a mount point without its volume
	FolderForeign FolderState = "foreign" // files, but no mark
	FolderMarked  FolderState = "marked"  // a blob folder
)

// Folder is what Inspect finds.
type Folder struct {
	Path  string      `json:"path"`
	State FolderState `json:"state"`
	ID    string      `json:"store_id"` // of a marked one; empty when its mark cannot be read as one
	// HasAssets reports that there is a folder for committed bytes, as in a copy
	// whose mark was left behind.
	HasAssets bool `json:"has_assets"`
}

// Inspect looks at a path and changes nothing.
func Inspect(dir string) (Folder, error) {
	f := Folder{Path: dir, State: FolderEmpty}
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		f.State = FolderMissing
		return f, nil
	}
	if err != nil {
		return f, fmt.Errorf("reading the blob folder: %w", err)
	}
	for _, e := range entries {
		switch name := e.Name(); {
		case name == markName:
			f.State = FolderMarked
		case name == "lost+found" || strings.HasPrefix(name, markTemp):
			continue
		case name == "assets":
			f.HasAssets = e.IsDir()
		}
		if f.State == FolderEmpty {
			f.State = FolderForeign
		}
	}
	if f.State == FolderMarked {
		f.ID, err = readMark(filepath.Join(dir, markName))
	}
	return f, err
}

func readMark(path string) (string, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("reading the mark of the blob folder: %w", err)
	}
	id := strings.TrimSpace(string(raw))
	if uuid.Validate(id) != nil {
		return "", nil
	}
	return id, nil
}

// describe returns what was found, as the end of a sentence on the folder.
func (f Folder) describe() string {
	switch {
	case f.State == FolderMissing:
		return "it is missing"
	case f.State == FolderEmpty:
		return "it is empty"
	case f.State == FolderForeign:
		return "it holds files but no " + markName
	case f.ID == "":
		return "its " + markName + " holds no id"
	}
	return "it has the store id " + f.ID
}

// FolderError reports that a path holds another blob folder than the library's, or
// none.
type FolderError struct {
	Folder
	Want string // the id that was expected; empty when none is recorded
}

// Error returns what was expected, what was found and what to do.
func (e *FolderError) Error() string {
	want := "the one with the store id " + e.Want
	if e.Want == "" {
		want = "one that holds the files of the library's assets"
	}
	return fmt.Sprintf("the %s %s is not the library's: expected is %s, and %s. %s "+
		"If this %[1]s is to take its place, run: vitrine blobs adopt", e.noun(), e.Path, want, e.describe(), e.remedy())
}

// unavailable is what a client is told of a FolderError.
func unavailable(err error) error {
	return &library.Error{Kind: library.KindUnavailable, Code: library.CodeFilesUnavailable, RetryAfter: folderRetry, Cause: err,
		Detail: "The storage for files is not there right now, so nothing was read or stored. Repeat the request later; vitrine doctor tells an operator what is wrong."}
}

// MarkFolder makes a blob folder of a missing or empty one, or of a copy that lacks
// its mark, and returns its id: the one that is there, or a new one. A folder that
// holds other things is refused: it is probably the wrong one.
func MarkFolder(dir string) (id string, err error) {
	f, err := Inspect(dir)
	if err != nil {
		return "", err
	}
	switch {
	case f.ID != "":
		return f.ID, nil
	case f.State == FolderForeign && !f.HasAssets:
		return "", fmt.Errorf("%s holds files but no %s: it is no blob folder of Vitrine; name another folder, or mount the right volume", dir, markName)
	}
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return "", fmt.Errorf("making the blob folder: %w", err)
	}
	if f.State == FolderMarked { // an empty mark, of a disk that failed
		if err := os.Remove(filepath.Join(dir, markName)); err != nil {
			return "", err
		}
	}
	return writeMark(dir)
}

// writeMark links the mark into place whole: of two processes that start together
// one wins, and both read the same id.
func writeMark(dir string) (string, error) {
	temp, err := os.CreateTemp(dir, markTemp+"*")
	if err != nil {
		return "", fmt.Errorf("marking the blob folder: %w", err)
	}
	defer os.Remove(temp.Name())
	_, err = temp.WriteString(uuid.NewString() + "\n")
	if err := errors.Join(err, temp.Chmod(0o640), temp.Sync(), temp.Close()); err != nil {
		return "", fmt.Errorf("marking the blob folder: %w", err)
	}
	mark := filepath.Join(dir, markName)
	if err := os.Link(temp.Name(), mark); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("marking the blob folder: %w", err)
	}
	if err := syncPath(dir); err != nil {
		return "", err
	}
	return readMark(mark)
}

// HasFile reports whether a folder, of any id, holds an asset's bytes at their size.
func HasFile(dir string, tenant library.TenantID, h library.AssetHash, size int64) bool {
	name, err := assetPath("assets", tenant, h)
	if err != nil {
		return false
	}
	info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name)))
	return err == nil && info.Mode().IsRegular() && info.Size() == size
}

func syncPath(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
