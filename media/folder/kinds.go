// Package folder knows what lies in the folders that generators write: which files are
// media, which of the others belong to them, and what is of no use.
//
// In come names and listings; out come pairs and reasons. Files are only read, and only
// through the functions that the caller gives.
package folder

import (
	"path"
	"strings"
)

// IsMedia reports whether a MIME type is of the kinds that the library is for.
func IsMedia(mime string) bool {
	for _, family := range []string{"image/", "video/", "audio/", "model/"} {
		if strings.HasPrefix(mime, family) {
			return true
		}
	}
	return false
}

// MediaName reports whether a file calls itself media.
func MediaName(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".png", ".jpg", ".jpeg", ".webp", ".gif", ".avif", ".heic", ".tif", ".tiff", ".bmp", ".svg", ".mp4", ".mov", ".webm", ".mkv",
		".mp3", ".flac", ".ogg", ".opus", ".wav", ".glb", ".gltf":
		return true
	}
	return false
}

// videoName reports whether a file calls itself something that moves.
func videoName(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".mp4", ".mov", ".webm", ".mkv", ".gif", ".webp", ".avi":
		return true
	}
	return false
}
