package stack

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
)

// ONNX Runtime, which the product's own engine is compared with, as Microsoft's package on PyPI carries it (MIT).
// The packages differ by Python and hold the same library, so one of them is named.
const (
	runtimeVersion = "1.31.1"
	runtimeInside  = "onnxruntime/capi/libonnxruntime.so." + runtimeVersion
)

// runtimeBuild is one build of ONNX Runtime: the platform as PyPI calls it, and the SHA-256 of wheel and library.
type runtimeBuild struct{ platform, wheel, library string }

var runtimeBuilds = map[string]runtimeBuild{
	"linux/amd64": {"manylinux_2_28_x86_64", "5752bd508126ae7c49894d3b9d2e83f0c3d487319246d04c444b393308d7ad7f", "fc44112fbe06d7d689c57e11d3862031f64711007e4ee020f8eed5185fd2c1d3"},
	"linux/arm64": {"manylinux_2_28_aarch64", "da05378364c44d4407e463982d2bf8d5e4cfea873283757e48beeb41df97b7f3", "8aa3b76b28c778a2b1dd660d34161adb1d508c9ccd04ff9dc80e26eca5df8467"},
}

// Runtime returns the path of ONNX Runtime's shared library, and downloads it with pip when the cache does not have it
// yet. Only tests and benchmarks need it.
func Runtime(ctx context.Context, cfg Config, progress io.Writer) (string, error) {
	build, ok := runtimeBuilds[runtime.GOOS+"/"+runtime.GOARCH]
	if !ok {
		return "", fmt.Errorf("there is no recorded ONNX Runtime for %s/%s: use the driver builtin", runtime.GOOS, runtime.GOARCH)
	}
	in, err := openCache(cfg, progress)
	if err != nil {
		return "", err
	}
	path := filepath.Join(in.cfg.CacheDir, "onnxruntime-"+runtimeVersion+"-"+build.library[:8]+".so")
	return path, in.once(ctx, path, func(work string) error { return in.fetchRuntime(ctx, build, work, path) })
}

func (in *instance) fetchRuntime(ctx context.Context, build runtimeBuild, work, path string) error {
	in.say("downloading ONNX Runtime %s (24 MB) from PyPI into %s", runtimeVersion, in.cfg.CacheDir)
	if err := pip(ctx, work, "onnxruntime=="+runtimeVersion, "--python-version", "3.11", "--implementation", "cp", "--abi", "cp311", "--platform", build.platform); err != nil {
		return err
	}
	wheel := filepath.Join(work, "onnxruntime-"+runtimeVersion+"-cp311-cp311-"+build.platform+".whl")
	if err := sumIs(wheel, build.wheel); err != nil {
		return err
	}
	if err := unzip(wheel, filepath.Join(work, "wheel")); err != nil {
		return fmt.Errorf("unpack ONNX Runtime: %w", err)
	}
	library := filepath.Join(work, "wheel", runtimeInside)
	if err := sumIs(library, build.library); err != nil {
		return err
	}
	return os.Rename(library, path)
}
