package stack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// maxLog is the size at which a log is set aside at the next start of its server; one older log is kept.
const maxLog = 16 << 20

// openLog opens the log of a server for appending.
func (in *instance) openLog(name string) (*os.File, error) {
	path := in.logPath(name)
	if info, err := os.Stat(path); err == nil && info.Size() > maxLog {
		if err := os.Rename(path, path+".1"); err != nil {
			return nil, err
		}
	}
	return os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
}

// Logs copies the last lines of each named server's log to w, all servers when none is named, each after a line with
// its file name. With follow it goes on until ctx ends, which is then no error.
func Logs(ctx context.Context, cfg Config, names []string, lines int, follow bool, w io.Writer) error {
	cfg, err := cfg.complete()
	if err != nil {
		return err
	}
	if len(names) == 0 {
		names = Names()
	}
	home := homeOf(cfg)
	read := map[string]int64{}
	for _, name := range names {
		if !slices.Contains(Names(), name) {
			return fmt.Errorf("there is no such server; the servers are %s", strings.Join(Names(), ", "))
		}
		path := filepath.Join(home, name, name+".log")
		fmt.Fprintf(w, "==> %s <==\n", path)
		end, err := copyTail(w, path, lines)
		if err != nil {
			return err
		}
		read[path] = end
	}
	if follow {
		return followLogs(ctx, w, read)
	}
	return nil
}

// tailWindow bounds how much of a log's end is read to find its last lines.
const tailWindow = 1 << 20

// copyTail writes the last lines of a file and returns its size; a file that is not there yet is empty.
func copyTail(w io.Writer, path string, lines int) (int64, error) {
	file, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return 0, err
	}
	size := info.Size()
	window := min(size, tailWindow)
	content := make([]byte, window)
	if _, err := file.ReadAt(content, size-window); err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	_, err = io.WriteString(w, lastLines(string(content), lines))
	return size, err
}

func followLogs(ctx context.Context, w io.Writer, read map[string]int64) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(250 * time.Millisecond):
		}
		for path, from := range read {
			end, err := copyFrom(w, path, from)
			if err != nil {
				return err
			}
			read[path] = end
		}
	}
}

// copyFrom writes what a file holds after the offset and returns the new offset; a file that shrank was set aside and
// is read from its start.
func copyFrom(w io.Writer, path string, from int64) (int64, error) {
	file, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil || info.Size() < from {
		from = 0
	}
	n, err := io.Copy(w, io.NewSectionReader(file, from, 1<<40))
	return from + n, err
}

func (in *instance) logTail(name string, lines int) string {
	var tail strings.Builder
	if _, err := copyTail(&tail, in.logPath(name), lines); err != nil {
		return err.Error()
	}
	return tail.String()
}

// lastLines returns the last n lines of a text.
func lastLines(text string, n int) string {
	if n <= 0 {
		return ""
	}
	end := len(strings.TrimRight(text, "\n"))
	at := end
	for ; n > 0 && at >= 0; n-- {
		at = strings.LastIndexByte(text[:at], '\n')
	}
	return text[at+1:]
}
