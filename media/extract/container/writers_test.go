package container_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"vitrine/internal/testenv"
)

// TestWriters_FilesOfIndependentProgramsAreRead reads files that other programs wrote,
// among them the libraries that ComfyUI itself writes with: our own fixtures could
// share our own mistakes.
func TestWriters_FilesOfIndependentProgramsAreRead(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"prompt.json": matrixPrompt, "workflow.json": matrixWorkflow} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), testenv.Tool(t, "writers"), filepath.Join("testdata", "writers.py"), dir, testenv.Tool(t, "ffmpeg"), testenv.Tool(t, "exiftool"))
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("the script that writes the files failed: %v", err)
	}
	written := 0
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); written++ {
		var w struct{ Kind, Program, File, Failed string }
		if err := json.Unmarshal(lines.Bytes(), &w); err != nil {
			t.Fatal(err)
		}
		t.Run(w.Kind+" by "+w.Program, func(t *testing.T) {
			if w.Failed != "" {
				t.Fatalf("%s did not write the file: %s", w.Program, w.Failed)
			}
			checkWritten(t, filepath.Join(dir, w.File))
		})
	}
	if written < 50 {
		t.Errorf("only %d kinds of files were written", written)
	}
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
