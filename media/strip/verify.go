package strip

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"vitrine/media/extract"
)

// Verify reads a file that Write has written, as a file of a stranger, and returns an *Error
// that names what it holds and should not. The extractor reads everything that it knows of;
// then the file is taken apart once more, and no part of it may be one that goes.
func Verify(ctx context.Context, r io.ReaderAt, size int64, o Options) error {
	opts := extract.Options{}
	if o.Memory != nil {
		l := o.Memory.Lease()
		defer l.Release()
		opts.Memory = l
	}
	got, err := extract.Read(ctx, r, size, opts)
	if err != nil {
		return err
	}
	var left []string
	for _, c := range got.Chunks {
		if !o.allows(c.Place, c.Key) {
			left = append(left, c.Place+" "+c.Key)
		}
	}
	if k, ok := kinds[got.MIMEType]; ok {
		p, err := k.plan(input{ctx, r, size}, edit{keep: o.Keep})
		if err != nil {
			return err
		}
		for _, name := range p.names() {
			if !o.writes(name) {
				left = append(left, name)
			}
		}
	}
	if len(left) == 0 {
		return nil
	}
	slices.Sort(left)
	left = slices.Compact(left)
	return &Error{CodeSurvived, fmt.Sprintf("The file was not exported: it would still hold %s.", strings.Join(left[:min(len(left), 5)], ", "))}
}

// writes reports whether a part of the name is the one that the disclosure is in.
func (o Options) writes(name string) bool {
	return o.Disclosure.Packet() != nil && slices.Contains([]string{"iTXt", "APP1", "XMP ", "uuid"}, name)
}

// allows reports whether metadata of a place may be in a written file.
func (o Options) allows(place, key string) bool {
	k := o.Keep
	switch _, sub, _ := strings.Cut(place, ":"); {
	case place == "glb:asset" || place == "gltf:asset":
		return key == "version" || key == "minVersion" || k == Keep{Generation: true, EXIF: true, GPS: true, IPTC: true}
	case place == "xmp":
		return k.xmp() || o.Disclosure.Packet() != nil && slices.Contains(disclosureKeys, key)
	case place == "c2pa":
		return false
	case sub == "exif":
		return k.exif()
	case sub == "iptc":
		return k.iptc()
	}
	return k.Generation
}
