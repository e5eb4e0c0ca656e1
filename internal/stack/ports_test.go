package stack

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func occupy(t *testing.T) int {
	t.Helper()
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	return listener.Addr().(*net.TCPAddr).Port
}

// unoccupied returns a port that was free a moment ago.
func unoccupied(t *testing.T) int {
	t.Helper()
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port
}

func TestPorts_FirstPortsAreFreeDistinctAndNotOfOtherStacks(t *testing.T) {
	taken := map[int]bool{firstPort + 1: true, firstPort + 3: true}
	got, err := choosePorts(Ports{}, Ports{}, [5]bool{}, firstPort, taken)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[int]bool{firstPort + 1: true, firstPort + 3: true}
	for _, port := range got.all() {
		if *port < firstPort || *port > lastPort || seen[*port] {
			t.Errorf("port %d is out of range, taken or given twice", *port)
		}
		seen[*port] = true
	}
}

func TestPorts_RememberedPortsAreKeptAndOneTakenByAnotherProgramMoves(t *testing.T) {
	remembered := Ports{Postgres: unoccupied(t), Kafka: occupy(t), KafkaController: unoccupied(t), OpenSearch: unoccupied(t), OpenSearchTransport: unoccupied(t)}
	got, err := choosePorts(Ports{}, remembered, [5]bool{}, firstPort, map[int]bool{})
	if err != nil {
		t.Fatal(err)
	}
	if got.Kafka == remembered.Kafka {
		t.Errorf("Kafka stays on port %d, which another program has", got.Kafka)
	}
	got.Kafka = remembered.Kafka
	if diff := cmp.Diff(remembered, got); diff != "" {
		t.Errorf("the other ports moved (-remembered +got):\n%s", diff)
	}
}

func TestPorts_ARunningServerKeepsItsPort(t *testing.T) {
	own := occupy(t) // by the server itself
	remembered := Ports{Postgres: own}
	got, err := choosePorts(Ports{}, remembered, [5]bool{true}, firstPort, map[int]bool{})
	if err != nil || got.Postgres != own {
		t.Errorf("port is %d, %v, want %d", got.Postgres, err, own)
	}
	if _, err := choosePorts(Ports{Postgres: unoccupied(t)}, remembered, [5]bool{true}, firstPort, map[int]bool{}); err == nil {
		t.Error("a running server is asked to move and nothing is said")
	}
}

func TestPorts_AGivenPortIsUsedOrRefusedNeverReplaced(t *testing.T) {
	given := unoccupied(t)
	got, err := choosePorts(Ports{OpenSearch: given}, Ports{OpenSearch: unoccupied(t)}, [5]bool{}, firstPort, map[int]bool{})
	if err != nil || got.OpenSearch != given {
		t.Errorf("port is %d, %v, want the given %d", got.OpenSearch, err, given)
	}
	_, err = choosePorts(Ports{OpenSearch: occupy(t)}, Ports{}, [5]bool{}, firstPort, map[int]bool{})
	if err == nil || !strings.Contains(err.Error(), "taken by another program") {
		t.Errorf("a given port that is taken gives %v", err)
	}
}

func TestPorts_TheBookForgetsRunDirectoriesThatAreGone(t *testing.T) {
	there, gone := t.TempDir(), filepath.Join(t.TempDir(), "gone")
	if err := writeJSON(filepath.Join(there, "ports.json"), Ports{Kafka: 22222}); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "ports.json")
	if err := writeJSON(path, portBook{there: {Kafka: 22222}, gone: {Kafka: 33333}}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(portBook{there: {Kafka: 22222}}, readBook(path)); diff != "" {
		t.Errorf("book differs (-want +got):\n%s", diff)
	}
	taken := readBook(path).taken("/another")
	if !taken[22222] || taken[33333] {
		t.Errorf("taken ports are %v, want 22222 only", taken)
	}
	if readBook(path).taken(there)[22222] {
		t.Error("a stack counts its own ports as taken")
	}
}

func TestPorts_ADamagedBookIsEmptyAndADamagedMemoryIsAnError(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ports.json")
	if err := os.WriteFile(path, []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if book := readBook(path); len(book) != 0 {
		t.Errorf("a damaged book holds %v", book)
	}
	if _, err := readPorts(path); err == nil {
		t.Error("damaged ports of a stack are taken for none")
	}
}

func TestPorts_ARememberedPortOfAnotherStackIsLeftToIt(t *testing.T) {
	// The run directory of a copied checkout remembers the ports of the original.
	remembered := Ports{Postgres: unoccupied(t)}
	got, err := choosePorts(Ports{}, remembered, [5]bool{}, firstPort, map[int]bool{remembered.Postgres: true})
	if err != nil || got.Postgres == remembered.Postgres {
		t.Errorf("port is %d, %v, want another one than the other stack's", got.Postgres, err)
	}
}
