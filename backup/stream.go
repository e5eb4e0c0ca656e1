package backup

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"math/bits"
	"sync/atomic"
)

// digest counts and hashes what passes.
type digest struct {
	hash.Hash
	size int64
}

func newDigest() *digest { return &digest{Hash: sha256.New()} }

func (d *digest) Write(p []byte) (int, error) {
	d.size += int64(len(p))
	return d.Hash.Write(p)
}

func (d *digest) sum() string { return hex.EncodeToString(d.Sum(nil)) }

// lineSet stands for the lines that pass, however often each, in any order: it adds up
// their SHA-256. A line is a row, since COPY escapes line ends within one.
type lineSet struct {
	line hash.Hash // of the line that has begun; nil before the first
	sum  [4]uint64 // least significant first
	n    int64
}

// Write never fails. It takes lines in parts.
func (s *lineSet) Write(p []byte) (int, error) {
	if s.line == nil {
		s.line = sha256.New()
	}
	for rest := p; len(rest) > 0; {
		end := bytes.IndexByte(rest, '\n')
		if end < 0 {
			s.line.Write(rest)
			break
		}
		s.line.Write(rest[:end])
		s.add()
		rest = rest[end+1:]
	}
	return len(p), nil
}

// add ends a line.
func (s *lineSet) add() {
	h := s.line.Sum(nil)
	s.line.Reset()
	s.n++
	var carry uint64
	for i := range s.sum {
		s.sum[i], carry = bits.Add64(s.sum[i], binary.LittleEndian.Uint64(h[8*i:]), carry)
	}
}

func (s *lineSet) equal(o *lineSet) bool { return s.sum == o.sum && s.n == o.n }

// packer writes a stream to a target, packed, and hashes it on both sides.
type packer struct{ text, file *digest }

func newPacker() *packer { return &packer{newDigest(), newDigest()} }

// sink is what a packer's caller writes to.
type sink struct{ io.Writer }

func (p *packer) put(ctx context.Context, to Target, name string, fill func(*sink) error) error {
	r, w := io.Pipe()
	go func() {
		packed, err := gzip.NewWriterLevel(io.MultiWriter(w, p.file), gzip.BestSpeed)
		if err == nil {
			err = fill(&sink{io.MultiWriter(packed, p.text)})
			if closed := packed.Close(); err == nil {
				err = closed
			}
		}
		w.CloseWithError(err) // nil becomes the end of the stream
	}()
	_, err := to.Put(ctx, name, r)
	r.CloseWithError(errors.Join(err, io.ErrClosedPipe)) // so that the writer ends too
	return err
}

// unpack opens a packed stream of a target.
func unpack(ctx context.Context, at Target, name string) (io.ReadCloser, error) {
	r, err := at.Get(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	unpacked, err := gzip.NewReader(r)
	if err != nil {
		r.Close()
		return nil, fmt.Errorf("%s is damaged: %w", name, err)
	}
	return struct {
		io.Reader
		io.Closer
	}{unpacked, r}, nil
}

// errDamaged ends a stream whose content is not what its name says.
var errDamaged = errors.New("its content has another hash than it had when it was stored")

// exact passes a stream on and ends it with errDamaged unless it has the expected
// hash and size.
type exact struct {
	r    io.Reader
	seen *digest
	want content
}

func newExact(r io.Reader, want content) *exact { return &exact{r, newDigest(), want} }

func (e *exact) Read(p []byte) (int, error) {
	n, err := e.r.Read(p)
	e.seen.Write(p[:n])
	if errors.Is(err, io.EOF) && (e.seen.size != e.want.Size || e.seen.sum() != e.want.SHA256) {
		err = errDamaged
	}
	return n, err
}

// counter reports the progress of work that several goroutines do.
type counter struct {
	opt         Options
	phase       string
	done, total atomic.Int64
}

func newCounter(opt Options, phase string) *counter { return &counter{opt: opt, phase: phase} }

func (c *counter) add(n int64) {
	done := c.done.Add(n)
	c.opt.progress(c.phase, done, max(done, c.total.Load()))
}
