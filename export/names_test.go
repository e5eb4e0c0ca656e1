package export

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"vitrine/internal/randtest"
	"vitrine/internal/testenv"
	"vitrine/library"
)

// knownNames are names that did harm elsewhere.
var knownNames = []string{
	"../../etc/passwd", `..\..\windows\system32\x.dll`, "/etc/cron.d/x", `C:\autoexec.bat`, "C:evil.png", `\\server\share\x`, "..", ".", "...", "", " ", "  .  ", ".htaccess", "~/.ssh/authorized_keys",
	"CON", "con.png", "Prn .txt", "AUX.", "NUL.tar.gz", "COM1", "com¹.png", "LPT9.jpeg", "CONIN$", "clock$", "nul:", "name.png::$DATA", "a:b", "a?b*c", `q"uote`, "pipe|<>", "tab\there", "line\nfeed", "nul\x00byte", "bell\a",
	"\u202egnp.exe", "x\u202e\u2066gpj", "\ufeffbom", "zero\u200bwidth", "a\u0300", "à", "À", "A\u0300", "Straße", "STRASSE", "ﬁle", "file", "FILE", "File", "ＦＩＬＥ", "K", "k", "\u212a", "İ", "i̇", "\xff\xfe", "a\xc3", "%2e%2e%2f", "..%c0%af",
	"-rf", "--help", "$(reboot)", "`id`", "; rm -rf /", "manifest.json", "MANIFEST", "Manifest.CSV", "credits", "checksums.sha256", "0001", "0002-a", "a-2", "a", "A", "a ", "a.", ".a", "a..b", "trailing.", "trailing ", "=cmd|' /C calc'!A0",
	strings.Repeat("n", 400), strings.Repeat("長", 300), strings.Repeat("🎉", 200), strings.Repeat("e\u0301", 300), "desktop.ini", "Thumbs.db", ".DS_Store", "__MACOSX", "日本語", "العربية", "עברית", "👩‍👩‍👧‍👦", "\u2028", "\u0085", "café", "cafe\u0301",
}

// hostileName returns a known name, a mixture of them, or any characters.
func hostileName(r *rand.Rand) string {
	name := knownNames[r.IntN(len(knownNames))]
	switch r.IntN(4) {
	case 0:
		name += []string{"/", `\`, ".", " ", ".PNG", ".png ", "\u202e"}[r.IntN(7)] + knownNames[r.IntN(len(knownNames))]
	case 1:
		var b strings.Builder
		for range 1 + r.IntN(40) {
			b.WriteRune(rune(r.IntN(0x3000)))
		}
		name = b.String()
	case 2:
		name = strings.ToUpper(name)
	}
	return name
}

// zipOf writes empty-ish files under the names that assets get, with a sidecar beside each.
func zipOf(t *testing.T, naming string, assets []library.Asset) []byte {
	t.Helper()
	var b bytes.Buffer
	z := &zipFile{names: newNames(), zip: zip.NewWriter(&b)}
	f, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for i, a := range assets {
		name := z.names.next(naming, i, len(assets), a, extensionOf(a))
		if _, err := z.copy(name, &tempFile{f}); err != nil {
			t.Fatal(err)
		}
		if err := z.put(z.names.sidecar(strings.TrimSuffix(name, filepath.Ext(name)), ".json"), []byte("{}")); err != nil {
			t.Fatal(err)
		}
	}
	for _, own := range []string{"manifest.json", "manifest.csv", "credits.txt", "checksums.sha256"} {
		if err := z.put(own, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.zip.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// harm returns what is wrong with a name of a zip, on any system, or "".
func harm(name string) string {
	base, _, _ := strings.Cut(name, ".")
	base = strings.ToUpper(strings.TrimRight(base, " "))
	switch {
	case !utf8.ValidString(name), name == "", strings.ContainsAny(name, `/\:*?"<>|`), strings.Contains(name, "\x00"):
		return "separators or reserved marks"
	case strings.HasPrefix(name, "..") || strings.HasSuffix(name, ".") || strings.HasSuffix(name, " ") || strings.HasPrefix(name, " ") || strings.HasPrefix(name, "-"):
		return "its beginning or end"
	case len(name) > 255 || len(utf16.Encode([]rune(name))) > 255:
		return "its length"
	case base == "CON" || base == "PRN" || base == "AUX" || base == "NUL" || base == "CONIN$" || base == "CONOUT$" || len([]rune(base)) == 4 && (strings.HasPrefix(base, "COM") || strings.HasPrefix(base, "LPT")) && strings.ContainsAny(base[3:], "123456789¹²³"):
		return "a device"
	}
	for _, r := range name {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == 0x2028 || r == 0x2029 {
			return "a control character"
		}
	}
	return ""
}

// unpack has Python unpack a zip and return the files that then exist.
const unpack = `
import json, os, sys, zipfile
z = zipfile.ZipFile(sys.argv[1])
assert z.testzip() is None
z.extractall(sys.argv[2])
print(json.dumps({"names": z.namelist(), "files": [os.path.relpath(os.path.join(d, f), sys.argv[2]) for d, _, l in os.walk(sys.argv[2]) for f in l], "outside": sorted(os.listdir(os.path.dirname(sys.argv[2])))}))
`

func TestZip_HostileNamesUnpackSafelyAndApart(t *testing.T) {
	t.Parallel()
	randtest.Run(t, func(t *testing.T, r *rand.Rand) {
		var assets []library.Asset
		for _, name := range knownNames {
			assets = append(assets, library.Asset{Title: name, Filename: name + ".png", MIMEType: "image/png"}, library.Asset{Title: name + " ", Filename: name, MIMEType: "image/jpeg"})
		}
		for len(assets) < 500 {
			assets = append(assets, library.Asset{Title: hostileName(r), Filename: hostileName(r), MIMEType: "image/webp"})
		}
		for _, naming := range []string{library.NamingNeutral, library.NamingTitle, library.NamingOrdered, library.NamingOriginal} {
			data := zipOf(t, naming, assets)
			dir := t.TempDir()
			path, out := filepath.Join(dir, "a.zip"), filepath.Join(dir, "out")
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
			said, err := exec.Command(testenv.Tool(t, "pdf-readers"), "-c", unpack, path, out).CombinedOutput()
			var got struct{ Names, Files, Outside []string }
			if err := errorOr(err, json.Unmarshal(said, &got)); err != nil {
				t.Fatalf("%v %s", err, said)
			}
			if len(got.Names) != 2*len(assets)+4 || len(got.Files) != len(got.Names) || len(got.Outside) != 2 {
				t.Errorf("%s: %d names, %d files, beside the folder %v", naming, len(got.Names), len(got.Files), got.Outside)
			}
			seen := map[string]string{}
			for _, name := range got.Names {
				if why := harm(name); why != "" {
					t.Errorf("%s: %q: %s", naming, name, why)
				}
				if other, twice := seen[fold(name)]; twice {
					t.Errorf("%s: %q and %q are one file where case does not count", naming, name, other)
				}
				seen[fold(name)] = name
			}
		}
	})
}

func errorOr(err, other error) error {
	if err != nil {
		return err
	}
	return other
}

func TestZip_ManyEqualTitlesTakeNoLonger(t *testing.T) {
	t.Parallel()
	ns, looked := newNames(), map[string]bool{}
	for i := range 50_000 { // looking at all earlier names each time would take minutes
		name := ns.next(library.NamingTitle, i, 50_000, library.Asset{Title: "Untitled"}, ".png")
		if looked[name] {
			t.Fatalf("%q twice", name)
		}
		looked[name] = true
	}
	if !looked["untitled.png"] || !looked["untitled-50000.png"] {
		t.Error("names are not numbered from the first on")
	}
}

// listing has Python list a zip's size and read its last file.
const listing = `
import sys, zipfile
z = zipfile.ZipFile(sys.argv[1])
l = z.infolist()
print(len(l), max(i.file_size for i in l), max(i.header_offset for i in l), z.read(l[-1]).decode())
`

func TestZip_MoreFilesThanTheFirstZipFormatAllows(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "many.zip")
	writeZip(t, path, func(z *zipFile) error {
		for i := range 70_000 {
			if err := z.put(fmt.Sprintf("%05d.txt", i), nil); err != nil {
				return err
			}
		}
		return z.put("last.txt", []byte("end"))
	})
	checkListing(t, path, "70001 3 ")
}

func TestZip_LargerThanFourGigabytes(t *testing.T) {
	t.Parallel()
	const size = 4<<30 + 12345
	path := filepath.Join(t.TempDir(), "large.zip")
	writeZip(t, path, func(z *zipFile) error {
		w, err := z.create("film.mp4")
		if err != nil {
			return err
		}
		block := make([]byte, 1<<20)
		for left := int64(size); left > 0; left -= int64(len(block)) {
			if _, err := w.Write(block[:min(left, int64(len(block)))]); err != nil {
				return err
			}
		}
		return z.put("last.txt", []byte("end"))
	})
	checkListing(t, path, fmt.Sprint("2 ", int64(size), " "))
}

// writeZip writes a zip into a file in which zeros take no room.
func writeZip(t *testing.T, path string, fill func(*zipFile) error) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z := &zipFile{names: newNames(), zip: zip.NewWriter(holes{f})}
	if err := errorOr(fill(z), z.zip.Close()); err != nil {
		t.Fatal(err)
	}
}

func checkListing(t *testing.T, path, want string) {
	t.Helper()
	out, err := exec.Command(testenv.Tool(t, "pdf-readers"), "-c", listing, path).CombinedOutput()
	if err != nil || !strings.HasPrefix(string(out), want) || !strings.HasSuffix(strings.TrimSpace(string(out)), " end") {
		t.Errorf("%v %s, want %s", err, out, want)
	}
}

// holes is a file whose long runs of zeros are not written.
type holes struct{ *os.File }

var zeroBlock = make([]byte, 1<<20)

func (h holes) Write(p []byte) (int, error) {
	if len(p) >= 4096 && bytes.Equal(p, zeroBlock[:min(len(p), len(zeroBlock))]) {
		_, err := h.Seek(int64(len(p)), io.SeekCurrent)
		return len(p), err
	}
	return h.File.Write(p)
}
