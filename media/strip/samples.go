package strip

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
)

// filmTrack is a track whose samples are looked into.
type filmTrack struct {
	off, end int64 // its boxes
	id       uint32
	coding   nalCoding
}

// filmTracks looks into the samples of the tracks that are coded in NAL units, after all boxes were seen.
func (b *bmff) filmTracks() error {
	w := &window{in: b.in}
	for i := range b.films {
		t := &b.films[i]
		body, bodyEnd, err := b.find(t.off, t.end, "tkhd")
		if err != nil {
			return err
		}
		head, err := b.in.bytes(body, min(24, bodyEnd-body))
		if err != nil {
			return err
		}
		if len(head) == 24 {
			t.id = binary.BigEndian.Uint32(head[12:])
			if head[0] == 1 {
				t.id = binary.BigEndian.Uint32(head[20:])
			}
		}
		err = b.eachSample(t.off, t.end, func(off, n int64) error {
			return t.coding.cleanUnits(w, &b.blanks, b.plan, off, off+n)
		})
		if err != nil {
			return err
		}
	}
	if len(b.films) == 0 {
		return nil
	}
	for _, f := range b.fragments {
		if err := b.fragment(w, f[0], f[1], f[2]); err != nil {
			return err
		}
	}
	return nil
}

// eachSample calls fn with where the samples of a track are, by its tables.
func (b *bmff) eachSample(off, end int64, fn func(off, n int64) error) error {
	sizes, err := b.table(off, end, "stsz")
	if err != nil {
		return err
	}
	if sizes == nil {
		if packed, err := b.table(off, end, "stz2"); err != nil || packed != nil {
			return errors.Join(err, &Error{CodeUnsupported, "The video lists the sizes of its samples in a way that cannot be read here."})
		}
	}
	chunks, wide, err := b.chunkOffsets(off, end)
	if err != nil {
		return err
	}
	runs, err := b.table(off, end, "stsc")
	if err != nil {
		return err
	}
	if len(sizes) < 12 || len(runs) < 8 || len(chunks) < 8 {
		return nil // a track without samples, or one in fragments
	}
	width := int64(4)
	if wide {
		width = 8
	}
	same, sample := int64(binary.BigEndian.Uint32(sizes[4:])), int64(0)
	count := (int64(len(chunks)) - 8) / width
	per := &chunkRuns{runs: runs}
	for i := range count {
		place := int64(binary.BigEndian.Uint32(chunks[8+i*width:]))
		if wide {
			place = int64(binary.BigEndian.Uint64(chunks[8+i*width:]))
		}
		for range per.samples(i + 1) {
			n := same
			if same == 0 {
				at := 12 + 4*sample
				if at+4 > int64(len(sizes)) {
					return nil
				}
				n = int64(binary.BigEndian.Uint32(sizes[at:]))
			}
			if sample++; sample > maxBoxes || place < 0 {
				return damaged("a track has samples outside of the file")
			}
			if place < b.in.size { // a recording that was cut has fewer than its tables
				if err := fn(place, min(n, b.in.size-place)); err != nil {
					return err
				}
			}
			place += n
		}
	}
	return nil
}

// chunkRuns is how many samples chunks have, which are asked for in their order.
type chunkRuns struct {
	runs []byte // the table: the first chunk that has a number of samples, and the number
	at   int
}

// samples returns how many samples a chunk has, by its number from 1 on.
func (c *chunkRuns) samples(chunk int64) int64 {
	if c.at == 0 {
		c.at = 8
	}
	for c.at+24 <= len(c.runs) && int64(binary.BigEndian.Uint32(c.runs[c.at+12:])) <= chunk {
		c.at += 12
	}
	if c.at+12 > len(c.runs) || int64(binary.BigEndian.Uint32(c.runs[c.at:])) > chunk {
		return 0
	}
	return min(int64(binary.BigEndian.Uint32(c.runs[c.at+4:])), maxBoxes)
}

// fragment looks into the samples of a fragment (moof), which begins at off.
func (b *bmff) fragment(w *window, off, start, end int64) error {
	next := off // where the data of the next track begins
	for at := off + start; at+8 <= end; {
		head, err := b.in.bytes(at, 8)
		if err != nil {
			return err
		}
		n := int64(binary.BigEndian.Uint32(head))
		if n < 8 || n > end-at {
			return damaged("a box of a fragment reaches beyond its end")
		}
		if string(head[4:]) == "traf" {
			body, err := b.in.bytes(at+8, n-8)
			if err != nil {
				return err
			}
			if next, err = b.fragmentTrack(w, body, off, next); err != nil {
				return err
			}
		}
		at += n
	}
	return nil
}

// fragmentTrack looks into the samples of one track of a fragment and returns where they end.
func (b *bmff) fragmentTrack(w *window, traf []byte, moof, next int64) (int64, error) {
	boxes, err := splitBoxes(traf)
	if err != nil {
		return 0, err
	}
	r := &numbers{data: boxes["tfhd"]}
	flags, id := r.next(4), uint32(r.next(4))
	base := next
	if flags&0x20000 != 0 {
		base = moof
	}
	if flags&1 != 0 {
		base = r.next(8)
	}
	r.skip(flags&2 != 0, 4)
	r.skip(flags&8 != 0, 4)
	size := b.sampleSize(id)
	if flags&0x10 != 0 {
		size = r.next(4)
	}
	i := slices.IndexFunc(b.films, func(t filmTrack) bool { return t.id == id })
	at := base
	for body := traf; len(body) >= 8; body = body[binary.BigEndian.Uint32(body):] {
		if string(body[4:8]) != "trun" {
			continue
		}
		at, err = eachRunSample(body[8:binary.BigEndian.Uint32(body)], base, at, size, func(off, n int64) error {
			if off < 0 || n < 0 || off > b.in.size || i < 0 {
				return nil
			}
			return b.films[i].coding.cleanUnits(w, &b.blanks, b.plan, off, min(off+n, b.in.size))
		})
		if err != nil {
			return 0, err
		}
	}
	return at, nil
}

// eachRunSample calls fn with where the samples of a run (trun) are, and returns where they end.
func eachRunSample(trun []byte, base, at, size int64, fn func(off, n int64) error) (int64, error) {
	r := &numbers{data: trun}
	flags, count := r.next(4), r.next(4)
	if flags&1 != 0 {
		at = base + int64(int32(r.next(4)))
	}
	r.skip(flags&4 != 0, 4)
	for range min(count, maxBoxes) {
		r.skip(flags&0x100 != 0, 4)
		n := size
		if flags&0x200 != 0 {
			n = r.next(4)
		}
		r.skip(flags&0x400 != 0, 4)
		r.skip(flags&0x800 != 0, 4)
		if r.bad {
			return 0, damaged("a list of samples of a fragment is cut")
		}
		if err := fn(at, n); err != nil {
			return 0, err
		}
		at += n
	}
	return at, nil
}

func (r *numbers) skip(present bool, n int) {
	if present {
		r.next(n)
	}
}

// sampleSize returns the size that samples of a track have where a fragment does not say it (trex).
func (b *bmff) sampleSize(id uint32) int64 {
	for off, end := b.extends[0], b.extends[1]; off+8 <= end; {
		head, err := b.in.bytes(off, min(32, end-off))
		n := int64(0)
		if err == nil {
			n = int64(binary.BigEndian.Uint32(head))
		}
		if n < 8 {
			return 0
		}
		if string(head[4:8]) == "trex" && len(head) == 32 && binary.BigEndian.Uint32(head[12:]) == id {
			return int64(binary.BigEndian.Uint32(head[24:]))
		}
		off += n
	}
	return 0
}

// configure reads a decoder's configuration in the description of a track's samples.
func (b *bmff) configure(kind string, off, n int64) error {
	conf, err := b.in.bytes(off, n)
	if err != nil {
		return err
	}
	before := bytes.Clone(conf)
	if c, ok := configuration(conf, kind == "hvcC", b.plan); ok {
		b.coding = &c
	}
	if !bytes.Equal(before, conf) {
		b.blanks.put(off, conf)
	}
	return nil
}
