package transfer

import (
	"bufio"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"hash"
	"io"
	"net/http"
	"strings"
	"time"

	"vitrine/internal/failpoint"
	"vitrine/library"
	"vitrine/media/blob"
)

// partSize is after how many bytes of one request what has come is made durable and noted: as
// much as a client may have to send again.
const partSize = 8 << 20

// maxParts bounds in how many pieces an upload may come: each is a file until the end.
const maxParts = 10_000

// noteLimit bounds making a piece durable that has come: it is not given up because the
// client has left.
const noteLimit = 5 * time.Minute

// reception is a request whose body is received.
type reception struct {
	s       *Service
	u       library.Upload
	in      *bufio.Reader
	broken  error    // why the body ended early
	sum     *tusSum  // nil: the client sent none
	pending []string // parts that are not noted yet
	n       int64    // bytes in them
}

// receive takes the body of a request as the next bytes of an upload, and returns how far
// that has come. What came before a connection broke is kept, except where a checksum was
// to be compared.
func (s *Service) receive(w http.ResponseWriter, r *http.Request, u library.Upload) (library.Upload, error) {
	left := u.Length - u.Received
	if r.ContentLength > left {
		return u, library.NewError(library.KindTooLarge, library.CodePayloadTooLarge, "The upload lacks %d bytes, and the request has more.", left)
	}
	if len(u.Parts) >= maxParts {
		return u, library.NewError(library.KindTooLarge, library.CodePayloadTooLarge, "The upload came in %d pieces already. Begin it again with larger ones.", maxParts)
	}
	sum, err := newTusSum(r.Header.Get("Upload-Checksum"))
	if err != nil {
		return u, err
	}
	body, done := newPaced(w, r, s.pace)
	defer done()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), noteLimit)
	defer cancel()
	in := &reception{s: s, u: u, sum: sum, in: bufio.NewReaderSize(sum.reader(body), 64<<10)}
	err = in.all(ctx)
	if err == nil && in.broken != nil {
		err = &library.Error{Kind: library.KindCanceled, Code: library.CodeClientClosed, Cause: in.broken, Detail: "The connection broke. Ask for the offset with HEAD and go on from there."}
	}
	if err != nil {
		return in.u, errors.Join(err, s.discard(ctx, u, in.pending))
	}
	return in.u, nil
}

// all receives the body in parts.
func (in *reception) all(ctx context.Context) error {
	for in.u.Received+in.n < in.u.Length {
		if _, err := in.in.Peek(1); err != nil {
			in.ended(err)
			break
		}
		if err := in.part(ctx); err != nil {
			return err
		}
		if last := in.u.Received+in.n == in.u.Length; in.sum == nil && !last {
			if err := in.note(ctx); err != nil {
				return err
			}
		}
	}
	if _, err := in.in.Peek(1); err == nil {
		return library.NewError(library.KindTooLarge, library.CodePayloadTooLarge, "The request has more bytes than the upload lacked.")
	}
	if in.sum != nil && in.broken == nil {
		if err := in.sum.check(); err != nil {
			return err
		}
	}
	if in.n == 0 || in.sum != nil && in.broken != nil {
		return nil
	}
	return in.note(ctx)
}

func (in *reception) ended(err error) {
	if !errors.Is(err, io.EOF) {
		in.broken = err
	}
}

// part stages the next part durably.
func (in *reception) part(ctx context.Context) error {
	left := in.u.Length - in.u.Received - in.n
	id := blob.NewStagingID()
	if len(in.u.Parts) == 0 && in.n == 0 && left <= partSize && in.in.Buffered() >= int(left) {
		id = in.u.ID // the whole file at once
	}
	staged, err := in.s.blobs.Stage(ctx, in.u.Tenant, id, &untilBroken{r: io.LimitReader(in.in, min(left, partSize)), ended: in.ended}, partSize)
	if err != nil {
		return err
	}
	in.pending, in.n = append(in.pending, id), in.n+staged.Size
	return failpoint.Inject("upload.part_staged")
}

// note writes down that the pending parts have come, after the whole file was made of them
// where they are the last: who is told that everything has come can store it.
func (in *reception) note(ctx context.Context) error {
	complete := in.u.Received+in.n == in.u.Length
	parts := append(append([]string{}, in.u.Parts...), in.pending...)
	if complete {
		if err := in.s.assemble(ctx, in.u, parts); err != nil {
			return err
		}
		if err := failpoint.Inject("upload.assembled"); err != nil {
			return err
		}
	}
	noted, err := in.s.store.Uploads.Received(ctx, in.u, in.n, in.pending)
	if err != nil {
		return err
	}
	if !noted {
		return wrongOffset(in.u)
	}
	in.u.Received, in.u.Parts, in.pending, in.n = in.u.Received+in.n, parts, nil, 0
	if err := failpoint.Inject("upload.noted"); err != nil {
		return err
	}
	if complete {
		_ = in.s.discard(ctx, in.u, parts) // the sweep takes what stays
	}
	return nil
}

// assemble makes the staged file of an upload's parts.
func (s *Service) assemble(ctx context.Context, u library.Upload, parts []string) error {
	if len(parts) == 1 && parts[0] == u.ID {
		return nil
	}
	whole := &partsReader{ctx: ctx, s: s, u: u, left: parts}
	defer whole.close()
	staged, err := s.blobs.Stage(ctx, u.Tenant, u.ID, whole, u.Length)
	if err == nil && staged.Size != u.Length {
		err = library.NewError(library.KindInternal, library.CodeInternal, "The parts of the upload do not make a file of its size. Begin it again.")
	}
	return err
}

// discard drops staged files of an upload, save the one that it became.
func (s *Service) discard(ctx context.Context, u library.Upload, ids []string) error {
	var errs []error
	for _, id := range ids {
		if id != u.ID || !u.Complete() {
			errs = append(errs, s.blobs.Discard(ctx, u.Tenant, id))
		}
	}
	return errors.Join(errs...)
}

// partsReader reads staged files one after another.
type partsReader struct {
	ctx  context.Context
	s    *Service
	u    library.Upload
	left []string
	open blob.Object
	at   *io.SectionReader
}

// Read implements io.Reader.
func (p *partsReader) Read(b []byte) (int, error) {
	for {
		if p.at != nil {
			if n, err := p.at.Read(b); n > 0 || !errors.Is(err, io.EOF) {
				return n, err
			}
		}
		p.close()
		if len(p.left) == 0 {
			return 0, io.EOF
		}
		f, _, err := p.s.blobs.OpenStaged(p.ctx, p.u.Tenant, p.left[0])
		if err != nil {
			return 0, err
		}
		p.open, p.at, p.left = f, io.NewSectionReader(f, 0, f.Size()), p.left[1:]
	}
}

func (p *partsReader) close() {
	if p.open != nil {
		_ = p.open.Close()
		p.open, p.at = nil, nil
	}
}

// untilBroken ends where reading fails: what has come until then is kept.
type untilBroken struct {
	r     io.Reader
	ended func(error)
}

// Read implements io.Reader.
func (b *untilBroken) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	if err != nil {
		b.ended(err)
		return n, io.EOF
	}
	return n, nil
}

// tusSum compares a request's body with its Upload-Checksum.
type tusSum struct {
	hash hash.Hash
	want []byte
}

func newTusSum(header string) (*tusSum, error) {
	if header == "" {
		return nil, nil //nolint:nilnil // there is nothing to compare
	}
	name, encoded, _ := strings.Cut(header, " ")
	want, err := base64.StdEncoding.DecodeString(encoded)
	sum := &tusSum{want: want}
	switch name {
	case "sha1":
		sum.hash = sha1.New()
	case "sha256":
		sum.hash = sha256.New()
	}
	if err != nil || sum.hash == nil || len(want) != sum.hash.Size() {
		return nil, badHeader("Upload-Checksum", "Expected sha1 or sha256, a blank and the sum in base64.")
	}
	return sum, nil
}

func (c *tusSum) reader(r io.Reader) io.Reader {
	if c == nil {
		return r
	}
	return io.TeeReader(r, c.hash)
}

func (c *tusSum) check() error {
	if got := c.hash.Sum(nil); string(got) == string(c.want) {
		return nil
	}
	return &library.Error{Kind: library.KindChecksum, Code: library.CodeHashMismatch,
		Detail: "The bytes do not have the checksum that was sent. Nothing of them was kept; send them again from the same offset."}
}
