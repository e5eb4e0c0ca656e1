package export

import (
	"fmt"
	"mime"
	"path"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"vitrine/library"
)

// names gives every file of a zip a name of its own, also where upper and lower case are the
// same, that every system can unpack into the folder it is meant for.
type names struct {
	taken map[string]bool
	tried map[string]int // how many names of a stem were looked at, so that many equal titles take no longer
}

func newNames() *names {
	n := &names{map[string]bool{}, map[string]int{}}
	for _, own := range []string{"manifest.json", "manifest.csv", "credits.txt", "checksums.sha256"} {
		n.taken[own] = true
	}
	return n
}

// next returns the name of the i-th of n files.
func (ns *names) next(naming string, i, n int, a library.Asset, ext string) string {
	number := fmt.Sprintf("%0*d", max(4, len(strconv.Itoa(n))), i+1)
	stem := number
	switch slug := Slug(a.Title); {
	case naming == library.NamingTitle && slug != "":
		stem = slug
	case naming == library.NamingOrdered && slug != "":
		stem = number + "-" + slug
	case naming == library.NamingOriginal:
		stem = Filename(strings.TrimSuffix(a.Filename, path.Ext(a.Filename)))
		if stem == "" {
			stem = number
		}
	}
	return ns.unique(stem, ext)
}

// unique returns a name that no other file has, nor one of those that stand beside it.
func (ns *names) unique(stem, ext string) string {
	base := fold(stem)
	for k := ns.tried[base] + 1; ; k++ {
		ns.tried[base] = k
		name := stem
		if k > 1 {
			name += "-" + strconv.Itoa(k)
		}
		if key := fold(name); !ns.taken[key] && !ns.taken[fold(name+ext)] {
			ns.taken[key], ns.taken[fold(name+ext)] = true, true
			return name + ext
		}
	}
}

// sidecar returns the name of a file beside the one with a stem.
func (ns *names) sidecar(stem, ext string) string {
	if key := fold(stem + ext); !ns.taken[key] {
		ns.taken[key] = true
		return stem + ext
	}
	return ns.unique(stem+"-about", ext)
}

// fold returns what names are compared by: file systems differ in case and in how letters
// are composed.
func fold(name string) string { return strings.ToLower(norm.NFKC.String(name)) }

// maxName is the longest stem of a name in bytes; file systems take 255 with all that is added.
const maxName = 120

// Slug returns a title as a part of a file name or of a URL: its letters and digits in lower
// case, with dashes between words. It is empty where the title has none.
func Slug(title string) string {
	var b strings.Builder
	dash := false
	for _, r := range strings.ToLower(norm.NFC.String(title)) {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) && b.Len() > 0 {
			if dash && b.Len() > 0 {
				b.WriteByte('-')
			}
			if dash = false; b.Len()+utf8.RuneLen(r) > maxName {
				break
			}
			b.WriteRune(r)
		} else {
			dash = true
		}
	}
	return safe(strings.TrimRight(b.String(), "-"))
}

// Filename returns a name without what some system does not take: separators, control
// characters, reserved marks, and dots or spaces at its ends.
func Filename(name string) string {
	name = library.CleanFilename(name)
	var b strings.Builder
	for _, r := range norm.NFC.String(name) {
		if strings.ContainsRune(`<>:"/\|?*`, r) || !unicode.IsPrint(r) {
			r = '_'
		}
		if b.Len()+utf8.RuneLen(r) > maxName {
			break
		}
		b.WriteRune(r)
	}
	return safe(strings.Trim(b.String(), " ."))
}

// safe keeps a name from being one that Windows reserves for devices, or an option of a program.
func safe(name string) string {
	base, _, _ := strings.Cut(name, ".")
	switch up := strings.ToUpper(strings.TrimSpace(base)); {
	case up == "CON", up == "PRN", up == "AUX", up == "NUL", up == "CONIN$", up == "CONOUT$",
		len([]rune(up)) == 4 && (strings.HasPrefix(up, "COM") || strings.HasPrefix(up, "LPT")) && strings.ContainsAny(up[3:], "0123456789¹²³"):
		return "_" + name
	}
	if strings.HasPrefix(name, "-") {
		return "_" + name
	}
	return name
}

// extensionOf returns the extension of an original: its own where that is plain, or else one
// of its type.
func extensionOf(a library.Asset) string {
	ext := strings.ToLower(path.Ext(a.Filename))
	plain := len(ext) > 1 && len(ext) <= 12
	for _, r := range strings.TrimPrefix(ext, ".") {
		plain = plain && (r >= 'a' && r <= 'z' || r >= '0' && r <= '9')
	}
	if plain {
		return ext
	}
	if list, err := mime.ExtensionsByType(a.MIMEType); err == nil && len(list) > 0 {
		return list[0]
	}
	return ".bin"
}
