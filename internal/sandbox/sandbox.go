// Package sandbox bounds the child processes that read or draw what strangers have made: Chromium and ffmpeg.
//
// A command is confined before its start (a process group and a network namespace of its own), bounded
// right behind it (memory, processor time, sizes of files), and its output is kept in a writer of
// bounded size. Time of the clock is the business of the command's context.
package sandbox

import (
	"bytes"
	"io"
	"time"
)

// Limits are what a process may take. A process that it starts inherits them, each with a count of its own.
type Limits struct {
	Memory   uint64        // bytes of data
	CPU      time.Duration // of a processor, in whole seconds
	FileSize uint64        // bytes of a file that it writes; with 0 it writes none
}

// Output is a writer that keeps the first Left bytes. The zero value keeps nothing.
type Output struct {
	bytes.Buffer
	Left int   // bytes that are still kept
	Full error // what a write returns that does not fit; nil drops the rest without a word
}

// Write implements io.Writer.
func (o *Output) Write(p []byte) (int, error) {
	n := min(len(p), o.Left)
	o.Left -= n
	o.Buffer.Write(p[:n])
	if n < len(p) && o.Full != nil {
		return n, o.Full
	}
	return len(p), nil
}

// ReadFrom keeps io.Copy from going round the bound.
func (o *Output) ReadFrom(r io.Reader) (int64, error) { return io.Copy(struct{ io.Writer }{o}, r) }
