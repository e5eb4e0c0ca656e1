package stack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// Endpoints are the addresses of a running stack.
type Endpoints struct {
	// PostgresURL leads to the database postgres as the superuser, without a password.
	PostgresURL string `json:"postgres_url"`
	// KafkaBrokers are host:port pairs.
	KafkaBrokers []string `json:"kafka_brokers"`
	// OpenSearchURL is plain HTTP without a path.
	OpenSearchURL string `json:"opensearch_url"`
}

// endpointsFile is where a running stack leaves its addresses in the run directory.
const endpointsFile = "endpoints.json"

// ErrNotRunning is returned by Running when one of the servers of the stack does not run.
var ErrNotRunning = errors.New("the stack does not run")

// State is what is known about one server.
type State string

// The states of a server.
const (
	Stopped State = "stopped" // no process
	Paused  State = "paused"  // a process frozen by Pause
	Silent  State = "silent"  // a process that does not answer, for example while it starts
	Answers State = "running" // answers its own protocol
)

// ServerStatus is one line of Status.
type ServerStatus struct {
	Name    string `json:"name"`
	Version string `json:"version"` // product and version
	State   State  `json:"state"`
	Address string `json:"address"` // 127.0.0.1:port, empty before the first start
	PID     int    `json:"pid"`     // 0 when stopped
	Log     string `json:"log"`     // path of the log
}

// Running returns the addresses of the stack of a run directory when all its servers run, ErrNotRunning otherwise. It
// looks at processes only and costs well under a millisecond on Linux; Status asks the servers themselves.
func Running(dir string) (Endpoints, error) {
	content, err := os.ReadFile(filepath.Join(dir, endpointsFile))
	if errors.Is(err, os.ErrNotExist) {
		return Endpoints{}, ErrNotRunning
	}
	if err != nil {
		return Endpoints{}, err
	}
	var found Endpoints
	if err := json.Unmarshal(content, &found); err != nil {
		return Endpoints{}, fmt.Errorf("read the addresses of the stack: %w", err)
	}
	cfg, err := Config{Dir: dir}.complete()
	if err != nil {
		return Endpoints{}, err
	}
	in := &instance{cfg: cfg}
	for _, s := range in.servers() {
		if !in.process(s).alive() {
			return Endpoints{}, ErrNotRunning
		}
	}
	return found, nil
}

// Addresses returns where the servers of a stack listen, or would, without looking whether they run: for who started
// one of them with Start.
func Addresses(cfg Config) (Endpoints, error) {
	cfg, err := cfg.complete()
	if err != nil {
		return Endpoints{}, err
	}
	in := &instance{cfg: cfg}
	if in.ports, err = readPorts(in.portsPath()); err != nil {
		return Endpoints{}, err
	}
	return in.endpoints(), nil
}

// Status asks each server whether it answers. It takes no lock and changes nothing, so it also works while another
// command starts the stack.
func Status(ctx context.Context, cfg Config) ([]ServerStatus, error) {
	cfg, err := cfg.complete()
	if err != nil {
		return nil, err
	}
	in := &instance{cfg: cfg, home: homeOf(cfg), progress: io.Discard}
	if in.ports, err = readPorts(in.portsPath()); err != nil {
		return nil, err
	}
	var all []ServerStatus
	for _, s := range in.servers() {
		all = append(all, in.status(ctx, s))
	}
	return all, nil
}

func (in *instance) status(ctx context.Context, s server) ServerStatus {
	st := ServerStatus{Name: s.name(), Version: s.title(), State: Stopped, Log: in.logPath(s.name())}
	if s.port() != 0 {
		st.Address = in.address(s.port())
	}
	p := in.process(s)
	if !p.alive() {
		return st
	}
	st.PID = p.PID
	if isStopped(p.PID) {
		st.State = Paused
		return st
	}
	try, stop := context.WithTimeout(ctx, 2*time.Second)
	defer stop()
	st.State = Silent
	if s.ready(try) == nil {
		st.State = Answers
	}
	return st
}

func (in *instance) address(port int) string { return "127.0.0.1:" + strconv.Itoa(port) }

func (in *instance) endpoints() Endpoints {
	pg := url.URL{Scheme: "postgres", User: url.User("postgres"), Host: in.address(in.ports.Postgres), Path: "/postgres", RawQuery: "sslmode=disable"}
	if in.cfg.Secure != nil {
		in.securePostgresURL(&pg)
	}
	return Endpoints{
		PostgresURL:   pg.String(),
		KafkaBrokers:  []string{in.address(in.ports.Kafka)},
		OpenSearchURL: "http://" + in.address(in.ports.OpenSearch),
	}
}

func (in *instance) saveEndpoints() error {
	if err := writeJSON(filepath.Join(in.cfg.Dir, endpointsFile), in.endpoints()); err != nil {
		return fmt.Errorf("remember the addresses: %w", err)
	}
	return nil
}

func (in *instance) removeEndpoints() error {
	err := os.Remove(filepath.Join(in.cfg.Dir, endpointsFile))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("forget the addresses: %w", err)
	}
	return nil
}
