package importer

import (
	"encoding/base64"
	"io"
	"os"
	"path/filepath"

	"vitrine/api/client"
	"vitrine/library"
	"vitrine/media/folder"
)

// listings are the names in the folders that were asked about last: the walk stays in a
// folder for many files.
type listings map[string]*folder.Listing

// keptListings bounds the listings.
const keptListings = 32

// of returns the names of the files in a folder; none of one that cannot be listed.
func (l listings) of(dir string) *folder.Listing {
	if kept, ok := l[dir]; ok {
		return kept
	}
	if len(l) >= keptListings {
		clear(l)
	}
	var names []string
	entries, _ := os.ReadDir(dir) // a folder that cannot be listed has no sidecars to offer
	for _, e := range entries {
		if !e.IsDir() {
			names = append(names, e.Name())
		}
	}
	l[dir] = folder.NewListing(names)
	return l[dir]
}

// mediaOf returns the name of the media file that a text file goes with, or nothing.
func (l listings) mediaOf(path string) string {
	return l.of(filepath.Dir(path)).MediaOf(filepath.Base(path))
}

// sidecarsOf returns the paths of a media file's sidecars, those that tell most first.
func (l listings) sidecarsOf(path, mime string) []string {
	dir := filepath.Dir(path)
	names := l.of(dir).SidecarsOf(filepath.Base(path), moves(path, mime))
	for i := range names {
		names[i] = filepath.Join(dir, names[i])
	}
	return names
}

// moves reports whether a file is a video or an animation.
func moves(path, mime string) bool {
	f, err := os.Open(path)
	if err != nil {
		return folder.Moves(mime, nil)
	}
	defer f.Close()
	head := make([]byte, folder.MovesHead)
	n, _ := io.ReadFull(f, head) // what is shorter does not say that it moves
	return folder.Moves(mime, head[:n])
}

// readSidecars reads what fits. trouble names those that are left out, and why.
func readSidecars(paths []string) (read []client.AssetSidecar, trouble string) {
	left := int64(folder.SidecarsLimit)
	for _, path := range paths {
		name := filepath.Base(path)
		data, err := sidecarData(path, left)
		switch {
		case err != nil:
			trouble = "its sidecar " + name + " cannot be read: " + cause(err).Error()
		case int64(len(data)) > left:
			trouble = "its sidecar " + name + " is too large"
		case len(data) > 0:
			read = append(read, client.AssetSidecar{Filename: library.CleanFilename(name), DataBase64: base64.StdEncoding.EncodeToString(data)})
			left -= int64(len(data))
		}
	}
	return read, trouble
}

// sidecarData reads at most one byte more than limit of a sidecar.
func sidecarData(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return folder.ReadSidecar(f, filepath.Base(path), limit)
}
