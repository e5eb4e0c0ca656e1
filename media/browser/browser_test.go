package browser_test

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"vitrine/internal/testenv"
	"vitrine/media/browser"
)

// fake is a program that says that it is Chromium, and does something else when it is to print.
func fake(t *testing.T, does string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "chromium")
	script := "#!/bin/sh\n[ \"$2\" = --version ] && echo Chromium 1.2.3 && exit 0\n" + does + "\n"
	if err := os.WriteFile(path, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

func folder(t *testing.T, html string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "page.html"), []byte(html), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestFind_SaysWhyThereIsNone(t *testing.T) {
	t.Parallel()
	if _, err := browser.Find(t.Context(), browser.Off); !errors.Is(err, browser.ErrNone) {
		t.Errorf("off: %v", err)
	}
	if _, err := browser.Find(t.Context(), "/nowhere/chromium"); err == nil || errors.Is(err, browser.ErrNone) {
		t.Errorf("a path at which nothing is: %v", err)
	}
	if _, err := browser.Find(t.Context(), "/bin/true"); err == nil || !strings.Contains(err.Error(), "no Chromium") {
		t.Errorf("another program: %v", err)
	}
}

func TestPrint_ABrowserThatHangsDiesOrWritesNothingIsAnError(t *testing.T) {
	t.Parallel()
	for does, want := range map[string]string{
		"sleep 600 & sleep 600":       "longer than",
		"echo no display >&2; exit 7": "no display",
		"kill -9 $$":                  "killed",
		"exit 0":                      "wrote no PDF",
		`for a; do case $a in --print-to-pdf=*) echo rubbish > "${a#*=}";; esac; done`: "wrote no PDF",
	} {
		b, err := browser.Find(t.Context(), fake(t, does))
		if err != nil || b.Version != "Chromium 1.2.3" {
			t.Fatalf("%+v %v", b, err)
		}
		b.Limit = time.Second
		if _, _, err := b.Print(t.Context(), folder(t, "<p>x"), "page.html"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", does, err)
		}
	}
}

// TestPrint_AsksNobodyForAnything prints a page that names a server of this machine in every way that a page can.
func TestPrint_AsksNobodyForAnything(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	var asked atomic.Int32
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			asked.Add(1)
			_ = c.Close()
		}
	}()
	b, err := browser.Find(t.Context(), testenv.Tool(t, "chromium"))
	if err != nil {
		t.Fatal(err)
	}
	address := "http://" + listener.Addr().String()
	html := fmt.Sprintf(`<!doctype html><title>t</title><link rel="stylesheet" href="%[1]s/a.css"><link rel="preconnect" href="%[1]s"><img src="%[1]s/b.png"><iframe src="%[1]s/c"></iframe>
		<style>@font-face{font-family:x;src:url(%[1]s/d.ttf)}p{font-family:x;background:url(%[1]s/e.png)}</style><p>text</p><object data="%[1]s/f"></object><video poster="%[1]s/g.png"></video>`, address)
	if _, pages, err := b.Print(t.Context(), folder(t, html), "page.html"); err != nil || pages != 1 {
		t.Errorf("%d pages, %v", pages, err)
	}
	b.Isolated = false // what keeps it from the network without a namespace holds as well
	if _, _, err := b.Print(t.Context(), folder(t, html), "page.html"); err != nil {
		t.Error(err)
	}
	if n := asked.Load(); n != 0 {
		t.Errorf("the browser made %d connections", n)
	}
}
