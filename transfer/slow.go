package transfer

import (
	"errors"
	"io"
	"net/http"
	"os"
	"time"
)

// pace is how slow a client may be. Whoever is slower is cut off: a connection
// that trickles costs memory and a file handle for as long as it likes.
type pace struct {
	grace   time.Duration // for anything, however short
	minRate int64         // bytes per second, on the average of all that has passed
}

// usualPace lets a phone on a bad line through.
var usualPace = pace{grace: 30 * time.Second, minRate: 1 << 10}

// allowed is how long n bytes may take.
func (p pace) allowed(n int64) time.Duration {
	return p.grace + time.Duration(n)*time.Second/time.Duration(p.minRate)
}

// paced is a body that must come at a pace.
type paced struct {
	io.Reader
	pace    pace
	control *http.ResponseController
	began   time.Time
	passed  int64
}

// newPaced reads a request's body at a pace. The returned function lifts the
// deadline; without it the server would take it for a lost connection later.
func newPaced(w http.ResponseWriter, r *http.Request, p pace) (body io.Reader, done func()) {
	control := http.NewResponseController(w)
	return &paced{Reader: r.Body, pace: p, control: control, began: time.Now()}, func() { _ = control.SetReadDeadline(time.Time{}) }
}

func (b *paced) Read(p []byte) (int, error) {
	_ = b.control.SetReadDeadline(b.began.Add(b.pace.allowed(b.passed))) // not every writer has deadlines
	n, err := b.Reader.Read(p)
	b.passed += int64(n)
	return n, err
}

// tooSlow reports whether a deadline ended a transfer.
func tooSlow(err error) bool { return errors.Is(err, os.ErrDeadlineExceeded) }

// sendAtOnce is how much is sent between two deadlines.
const sendAtOnce = 1 << 20

// patient is a ResponseWriter that gives each piece of an answer its own time, so
// that a large file may take long and a client that stops reading does not. One
// that comes back asks for the rest by a range.
type patient struct {
	http.ResponseWriter
	pace    pace
	control *http.ResponseController
	source  error // of reading what is sent
}

func newPatient(w http.ResponseWriter, p pace) (out *patient, done func()) {
	control := http.NewResponseController(w)
	return &patient{ResponseWriter: w, pace: p, control: control}, func() { _ = control.SetWriteDeadline(time.Time{}) }
}

// Unwrap serves http.ResponseController.
func (w *patient) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *patient) Write(b []byte) (int, error) {
	_ = w.control.SetWriteDeadline(time.Now().Add(w.pace.allowed(int64(len(b)))))
	return w.ResponseWriter.Write(b)
}

// ReadFrom sends what r has, piece by piece.
func (w *patient) ReadFrom(r io.Reader) (int64, error) {
	var sent int64
	from := &watched{r, &w.source}
	for {
		_ = w.control.SetWriteDeadline(time.Now().Add(w.pace.allowed(sendAtOnce)))
		n, err := io.CopyN(w.ResponseWriter, from, sendAtOnce)
		sent += n
		if errors.Is(err, io.EOF) {
			return sent, nil
		}
		if err != nil {
			return sent, err
		}
	}
}

// watched notes an error of reading: the other side of a copy tells of it as if it were
// its own.
type watched struct {
	io.Reader
	failed *error
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		*w.failed = err
	}
	return n, err
}
