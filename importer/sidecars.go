package importer

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"vitrine/api/client"
	"vitrine/library"
)

// What a service takes of sidecars with one file.
const (
	mostSidecars  = 5
	sidecarsLimit = 2 << 20 // bytes together
)

// sidecarKinds are the endings of the text files that generators put beside the
// media files they write, those that tell most first.
var sidecarKinds = []string{".json", ".txt", ".yaml", ".yml", ".xmp"}

// neighbours knows what lies beside a file. It keeps the listings of the folders
// that were asked about last: the walk stays in a folder for many files.
type neighbours struct {
	folders map[string]map[string][]string // folder → folded stem → names
}

// keptFolders bounds the listings.
const keptFolders = 32

// sameStem returns the names of the files in the same folder that share a file's
// name up to an ending, itself included.
func (n *neighbours) sameStem(folder, stem string) []string {
	listing, known := n.folders[folder]
	if !known {
		if n.folders == nil || len(n.folders) >= keptFolders {
			n.folders = map[string]map[string][]string{}
		}
		listing = map[string][]string{}
		entries, _ := os.ReadDir(folder) // a folder that cannot be listed has no neighbours to offer
		for _, e := range entries {
			if !e.IsDir() {
				s := strings.ToLower(stemOf(e.Name()))
				listing[s] = append(listing[s], e.Name())
			}
		}
		n.folders[folder] = listing
	}
	return listing[strings.ToLower(stem)]
}

func stemOf(name string) string { return strings.TrimSuffix(name, filepath.Ext(name)) }

// mediaOf returns the name of the media file that a text file goes with, or nothing:
// fox.png for fox.txt and for fox.png.json.
func (n *neighbours) mediaOf(path string) string {
	if !slices.Contains(sidecarKinds, strings.ToLower(filepath.Ext(path))) {
		return ""
	}
	folder, stem := filepath.Dir(path), strings.TrimSuffix(stemOf(filepath.Base(path)), swarmMark)
	candidates := n.sameStem(folder, stem)
	if mediaName(stem) {
		candidates = slices.Concat(named(n.sameStem(folder, stemOf(stem)), stem), candidates)
	}
	for _, name := range candidates {
		if mediaName(name) {
			return name
		}
	}
	return ""
}

func named(names []string, want string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !strings.EqualFold(name, want) })
}

// sidecarsOf returns the paths of a media file's sidecars, those that tell most
// first; of what moves also the picture of the same name, which holds its first
// frame: ComfyUI's video nodes write the graph there.
func (n *neighbours) sidecarsOf(path, mime string) []string {
	folder, name := filepath.Split(path)
	folder = filepath.Clean(folder)
	stem := stemOf(name)
	names := slices.Concat(n.sameStem(folder, stem), n.sameStem(folder, name), n.sameStem(folder, stem+swarmMark))
	kinds := sidecarKinds
	if moves(path, mime) {
		kinds = append(slices.Clone(kinds), ".png")
		if silent, found := strings.CutSuffix(stem, soundMark); found {
			names = append(names, n.sameStem(folder, silent)...)
		}
	}
	var out []string
	for _, kind := range kinds {
		for _, beside := range names {
			if beside != name && strings.EqualFold(filepath.Ext(beside), kind) && len(out) < mostSidecars {
				out = append(out, filepath.Join(folder, beside))
			}
		}
	}
	return out
}

const (
	// soundMark ends the name of a video that VideoHelperSuite made of another by
	// adding sound; the first frame keeps the name without it.
	soundMark = "-audio"
	// swarmMark stands before the ending of the text that SwarmUI writes beside
	// what cannot hold it: clip.mp4 has clip.swarm.json.
	swarmMark = ".swarm"
)

// moves reports whether a file is a video or an animation.
func moves(path, mime string) bool {
	switch {
	case strings.HasPrefix(mime, "video/"), mime == "image/gif":
		return true
	case mime != "image/webp":
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	var head [21]byte // RIFF size WEBP VP8X size flags, of which the second bit says that it moves
	_, err = io.ReadFull(f, head[:])
	return err == nil && string(head[12:16]) == "VP8X" && head[20]&2 != 0
}

// readSidecars reads what fits. trouble names those that are left out, and why.
func readSidecars(paths []string) (read []client.AssetSidecar, trouble string) {
	left := int64(sidecarsLimit)
	for _, path := range paths {
		data, err := sidecarData(path, left)
		switch {
		case err != nil:
			trouble = "its sidecar " + filepath.Base(path) + " cannot be read: " + cause(err).Error()
		case int64(len(data)) > left:
			trouble = "its sidecar " + filepath.Base(path) + " is too large"
		case len(data) > 0:
			read = append(read, client.AssetSidecar{Filename: library.CleanFilename(filepath.Base(path)), DataBase64: base64.StdEncoding.EncodeToString(data)})
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
	if strings.EqualFold(filepath.Ext(path), ".png") {
		return withoutPixels(f, limit)
	}
	return io.ReadAll(io.LimitReader(f, limit+1))
}

const pngSignature = "\x89PNG\r\n\x1a\n"

// withoutPixels returns a PNG file without its picture: only its metadata is of use.
// What is no PNG, and what comes after a damage, is left out.
func withoutPixels(f io.ReadSeeker, limit int64) ([]byte, error) {
	head := make([]byte, 8)
	if _, err := io.ReadFull(f, head); err != nil || string(head) != pngSignature {
		return nil, nil //nolint:nilerr // no PNG, so no metadata of one
	}
	out := bytes.NewBufferString(pngSignature)
	for int64(out.Len()) <= limit {
		if _, err := io.ReadFull(f, head); err != nil {
			return out.Bytes(), nil //nolint:nilerr // the end
		}
		size, kind := int64(binary.BigEndian.Uint32(head)), string(head[4:])
		if kind == "IDAT" || kind == "fdAT" {
			if _, err := f.Seek(size+4, io.SeekCurrent); err != nil {
				return nil, err
			}
			continue
		}
		out.Write(head)
		if _, err := io.CopyN(out, f, min(size, limit)+4); err != nil {
			return nil, nil //nolint:nilerr // a broken chunk: nothing of it is of use
		}
	}
	return out.Bytes(), nil
}
