package stack

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5"
)

// postgres is PostgreSQL from the zonky build: initdb, pg_ctl and postgres with the contributed extensions.
type postgres struct{ in *instance }

func (*postgres) name() string  { return Postgres }
func (*postgres) title() string { return "PostgreSQL " + PostgresVersion }
func (p *postgres) port() int   { return p.in.ports.Postgres }

func (p *postgres) dataDir() string { return filepath.Join(p.in.serverDir(Postgres), "data") }

// prepare makes the database cluster the first time. initdb works in a directory beside the final one, so that an
// interrupted first start leaves nothing half made behind.
func (p *postgres) prepare(ctx context.Context) error {
	if err := errors.Join(p.in.makeServerDir(Postgres), p.in.writeSecrets(Postgres)); err != nil {
		return err
	}
	if _, err := os.Stat(p.dataDir()); err == nil {
		return p.removeStaleLocks()
	} else if !errors.Is(err, os.ErrNotExist) {
		return err
	}
	fresh := p.dataDir() + ".new"
	if err := os.RemoveAll(fresh); err != nil {
		return err
	}
	args := slices.Concat([]string{"-D", fresh, "-U", "postgres"}, p.authArgs(), initdbArgs)
	if err := p.in.run(ctx, p, filepath.Join(p.in.cache.postgres, "bin", "initdb"), args...); err != nil {
		return err
	}
	if err := p.secure(fresh); err != nil {
		return err
	}
	return os.Rename(fresh, p.dataDir())
}

// removeStaleLocks removes the lock files of a killed server, of its data and of its socket. PostgreSQL does that itself
// unless the process number in them still exists, and it does for a moment as a zombie, or for good when another program
// has got it since. Sessions of the killed server that still run are found by PostgreSQL through its shared memory.
func (p *postgres) removeStaleLocks() error {
	for _, path := range []string{
		filepath.Join(p.dataDir(), "postmaster.pid"),
		filepath.Join(p.in.serverDir(Postgres), ".s.PGSQL."+strconv.Itoa(p.port())+".lock"),
	} {
		content, err := os.ReadFile(path)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		first, _, _ := strings.Cut(string(content), "\n")
		if pid, err := strconv.Atoi(first); err == nil && runsProgram(pid, "postgres") {
			continue
		}
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	return nil
}

func (p *postgres) command() *exec.Cmd {
	args := []string{"-D", p.dataDir()}
	local := []setting{
		{"listen_addresses", "127.0.0.1"},
		{"port", strconv.Itoa(p.port())},
		{"unix_socket_directories", p.in.serverDir(Postgres)},
	}
	for _, s := range slices.Concat(local, p.secureSettings(), postgresSettings) {
		args = append(args, "-c", s.name+"="+s.value)
	}
	return exec.Command(filepath.Join(p.in.cache.postgres, "bin", "postgres"), args...)
}

func (p *postgres) ready(ctx context.Context) error {
	conn, err := pgx.Connect(ctx, p.in.endpoints().PostgresURL)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	return conn.Ping(ctx)
}

// stopSignal asks for a fast shutdown: sessions are ended, running transactions rolled back, then a checkpoint.
func (*postgres) stopSignal() syscall.Signal { return syscall.SIGINT }
