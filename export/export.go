// Package export writes assets into a zip as a preset asks: what leaves the library holds what
// the preset keeps and nothing else.
//
// In goes an export that the store has begun; out comes a zip among the staged files, streamed
// while it is made, of which no more than one file is on the way at any time. Each file is
// written by media/strip into a temporary file, read again and compared with what may be in
// it, and only then added. One that fails is left out and named with the reason; the others
// are exported.
package export

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"os"
	"time"

	"vitrine/internal/retry"
	"vitrine/library"
	"vitrine/media/blob"
	"vitrine/media/browser"
	"vitrine/media/memory"
	"vitrine/media/strip"
	"vitrine/store"
)

// Builder makes zips.
type Builder struct {
	Store  *store.Store
	Blobs  blob.Store
	Memory *memory.Budget // of decoding
	// Preview returns a picture of an asset that cannot be drawn itself, such as a video.
	Preview func(ctx context.Context, tenant library.TenantID, hash library.AssetHash, edge int) ([]byte, error)
	// WebP returns what encodes lossy WebP, or nil where there is nothing that does: pictures are
	// written as JPEG instead.
	WebP func() strip.WebPEncoder
	// Browser returns what prints decks, or the error that says why there is nothing; nil means there is nothing.
	Browser func() (*browser.Browser, error)
	// MaxBytes bounds a zip; 0 means 1 TiB.
	MaxBytes int64
}

// giveUpAfter is when an export that cannot be made is no longer tried again.
const giveUpAfter = 30 * time.Minute

// Build writes the zip of an export, and notes what became of it. Building one that is
// finished does nothing.
func (b *Builder) Build(ctx context.Context, tenant library.TenantID, id string) error {
	e, err := b.Store.Exports.Claim(ctx, tenant, id)
	if errors.Is(err, store.ErrClaimed) || err == nil && e.State.Finished() {
		return nil
	}
	if err != nil {
		return err
	}
	held, stop := b.hold(ctx, tenant, e)
	defer stop()
	return b.build(held, tenant, e)
}

// renewEvery is how often a claim is renewed while an export is written.
const renewEvery = 10 * time.Second

// hold renews the claim on an export until stop is called, which gives it back. The context
// ends when another process has it.
func (b *Builder) hold(ctx context.Context, tenant library.TenantID, e store.ExportClaim) (held context.Context, stop func()) {
	held, cancel := context.WithCancel(ctx)
	end := retry.Every(held, renewEvery, func(ctx context.Context) {
		if mine, err := b.Store.Exports.Renew(ctx, tenant, e); err == nil && !mine {
			cancel()
		}
	})
	return held, func() {
		cancel()
		end()
		free, drop := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer drop()
		_ = b.Store.Exports.Release(free, tenant, e) // otherwise the claim lapses
	}
}

// build writes the file of an export that this process has claimed.
func (b *Builder) build(ctx context.Context, tenant library.TenantID, e store.ExportClaim) error {
	limit := b.MaxBytes
	if limit == 0 {
		limit = 1 << 40
	}
	write := b.writer(&e, library.Actor{Kind: e.Actor.Kind, ID: e.Actor.ID, Tenant: tenant, Permissions: []library.Permission{library.PermRead, library.PermExport}})
	began := time.Now()
	r, w := io.Pipe()
	go func() { w.CloseWithError(write(ctx, w)) }()
	staged, err := b.Blobs.Stage(ctx, tenant, e.Staged, r, limit)
	r.CloseWithError(errors.Join(err, io.ErrClosedPipe))
	if err != nil {
		if ctx.Err() == nil && time.Since(e.CreatedAt) > giveUpAfter {
			e.State, e.Failed = library.ExportFailed, append(e.Failed, library.ExportFailure{Code: library.CodeInternal, Detail: "The file could not be written. Start the export again."})
			return errors.Join(err, b.Store.Exports.Finish(ctx, tenant, e))
		}
		return err
	}
	e.State, e.Bytes, e.SHA256, e.Duration = library.ExportCompleted, staged.Size, staged.SHA256, time.Since(began)
	if e.Files == 0 && len(e.Failed) > 0 {
		e.State, e.Bytes, e.SHA256 = library.ExportFailed, 0, ""
		if err := b.Blobs.Discard(ctx, tenant, e.Staged); err != nil {
			return err
		}
	}
	return b.Store.Exports.Finish(ctx, tenant, e)
}

// writer returns what writes the zip, or the deck, of an export.
func (b *Builder) writer(e *store.ExportClaim, actor library.Actor) func(context.Context, io.Writer) error {
	if e.Deck != nil {
		return (&deckFile{builder: b, export: e, actor: actor, progress: time.Now()}).write
	}
	return (&zipFile{builder: b, export: e, actor: actor, names: newNames(), progress: time.Now()}).write
}

// reason returns why one asset is left out, for an error that says nothing of the others.
func reason(ctx context.Context, err error) (code, detail string, ok bool) {
	var why *strip.Error
	switch known := library.AsError(err); {
	case errors.As(err, &why):
		return why.Code, why.Detail, true
	case ctx.Err() == nil && (known.Kind == library.KindNotFound || known.Kind == library.KindUnprocessable || known.Kind == library.KindForbidden):
		return known.Code, known.Detail, true
	}
	return "", "", false
}

// zipFile is a zip while it is written.
type zipFile struct {
	builder  *Builder
	export   *store.ExportClaim
	actor    library.Actor
	zip      *zip.Writer
	names    *names
	manifest manifest
	progress time.Time
}

// write writes the whole zip.
func (z *zipFile) write(ctx context.Context, w io.Writer) error {
	z.zip = zip.NewWriter(w)
	z.manifest = manifest{Preset: z.export.Spec.Preset, Files: []entry{}}
	z.export.Failed, z.export.Files = nil, 0
	for i, h := range z.export.Assets {
		err := z.add(ctx, i, h)
		if err == nil {
			z.export.Files++
		} else if code, detail, ok := reason(ctx, err); ok {
			z.fail(i, h, code, detail)
		} else {
			return err
		}
		if time.Since(z.progress) > time.Second {
			z.progress = time.Now()
			if err := z.builder.Store.Exports.Progress(ctx, z.actor.Tenant, *z.export, i+1); err != nil {
				return err
			}
		}
	}
	if err := z.writeManifests(); err != nil {
		return err
	}
	return z.zip.Close()
}

func (z *zipFile) fail(i int, h library.AssetHash, code, detail string) {
	z.export.Failed = append(z.export.Failed, library.ExportFailure{Asset: h, Code: code, Detail: detail})
	f := failure{Position: i + 1, Code: code, Detail: detail}
	if z.tellsHashes() {
		f.Asset = h
	}
	z.manifest.Failed = append(z.manifest.Failed, f)
}

// tellsHashes reports whether the manifest may name originals: their hash finds the file
// anywhere else.
func (z *zipFile) tellsHashes() bool { return z.export.Spec.Original }

// add writes one asset, with what stands beside it.
func (z *zipFile) add(ctx context.Context, i int, h library.AssetHash) error {
	d, object, err := z.builder.open(ctx, z.actor, h)
	if err != nil {
		return err
	}
	defer object.Close()
	about := describe(d, object, z.export.Spec)
	temp, res, err := z.builder.Write(ctx, object, object.Size(), z.export.Spec, about, d.Asset)
	if err != nil {
		return err
	}
	defer temp.discard()
	name := z.names.next(z.export.Spec.Naming, i, len(z.export.Assets), d.Asset, res.Extension)
	sum, err := z.copy(name, temp)
	if err != nil {
		return err
	}
	e := entry{Name: name, MIMEType: res.MIMEType, Bytes: res.Size, SHA256: sum, Disclosed: res.Embedded, Unchanged: res.Unchanged, Notes: res.Notes}
	if z.tellsHashes() {
		e.Asset, e.SHA1 = h, h
	}
	z.manifest.Files = append(z.manifest.Files, e)
	return z.beside(ctx, name, d, about)
}

// open returns what the library knows of an asset that may leave, and its file.
func (b *Builder) open(ctx context.Context, actor library.Actor, h library.AssetHash) (store.AssetDetail, blob.Object, error) {
	d, err := b.Store.Assets.Get(ctx, actor, h)
	if err != nil {
		return d, nil, err
	}
	if d.Asset.Visibility == library.VisibilityPrivate { // since the export began
		return d, nil, library.NewError(library.KindForbidden, library.CodeAssetPrivate, "The asset has become private.")
	}
	object, err := b.Blobs.Open(ctx, actor.Tenant, h)
	if err != nil {
		if library.AsError(err).Kind == library.KindNotFound {
			err = library.NewError(library.KindNotFound, library.CodeFileMissing, "The asset's file is missing.")
		}
		return d, nil, err
	}
	if object.Size() != d.Asset.Size {
		_ = object.Close()
		return d, nil, library.NewError(library.KindUnprocessable, library.CodeFileDamaged, "The asset's file is damaged: it has another size than was stored.")
	}
	return d, object, nil
}

// copy adds a temporary file to the zip as it is: media is compressed already.
func (z *zipFile) copy(name string, temp *tempFile) (sum string, err error) {
	w, err := z.create(name)
	if err != nil {
		return "", err
	}
	if _, err := temp.file.Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	h := sha256.New()
	if _, err := io.Copy(io.MultiWriter(w, h), temp.file); err != nil {
		return "", err
	}
	return hexOf(h), nil
}

func hexOf(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil)) }

// create begins a file of the zip, without a time of its own.
func (z *zipFile) create(name string) (io.Writer, error) {
	z.names.taken[fold(name)] = true
	return z.zip.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
}

func (z *zipFile) put(name string, data []byte) error {
	w, err := z.create(name)
	if err == nil {
		_, err = w.Write(data)
	}
	return err
}

// tempFile is a file on the way into a zip.
type tempFile struct{ file *os.File }

func (t *tempFile) discard() {
	_ = t.file.Close()
	_ = os.Remove(t.file.Name())
}

// Write writes an asset's file as a spec asks into a temporary file, and verifies it.
func (b *Builder) Write(ctx context.Context, r io.ReaderAt, size int64, spec library.ExportSpec, about About, a library.Asset) (*tempFile, strip.Result, error) {
	f, err := os.CreateTemp("", "vitrine-export-")
	if err != nil {
		return nil, strip.Result{}, err
	}
	t := &tempFile{f}
	res, err := b.writeTo(ctx, f, r, size, spec, about, a)
	if err != nil {
		t.discard()
		return nil, res, err
	}
	return t, res, nil
}

func (b *Builder) writeTo(ctx context.Context, f *os.File, r io.ReaderAt, size int64, spec library.ExportSpec, about About, a library.Asset) (strip.Result, error) {
	if spec.Unchanged() {
		return original(f, r, size, a)
	}
	o := b.options(spec, about)
	res, err := strip.Write(ctx, f, r, size, o)
	if err == nil {
		err = strip.Verify(ctx, f, res.Size, o)
	}
	return res, err
}

// original copies a file and compares it with the hash that it was stored under.
func original(f *os.File, r io.ReaderAt, size int64, a library.Asset) (strip.Result, error) {
	h := blob.NewDigest()
	n, err := io.Copy(io.MultiWriter(f, h), io.NewSectionReader(r, 0, size))
	if err == nil && h.Sum().SHA1 != a.Hash {
		err = library.NewError(library.KindUnprocessable, library.CodeFileDamaged, "The asset's file is damaged: its bytes are not those that were stored.")
	}
	return strip.Result{MIMEType: a.MIMEType, Extension: extensionOf(a), Size: n, Unchanged: true}, err
}

// options returns how media/strip writes a file.
func (b *Builder) options(spec library.ExportSpec, about About) strip.Options {
	k := spec.Keep
	o := strip.Options{Format: strip.Format(spec.Format), Exact: spec.Exact, MaxEdge: spec.MaxEdge, Quality: spec.Quality, Memory: b.Memory, EncodeWebP: b.WebP(),
		Disclosure: about.disclosure(spec),
		Keep:       strip.Keep{Generation: k.Prompts && k.Workflow && k.Models, EXIF: k.EXIF, GPS: k.GPS, IPTC: k.IPTC, NoICC: !k.ICC}}
	if w := spec.Watermark; w != nil {
		o.Watermark = &strip.Watermark{Text: w.Text, Position: w.Position, Opacity: w.Opacity}
	}
	return o
}

// Bytes is Write for pictures that are small enough to be held: it returns the file, verified.
func (b *Builder) Bytes(ctx context.Context, r io.ReaderAt, size int64, spec library.ExportSpec, about About) (file []byte, mimeType string, err error) {
	var out bytes.Buffer
	o := b.options(spec, about)
	res, err := strip.Write(ctx, &out, r, size, o)
	if err == nil {
		err = strip.Verify(ctx, bytes.NewReader(out.Bytes()), res.Size, o)
	}
	return out.Bytes(), res.MIMEType, err
}
