package strip

import (
	"encoding/binary"
	"slices"
)

// track looks at a track. One that holds metadata, such as positions of a camera over time,
// becomes free space with all of its samples.
func (b *bmff) track(off, start, n int64) error {
	kind, err := b.handlerOf(off+start, off+n)
	if err != nil {
		return err
	}
	if !slices.Contains([]string{"meta", "mdta", "mdir", "camm", "tmcd", "gpmd"}, kind) {
		b.coding = nil
		_, err := b.walk("trak", off+start, off+n)
		if b.coding != nil {
			b.films = append(b.films, filmTrack{off: off + start, end: off + n, coding: *b.coding})
		}
		return err
	}
	b.tracks = true
	b.free("track of "+kind, off, start, n)
	return b.blankSamples(off+start, off+n)
}

// find returns the body of the first box of a path between off and end; 0, 0 where there is none.
func (b *bmff) find(off, end int64, path ...string) (body, bodyEnd int64, err error) {
	for off+8 <= end {
		head, err := b.in.bytes(off, min(16, end-off))
		if err != nil {
			return 0, 0, err
		}
		n, start := int64(binary.BigEndian.Uint32(head)), int64(8)
		if n == 1 && len(head) == 16 {
			n, start = int64(binary.BigEndian.Uint64(head[8:])), 16
		}
		if n == 0 {
			n = end - off
		}
		if n < start || n > end-off {
			return 0, 0, damaged("a box of a track reaches beyond its end")
		}
		if string(head[4:8]) == path[0] {
			if len(path) == 1 {
				return off + start, off + n, nil
			}
			return b.find(off+start, off+n, path[1:]...)
		}
		off += n
	}
	return 0, 0, nil
}

func (b *bmff) handlerOf(off, end int64) (string, error) {
	body, bodyEnd, err := b.find(off, end, "mdia", "hdlr")
	if err != nil || bodyEnd-body < 12 {
		return "", err
	}
	head, err := b.in.bytes(body, 12)
	return string(head[8:]), err
}

// table returns the body of a box of a track's sample table.
func (b *bmff) table(off, end int64, name string) ([]byte, error) {
	body, bodyEnd, err := b.find(off, end, "mdia", "minf", "stbl", name)
	if err != nil || body == 0 {
		return nil, err
	}
	return b.in.bytes(body, bodyEnd-body)
}

// blankSamples overwrites the samples of a track.
func (b *bmff) blankSamples(off, end int64) error {
	return b.eachSample(off, end, func(at, n int64) error {
		b.blanks.zero(at, n)
		return nil
	})
}

func (b *bmff) chunkOffsets(off, end int64) (table []byte, wide bool, err error) {
	if table, err = b.table(off, end, "stco"); err != nil || table != nil {
		return table, false, err
	}
	table, err = b.table(off, end, "co64")
	return table, true, err
}
