package preview

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"io"

	"vitrine/internal/panics"
	"vitrine/library"
	"vitrine/media/blob"
	"vitrine/media/gltf"
	"vitrine/media/memory"
)

const (
	// renderName is the derived file that holds the picture of a 3D model which its previews are made of.
	renderName = "render.jpg"
	renderEdge = 1024
	// textureEdge and textureMemory bound the pictures on a model's surfaces: in pixels, and what decoding one takes.
	textureEdge   = 1024
	textureMemory = 64 << 20
)

// isModel reports whether a file is a 3D model of which a picture can be drawn.
func isModel(f file) bool { return gltf.Is(f.head(0, 8)) }

// ModelFacts returns what the file of a 3D model says of it; nil: it is none of a kind that is known here.
func (m *Maker) ModelFacts(ctx context.Context, tenant library.TenantID, hash library.AssetHash) (*gltf.Facts, error) {
	object, err := m.blobs.Open(ctx, tenant, hash)
	if err != nil {
		return nil, err
	}
	defer object.Close()
	f := file{ctx, object, object.Size()}
	if !isModel(f) {
		return nil, nil
	}
	var facts gltf.Facts
	err = m.budget.Use(ctx, gltf.DocumentCost(f.head(0, 20)), func() error {
		return panics.Try(func() error {
			model, err := gltf.Open(f, f.n)
			if err == nil {
				facts = model.Facts()
			}
			return err
		})
	})
	return &facts, err
}

// model returns the kept picture of a 3D model as a JPEG of renderEdge.
func (m *Maker) model(ctx context.Context, tenant library.TenantID, hash library.AssetHash, object blob.Object) ([]byte, error) {
	if kept, err := m.blobs.GetDerived(ctx, tenant, hash, renderName); err == nil {
		return kept, nil
	}
	f := file{ctx, object, object.Size()}
	var model *gltf.File
	document := gltf.DocumentCost(f.head(0, 20))
	err := m.budget.Use(ctx, document, func() error {
		return panics.Try(func() (err error) {
			model, err = gltf.Open(f, f.n)
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	var picture []byte
	need := document + model.Cost(renderEdge) + textureMemory
	err = m.budget.Use(ctx, need, func() error {
		return panics.Try(func() error {
			img, err := model.Draw(ctx, renderEdge, func(data *io.SectionReader) (*image.RGBA, error) { return texture(ctx, data) })
			if err != nil {
				return err
			}
			picture, err = encode(img, quality)
			return err
		})
	})
	var large *memory.TooLargeError
	if errors.As(err, &large) {
		err = fmt.Errorf("%w: drawing it takes %d MB, and %d MB are allowed", gltf.ErrNothing, large.Need/1e6, large.Limit/1e6)
	}
	if err != nil {
		return nil, err
	}
	return picture, m.blobs.PutDerived(ctx, tenant, hash, renderName, picture)
}

// modelPicture returns a preview of a 3D model.
func (m *Maker) modelPicture(ctx context.Context, tenant library.TenantID, hash library.AssetHash, object blob.Object, edge int) ([]byte, error) {
	picture, err := m.model(ctx, tenant, hash, object)
	if err != nil || edge >= renderEdge {
		return picture, err
	}
	return Make(ctx, m.budget, bytes.NewReader(picture), int64(len(picture)), edge)
}

// texture decodes a picture on the surface of a model, within the memory that was set aside for it.
func texture(ctx context.Context, data *io.SectionReader) (*image.RGBA, error) {
	f := file{ctx, data, data.Size()}
	s, err := open(f)
	if err != nil {
		return nil, err
	}
	if s.width <= 0 || s.height <= 0 || pixels(s.width, s.height) > MaxPixels || s.cost+reducerCost(s.width, s.height, textureEdge) > textureMemory {
		return nil, &TooLargeError{Kind: s.kind, Width: s.width, Height: s.height}
	}
	return s.read(f, textureEdge)
}
