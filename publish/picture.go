package publish

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
	"time"

	"vitrine/export"
	"vitrine/library"
	"vitrine/media/preview"
	"vitrine/media/strip"
	"vitrine/store"
)

const (
	// smallEdge is the longest edge of the pictures among others, and smallSuffix what stands
	// behind their ids.
	smallEdge   = 720
	smallSuffix = "-small"
	// maxPicture bounds a picture that is held to be sent; of larger ones the preview is shown.
	maxPicture = 64 << 20
)

// shown are the types that browsers show, with the extension of a download.
var shown = map[string]string{"image/jpeg": ".jpg", "image/png": ".png", "image/webp": ".webp", "image/gif": ".gif", "image/avif": ".avif"}

// picture is a picture as it is sent.
type picture struct {
	mimeType string
	data     []byte
}

// picture returns a picture of a page, made now unless it is kept already. Of what is no picture it
// is the preview.
func (s *Site) picture(ctx context.Context, p library.Publication, a store.PublishedAsset, small bool) (picture, error) {
	spec := p.Spec
	if small {
		spec.Format, spec.Exact, spec.MaxEdge, spec.Quality = "jpeg", false, smallEdge, 80
	}
	about := export.AboutAsset(a.Asset, a.Lineage)
	key, err := json.Marshal(struct {
		Spec  library.ExportSpec
		About export.About
		Small bool
	}{spec, about, small})
	if err != nil {
		return picture{}, err
	}
	sum := sha256.Sum256(key)
	name := "page-" + hex.EncodeToString(sum[:12]) + ".bin"
	if pic, ok := s.kept(ctx, p.Tenant, a.Asset.Hash, name); ok {
		return pic, nil
	}
	select {
	case s.turns <- struct{}{}:
		defer func() { <-s.turns }()
	case <-ctx.Done():
		return picture{}, ctx.Err()
	}
	if pic, ok := s.kept(ctx, p.Tenant, a.Asset.Hash, name); ok { // somebody made it meanwhile
		return pic, nil
	}
	pic, err := s.draw(ctx, p.Tenant, a, spec, about, small)
	if why := (*strip.Error)(nil); errors.As(err, &why) {
		err = errNoPicture()
	}
	if err != nil {
		return picture{}, err
	}
	return pic, s.blobs.PutDerived(ctx, p.Tenant, a.Asset.Hash, name, append([]byte(pic.mimeType+"\n"), pic.data...))
}

func (s *Site) kept(ctx context.Context, tenant library.TenantID, h library.AssetHash, name string) (picture, bool) {
	file, err := s.blobs.GetDerived(ctx, tenant, h, name)
	if err != nil {
		return picture{}, false
	}
	head, rest, ok := bytes.Cut(file, []byte("\n"))
	return picture{string(head), rest}, ok
}

// draw writes a picture as a spec asks: from the original, or from the preview where it is to be
// small, or where the original is no picture or none that can be written so that browsers show it.
func (s *Site) draw(ctx context.Context, tenant library.TenantID, a store.PublishedAsset, spec library.ExportSpec, about export.About, small bool) (picture, error) {
	if !small && strings.HasPrefix(a.Asset.MIMEType, "image/") && a.Asset.Size <= maxPicture {
		object, err := s.blobs.Open(ctx, tenant, a.Asset.Hash)
		if err != nil {
			return picture{}, err
		}
		defer object.Close()
		pic, err := s.write(ctx, object, object.Size(), spec, about)
		if why := (*strip.Error)(nil); !errors.As(err, &why) {
			return pic, err
		}
	}
	edge := 2048
	if small {
		edge = 1024
	}
	file, err := s.previews.Picture(ctx, tenant, a.Asset.Hash, edge)
	if err != nil {
		if kind := library.AsError(preview.Error(err)).Kind; kind == library.KindNotFound || kind == library.KindUnprocessable {
			return picture{}, errNoPicture()
		}
		return picture{}, err
	}
	return s.write(ctx, bytes.NewReader(file), int64(len(file)), spec, about)
}

// write writes a picture as a spec asks, verified. A format that browsers do not show is an
// error of package strip, as is one that cannot be written.
func (s *Site) write(ctx context.Context, r io.ReaderAt, size int64, spec library.ExportSpec, about export.About) (picture, error) {
	data, mimeType, err := s.builder.Bytes(ctx, r, size, spec, about)
	if err == nil && shown[mimeType] == "" {
		err = &strip.Error{Code: strip.CodeUnsupported, Detail: "Browsers do not show this format."}
	}
	return picture{mimeType, data}, err
}

// servePicture sends a picture so that a browser can do nothing with it but show or save it.
func servePicture(w http.ResponseWriter, r *http.Request, pic picture, p library.Publication, a store.PublishedAsset) error {
	h := w.Header()
	h.Set("Content-Type", pic.mimeType)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "sandbox; default-src 'none'")
	h.Set("Cross-Origin-Resource-Policy", "cross-origin") // pages elsewhere may show what is public
	h.Set("Cache-Control", "private, max-age=300")
	if !p.Indexed {
		h.Set("X-Robots-Tag", "noindex")
	}
	if p.AllowDownload && slices.Contains(r.URL.Query()["download"], "1") {
		name := cmp.Or(export.Slug(a.Asset.Title), "picture") + shown[pic.mimeType]
		h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": name}))
	}
	sum := sha256.Sum256(pic.data)
	h.Set("ETag", `"`+hex.EncodeToString(sum[:16])+`"`)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(pic.data))
	return nil
}
