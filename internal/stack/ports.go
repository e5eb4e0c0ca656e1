package stack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// Ports are picked from this range: below the ports systems hand to outgoing connections (Linux from 32768, macOS from
// 49152), so that a port is not taken by a connection while its server is down.
const (
	firstPort = 21000
	lastPort  = 31999
)

// portBook remembers, in the cache all checkouts share, which run directory holds which ports: a stack that is down
// keeps its ports.
type portBook map[string]Ports

func (in *instance) portsPath() string { return filepath.Join(in.cfg.Dir, "ports.json") }
func (in *instance) bookPath() string  { return filepath.Join(in.cfg.CacheDir, "ports.json") }

// choosePorts decides the ports before servers start: given ones, else remembered ones, else free ones. A remembered
// port that another program has taken while its server was down is picked anew.
func (in *instance) choosePorts(ctx context.Context) error {
	lock, err := acquire(ctx, filepath.Join(in.cfg.CacheDir, "ports.lock"), nil)
	if err != nil {
		return err
	}
	defer lock.release()
	book := readBook(in.bookPath())
	ports, err := choosePorts(in.cfg.Ports, in.ports, in.portsInUse(), in.firstChoice(), book.taken(in.cfg.Dir))
	if err != nil {
		return err
	}
	if ports == in.ports && book[in.cfg.Dir] == ports {
		return nil
	}
	in.ports, book[in.cfg.Dir] = ports, ports
	if err := writeJSON(in.bookPath(), book); err != nil {
		return fmt.Errorf("remember the ports: %w", err)
	}
	return writeJSON(in.portsPath(), ports)
}

// choosePorts returns the ports to use: for each the one of its running server, else the given one, else the remembered
// one, else the next free one from the first choice on. No port in taken is chosen on its own account.
func choosePorts(given, remembered Ports, running [5]bool, first int, taken map[int]bool) (Ports, error) {
	chosen := Ports{}
	want, had, out := given.all(), remembered.all(), chosen.all()
	next := first
	for i := range out {
		switch {
		case running[i] && *had[i] != 0:
			if *want[i] != 0 && *want[i] != *had[i] {
				return Ports{}, fmt.Errorf("the server on port %d runs and cannot move to port %d: stop the stack first", *had[i], *want[i])
			}
			*out[i] = *had[i]
		case *want[i] != 0:
			if !becomesFree(*want[i]) {
				return Ports{}, fmt.Errorf("port %d is taken by another program: choose another one, or none to have a free one picked", *want[i])
			}
			*out[i] = *want[i]
		case *had[i] != 0 && !taken[*had[i]] && becomesFree(*had[i]):
			*out[i] = *had[i]
		default:
			for next <= lastPort && (taken[next] || !portFree(next)) {
				next++
			}
			if next > lastPort {
				return Ports{}, fmt.Errorf("there is no free port from %d to %d", first, lastPort)
			}
			*out[i] = next
		}
		taken[*out[i]] = true
	}
	return chosen, nil
}

// firstChoice spreads run directories over the range, so that two on one machine rarely compete even without the book.
func (in *instance) firstChoice() int {
	sum := fnv.New32a()
	sum.Write([]byte(in.cfg.Dir))
	return firstPort + int(sum.Sum32()%uint32((lastPort-firstPort)/10))*10
}

// portsInUse returns, in the order of Ports.all, which ports belong to a server of this stack that runs.
func (in *instance) portsInUse() [5]bool {
	pg, kf, os := in.process(&postgres{in}).alive(), in.process(&kafka{in}).alive(), in.process(&openSearch{in}).alive()
	return [5]bool{pg, kf, kf, os, os}
}

func (in *instance) releasePorts(ctx context.Context) error {
	lock, err := acquire(ctx, filepath.Join(in.cfg.CacheDir, "ports.lock"), nil)
	if err != nil {
		return err
	}
	defer lock.release()
	book := readBook(in.bookPath())
	delete(book, in.cfg.Dir)
	return writeJSON(in.bookPath(), book)
}

// becomesFree waits a moment for a port: the kernel takes a while to close the sockets of a killed server.
func becomesFree(port int) bool {
	for end := time.Now().Add(2 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if portFree(port) {
			return true
		}
	}
	return false
}

func portFree(port int) bool {
	listener, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return false
	}
	return listener.Close() == nil
}

func readPorts(path string) (Ports, error) {
	var ports Ports
	content, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return ports, nil
	}
	if err != nil {
		return ports, err
	}
	if err := json.Unmarshal(content, &ports); err != nil {
		return ports, fmt.Errorf("%s is not readable, reset the stack: %w", path, err)
	}
	return ports, nil
}

// readBook reads the book without the run directories that are gone. A damaged book only costs the guarantee about
// stacks that are down, so it starts empty.
func readBook(path string) portBook {
	book := portBook{}
	if content, err := os.ReadFile(path); err == nil {
		if json.Unmarshal(content, &book) != nil {
			return portBook{}
		}
	}
	for dir := range book {
		if _, err := os.Stat(filepath.Join(dir, "ports.json")); err != nil {
			delete(book, dir)
		}
	}
	return book
}

// taken lists the ports of all other run directories.
func (b portBook) taken(self string) map[int]bool {
	taken := map[int]bool{}
	for dir, ports := range b {
		if dir == self {
			continue
		}
		for _, port := range ports.all() {
			taken[*port] = true
		}
	}
	return taken
}
