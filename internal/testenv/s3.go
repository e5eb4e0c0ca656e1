package testenv

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"vitrine/internal/s3"
)

// S3Server is a real server of S3 over a folder, of one test.
type S3Server struct {
	s3.Access
	Dir string // holds a folder for each bucket
	t   testing.TB
	cmd *exec.Cmd
	log *logBuffer
	at  string // host:port
}

// The credentials of the server.
const (
	s3AccessKey = "vitrine-test"
	s3SecretKey = "vitrine-test-secret"
)

// S3 runs a server of S3 until the test ends. Its buckets must be made by Bucket.
func S3(t testing.TB) *S3Server {
	t.Helper()
	dir := t.TempDir()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &S3Server{t: t, Dir: filepath.Join(dir, "buckets"), at: l.Addr().String()}
	s.Access = s3.Access{Endpoint: "http://" + s.at, Region: "us-east-1", AccessKey: s3AccessKey, SecretKey: s3SecretKey}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{s.Dir, filepath.Join(dir, "sidecar")} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	s.Start()
	t.Cleanup(s.Stop)
	return s
}

// Start starts the server, also again after Stop, with what it had.
func (s *S3Server) Start() {
	s.t.Helper()
	s.log = &logBuffer{}
	s.cmd = exec.Command(Tool(s.t, "versitygw"), "--port", s.at, "--access", s3AccessKey, "--secret", s3SecretKey, "--region", "us-east-1", "--quiet",
		"posix", "--sidecar", filepath.Join(filepath.Dir(s.Dir), "sidecar"), s.Dir)
	s.cmd.Stdout, s.cmd.Stderr = s.log, s.log
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		c, err := (&net.Dialer{Timeout: time.Second}).DialContext(context.Background(), "tcp", s.at)
		if err == nil {
			_ = c.Close()
			return
		}
		if time.Now().After(end) {
			s.t.Fatalf("the S3 server does not answer: %v\n%s", err, s.log)
		}
	}
}

// Stop ends the server at once.
func (s *S3Server) Stop() {
	if s.cmd != nil {
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait() // it was killed
		s.cmd = nil
	}
}

// Bucket makes a bucket and returns its URL.
func (s *S3Server) Bucket(name string) string {
	s.t.Helper()
	if err := os.Mkdir(filepath.Join(s.Dir, name), 0o700); err != nil {
		s.t.Fatal(err)
	}
	return fmt.Sprintf("%s%s", s3.Scheme, name)
}

// logBuffer is what a server printed.
type logBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}
