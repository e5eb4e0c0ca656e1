package stack

import (
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
)

// serviceUser is the name of the user root runs the servers as.
const serviceUser = "vitrine"

// identity is the user the servers run as. The zero value means the caller.
type identity struct {
	name     string
	uid, gid int
	switched bool
}

// serviceIdentity returns the caller unless that is root; PostgreSQL and OpenSearch refuse to run as root, so root
// gets the user vitrine, made on first use, or nobody where no user can be made.
func serviceIdentity() (identity, error) {
	if os.Geteuid() != 0 {
		return identity{uid: os.Geteuid(), gid: os.Getegid()}, nil
	}
	if id, err := lookupIdentity(serviceUser); err == nil {
		return id, nil
	}
	if useradd, err := exec.LookPath("useradd"); err == nil {
		// A second checkout may make the user at the same moment: what counts is whether it exists afterwards.
		_ = exec.Command(useradd, "--system", "--user-group", "--no-create-home", "--home-dir", "/nonexistent", "--shell", "/usr/sbin/nologin", serviceUser).Run()
		if id, err := lookupIdentity(serviceUser); err == nil {
			return id, nil
		}
	}
	if id, err := lookupIdentity("nobody"); err == nil {
		return id, nil
	}
	return identity{}, fmt.Errorf("PostgreSQL and OpenSearch do not run as root and no user could be made for them: run `useradd --system %s` (package passwd on Debian and Ubuntu, shadow-utils on Fedora) or start the stack as an ordinary user", serviceUser)
}

func lookupIdentity(name string) (identity, error) {
	u, err := user.Lookup(name)
	if err != nil {
		return identity{}, err
	}
	uid, err := strconv.ParseInt(u.Uid, 10, 64)
	if err != nil {
		return identity{}, err
	}
	gid, err := strconv.ParseInt(u.Gid, 10, 64)
	if err != nil {
		return identity{}, err
	}
	// macOS gives nobody the id -2.
	return identity{name: name, uid: int(uint32(uid)), gid: int(uint32(gid)), switched: true}, nil
}

// apply makes the command run as this user.
func (id identity) apply(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	if id.switched {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(id.uid), Gid: uint32(id.gid)}
	}
}

// makeDir makes a directory the user may write in.
func (id identity) makeDir(path string, mode os.FileMode) error {
	if err := os.MkdirAll(path, mode); err != nil {
		return err
	}
	if !id.switched {
		return nil
	}
	if err := os.Chown(path, id.uid, id.gid); err != nil {
		return err
	}
	return os.Chmod(path, mode)
}

// writeFile writes a file the user may read and replace, whatever the caller's umask is.
func (id identity) writeFile(path, content string) error {
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		return err
	}
	if !id.switched {
		return nil
	}
	if err := os.Chown(path, id.uid, id.gid); err != nil {
		return err
	}
	return os.Chmod(path, 0o644)
}

// canReach reports whether the user may walk to the path: every existing directory on the way must let it pass. The
// caller itself is taken to reach its own paths.
func (id identity) canReach(path string) bool {
	if !id.switched {
		return true
	}
	for dir := filepath.Clean(path); ; dir = filepath.Dir(dir) {
		if info, err := os.Stat(dir); err == nil && !id.mayPass(info) {
			return false
		}
		if dir == filepath.Dir(dir) {
			return true
		}
	}
}

func (id identity) mayPass(info os.FileInfo) bool {
	mode := info.Mode().Perm()
	if owner, ok := info.Sys().(*syscall.Stat_t); ok {
		if int(owner.Uid) == id.uid {
			return mode&0o100 != 0
		}
		if int(owner.Gid) == id.gid {
			return mode&0o010 != 0
		}
	}
	return mode&0o001 != 0
}

// missing is the one sentence said when a program is not on the machine.
func missing(what, why, debian, fedora, brew string) error {
	packages := []string{}
	if runtime.GOOS == "darwin" {
		packages = append(packages, "`brew install "+brew+"`")
	} else {
		packages = append(packages, debian+" (Debian, Ubuntu)", fedora+" (Fedora)", "or `brew install "+brew+"` (macOS)")
	}
	return fmt.Errorf("%s is missing, which %s: install %s", what, why, strings.Join(packages, ", "))
}

func ownerOf(info os.FileInfo) int {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(stat.Uid)
	}
	return -1
}
