package stack

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestProcessLinux_AStatusLineIsReadBehindAnyProgramName(t *testing.T) {
	rest := " S 17 1 1 0 -1 4194304 0 0 0 0 1 2 0 0 20 0 31 0 987654 0 0"
	want := procStat{state: "S", parent: 17, threads: 31, started: "987654"}
	for _, name := range []string{"(java)", "(tmux: server)", "(a) b)", "((((", "()"} {
		got, err := parseStat("42 (" + name + ")" + rest)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(procStat{})); diff != "" {
			t.Errorf("program %q (-want +got):\n%s", name, diff)
		}
	}
	for _, line := range []string{"", "42 (java) S 17", "42 (java) S x" + strings.Repeat(" 1", 30)} {
		if _, err := parseStat(line); err == nil {
			t.Errorf("%q is taken for a status line", line)
		}
	}
}

func TestProcessLinux_AZombieHasEndedOnceItsThreadsHave(t *testing.T) {
	cases := []struct {
		stat  procStat
		ended bool
	}{
		{procStat{state: "S", threads: 1}, false},
		{procStat{state: "T", threads: 5}, false},
		{procStat{state: "Z", threads: 1}, true},
		{procStat{state: "Z", threads: 7}, false},
		{procStat{state: "X", threads: 0}, true},
	}
	for _, c := range cases {
		if c.stat.ended() != c.ended {
			t.Errorf("%+v ended: %v, want %v", c.stat, !c.ended, c.ended)
		}
	}
}

func TestProcessLinux_AProgramIsKnownByItsName(t *testing.T) {
	p, _ := sleeper(t)
	if !runsProgram(p.PID, "sleep") || runsProgram(p.PID, "postgres") || runsProgram(1<<30, "sleep") {
		t.Error("a process is not known by the name of its program")
	}
	if runsProgram(os.Getpid(), "sleep") {
		t.Error("this test is taken for sleep")
	}
}
