package container_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestFilesOfIndependentWritersAreRead reads files that other programs wrote, among
// them the libraries that ComfyUI itself writes with: our own fixtures could share
// our own mistakes. It says which programs are absent.
func TestFilesOfIndependentWritersAreRead(t *testing.T) {
	if testing.Short() {
		t.Skip("files of independent writers take half a minute to write; they are not checked in short mode")
	}
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("Python is not installed: files of independent writers (ffmpeg, exiftool, Pillow, mutagen, PyAV, …) are not checked")
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"prompt.json": matrixPrompt, "workflow.json": matrixWorkflow} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), python, filepath.Join("testdata", "writers.py"), dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("the script that writes the files failed: %v", err)
	}
	read, absent := 0, 0
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		var w struct{ Kind, Program, File, Absent, Failed string }
		if err := json.Unmarshal(lines.Bytes(), &w); err != nil {
			t.Fatal(err)
		}
		t.Run(w.Kind+" by "+w.Program, func(t *testing.T) {
			switch {
			case w.Absent != "":
				absent++
				t.Skipf("not checked: %s is not installed", w.Absent)
			case w.Failed != "":
				t.Skipf("not checked: %s did not write the file: %s", w.Program, w.Failed)
			}
			checkWritten(t, filepath.Join(dir, w.File))
			read++
		})
	}
	t.Logf("%d files of independent writers were written; for %d a program is absent", read, absent)
}

func checkWritten(t *testing.T, path string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	res := readLineage(t, b, filepath.Base(path))
	if l := res.Lineage; l.Positive == nil || *l.Positive != matrixPositive {
		t.Fatalf("the prompt is %s; chunks %.400v", deref(l.Positive), res.Chunks)
	}
	if p := res.Lineage.Parameters; p == nil || p.Seed == nil || *p.Seed != matrixSeed {
		t.Errorf("settings are %+v", p)
	}
	if w := res.Lineage.Workflow; w == nil || len(w.JSON) == 0 || len(w.PromptJSON) == 0 {
		t.Errorf("workflow is %.200v", w)
	}
	if res.MIMEType == "application/octet-stream" {
		t.Error("the kind of file is not known")
	}
}
