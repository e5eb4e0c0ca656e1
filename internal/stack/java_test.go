package stack

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestJava_TheReleaseOfAJavaVersionIsItsFirstNumber(t *testing.T) {
	cases := map[string]int{"25.0.3": 25, "21": 21, "21-ea": 21, "17.0.15": 17, "1.8.0_402": 8, "22.0.1+8": 22}
	for version, want := range cases {
		if got, err := parseJavaVersion(version); err != nil || got != want {
			t.Errorf("parseJavaVersion(%q) = %d, %v, want %d", version, got, err, want)
		}
	}
	for _, version := range []string{"", "java", "-21"} {
		if got, err := parseJavaVersion(version); err == nil {
			t.Errorf("parseJavaVersion(%q) = %d, want an error", version, got)
		}
	}
}

// fakeJDK makes a directory that looks like a JDK.
func fakeJDK(t *testing.T, release, program string) string {
	t.Helper()
	home := t.TempDir()
	if err := os.Mkdir(filepath.Join(home, "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, "bin", "java"), []byte("#!/bin/sh\n"+program), 0o755); err != nil {
		t.Fatal(err)
	}
	if release != "" {
		if err := os.WriteFile(filepath.Join(home, "release"), []byte(release), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return home
}

func TestJava_TheVersionOfAJDKIsReadFromItsReleaseFileOrAskedFor(t *testing.T) {
	withFile := fakeJDK(t, "IMPLEMENTOR=\"X\"\nJAVA_RUNTIME_VERSION=\"99+1\"\nJAVA_VERSION=\"21.0.2\"\n", "exit 1")
	if got, err := javaVersion(withFile); err != nil || got != 21 {
		t.Errorf("with a release file: %d, %v, want 21", got, err)
	}
	asked := fakeJDK(t, "", `echo 'openjdk version "24.0.1" 2025-04-15' >&2`)
	if got, err := javaVersion(asked); err != nil || got != 24 {
		t.Errorf("without a release file: %d, %v, want 24", got, err)
	}
	if got, err := javaVersion(t.TempDir()); err == nil {
		t.Errorf("a directory without java gives %d, want an error", got)
	}
}

func TestJava_AnOldJavaHomeIsPassedOver(t *testing.T) {
	t.Setenv("OPENSEARCH_JAVA_HOME", fakeJDK(t, "JAVA_VERSION=\"17.0.1\"\n", ""))
	current := fakeJDK(t, "JAVA_VERSION=\"21.0.1\"\n", "")
	t.Setenv("JAVA_HOME", current)
	if got, err := findJava(identity{}); err != nil || got != current {
		t.Errorf("findJava = %s, %v, want JAVA_HOME %s", got, err, current)
	}
}

func TestJava_WhatIsMissingIsSaidInOneSentenceThatNamesThePackage(t *testing.T) {
	said := missing("mvn", "downloads the servers", "maven-deb", "maven-rpm", "maven-brew").Error()
	if !strings.Contains(said, "maven-brew") || strings.Contains(said, "\n") || strings.Contains(said, ". ") {
		t.Errorf("said %q", said)
	}
}
