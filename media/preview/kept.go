package preview

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path"
	"strconv"
	"time"

	"vitrine/library"
	"vitrine/media/blob"
	"vitrine/media/gltf"
	"vitrine/media/memory"
)

// PosterName is the derived file that holds the poster of a 3D model: a JPEG of at
// most PosterEdge.
const (
	PosterName = "poster.jpg"
	PosterEdge = 2048
)

// inlineName is the derived file that holds a preview of at most MaxInline bytes,
// where the kept previews are all larger.
const inlineName = "inline.jpg"

// inlineEdge is the preview that travels inside a reply when it is small enough.
const inlineEdge = 1024

// Maker makes previews of stored files and keeps them beside the files. It is safe
// for concurrent use.
type Maker struct {
	// FFmpeg returns the program that reads frames of videos, or nil where there is none:
	// videos have no previews then. It is not called before a video needs it.
	FFmpeg func() *FFmpeg
	// Vips returns the program that reads AVIF, HEIC and JPEG XL, or nil where there is none,
	// likewise.
	Vips func() *Vips

	blobs  blob.Store
	budget *memory.Budget
	making flights
}

// NewMaker returns a maker over the files of a store, which has no programs.
func NewMaker(blobs blob.Store, budget *memory.Budget) *Maker {
	return &Maker{FFmpeg: func() *FFmpeg { return nil }, Vips: func() *Vips { return nil }, blobs: blobs, budget: budget}
}

// Picture returns a preview of an asset, made now unless it is kept already.
// Callers that want the same one share one making, which ends when all of them have
// left. The errors are those of Error, and NOT_FOUND where there are no bytes.
func (m *Maker) Picture(ctx context.Context, tenant library.TenantID, hash library.AssetHash, edge int) ([]byte, error) {
	return m.kept(ctx, tenant, hash, strconv.Itoa(edge)+".jpg", func(ctx context.Context) ([]byte, error) {
		return m.make(ctx, tenant, hash, edge)
	})
}

// Inline returns a preview of at most MaxInline bytes, made of the kept one.
func (m *Maker) Inline(ctx context.Context, tenant library.TenantID, hash library.AssetHash) ([]byte, error) {
	picture, err := m.Picture(ctx, tenant, hash, inlineEdge)
	if err != nil || len(picture) <= MaxInline {
		return picture, err
	}
	return m.kept(ctx, tenant, hash, inlineName, func(ctx context.Context) ([]byte, error) {
		for _, edge := range []int{768, 512, 256} {
			smaller, err := Make(ctx, m.budget, bytes.NewReader(picture), int64(len(picture)), edge)
			if err != nil || len(smaller) <= MaxInline {
				return smaller, err
			}
		}
		return nil, errors.New("no preview is small enough") // 256×256 pixels are 196,608 bytes without any compression
	})
}

// Poster returns what is kept of a poster that was sent with a 3D model. That it is
// decoded proves that it is a picture and takes its metadata off.
func (m *Maker) Poster(ctx context.Context, data []byte) ([]byte, error) {
	return Make(ctx, m.budget, bytes.NewReader(data), int64(len(data)), PosterEdge)
}

// KeepPoster puts a poster in place of an asset's previews.
func (m *Maker) KeepPoster(ctx context.Context, tenant library.TenantID, hash library.AssetHash, poster []byte) error {
	if err := m.blobs.DropDerived(ctx, tenant, hash); err != nil {
		return err
	}
	return m.blobs.PutDerived(ctx, tenant, hash, PosterName, poster)
}

// kept returns a derived file, or makes and keeps it.
func (m *Maker) kept(ctx context.Context, tenant library.TenantID, hash library.AssetHash, name string, create func(context.Context) ([]byte, error)) ([]byte, error) {
	if kept, err := m.blobs.GetDerived(ctx, tenant, hash, name); err == nil {
		return kept, nil
	}
	picture, err := m.making.do(ctx, path.Join(string(tenant), string(hash), name), func(ctx context.Context) ([]byte, error) {
		picture, err := create(ctx)
		if err != nil {
			return nil, err
		}
		if err := m.blobs.PutDerived(ctx, tenant, hash, name, picture); err != nil {
			slog.WarnContext(ctx, "a preview could not be stored", "asset", hash, "error", err)
		}
		return picture, nil
	})
	// Here and not only where it is made: the caller's own deadline may end first.
	return picture, Error(err)
}

// make decodes the poster of an asset, or else its file.
func (m *Maker) make(ctx context.Context, tenant library.TenantID, hash library.AssetHash, edge int) ([]byte, error) {
	if poster, err := m.blobs.GetDerived(ctx, tenant, hash, PosterName); err == nil {
		if edge >= PosterEdge {
			return poster, nil
		}
		return Make(ctx, m.budget, bytes.NewReader(poster), int64(len(poster)), edge)
	}
	object, err := m.blobs.Open(ctx, tenant, hash)
	if err != nil {
		return nil, err
	}
	defer object.Close()
	var frame []byte
	switch f := (file{ctx, object, object.Size()}); {
	case videoFormat(f) != "":
		frame, err = m.video(ctx, tenant, hash, object, videoFormat(f))
	case forVips(f):
		frame, err = m.converted(ctx, tenant, hash, object)
	case isModel(f):
		return m.modelPicture(ctx, tenant, hash, object, edge)
	default:
		return Make(ctx, m.budget, object, object.Size(), edge)
	}
	if err != nil || edge >= PosterEdge {
		return frame, err
	}
	return Make(ctx, m.budget, bytes.NewReader(frame), int64(len(frame)), edge)
}

// HasPoster reports whether a poster was sent for a 3D model.
func (m *Maker) HasPoster(ctx context.Context, tenant library.TenantID, hash library.AssetHash) bool {
	_, err := m.blobs.GetDerived(ctx, tenant, hash, PosterName)
	return err == nil
}

// Error returns what a client is told of an error of Make. Library errors pass
// unchanged, and so does that of a context that its caller ended. A deadline that passed
// means that too much was decoded before.
func Error(err error) error {
	var known *library.Error
	var large *TooLargeError
	switch {
	case err == nil, errors.As(err, &known), errors.Is(err, context.Canceled):
		return err
	case errors.As(err, &large):
		return &library.Error{Kind: library.KindUnprocessable, Code: library.CodePreviewTooLarge, Cause: err,
			Detail: large.Error() + ". The original can be downloaded."}
	case errors.Is(err, memory.ErrBusy), errors.Is(err, context.DeadlineExceeded):
		return &library.Error{Kind: library.KindUnavailable, Code: library.CodeDecodingBusy, RetryAfter: 5 * time.Second, Cause: err,
			Detail: "Too many images are being decoded right now. Try again in a moment."}
	case errors.Is(err, ErrNoFFmpeg):
		return &library.Error{Kind: library.KindNotFound, Code: library.CodeNotFound, Cause: err,
			Detail: "There is no preview of this video: the service has no ffmpeg to read a frame with. The original can be downloaded."}
	case errors.Is(err, ErrNoVips):
		return &library.Error{Kind: library.KindNotFound, Code: library.CodeNotFound, Cause: err,
			Detail: "There is no preview of this picture: the service has no libvips, which reads AVIF, HEIC and JPEG XL. The original can be downloaded."}
	case errors.Is(err, gltf.ErrNothing):
		return &library.Error{Kind: library.KindNotFound, Code: library.CodeNotFound, Cause: err,
			Detail: "There is no preview of this 3D model: " + err.Error() + ". Send a picture of it as poster_image_base64 with StoreAsset. The original can be downloaded."}
	case errors.Is(err, ErrUnsupported):
		return &library.Error{Kind: library.KindNotFound, Code: library.CodeNotFound, Cause: err,
			Detail: "There is no preview of this asset: its file type is not supported."}
	}
	var disk *fs.PathError
	if !errors.As(err, &disk) {
		err = fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return &library.Error{Kind: library.KindNotFound, Code: library.CodeNotFound, Cause: err,
		Detail: "There is no preview of this asset: the image is damaged or cannot be decoded. The original can be downloaded."}
}
