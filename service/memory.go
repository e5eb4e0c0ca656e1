package service

import (
	"os"
	"runtime/debug"
)

// Decoding a picture takes some megabytes that are garbage a moment later, beside
// a live heap of a few tens: at Go's usual pace an import collects garbage several
// times a second. A service may use more memory than that for less work. Near
// softLimit the collector becomes as eager as it usually is.
const (
	gcPercent = 400
	softLimit = 1 << 30
)

// paceCollector sets the collector's pace, unless the operator has set it by
// GOGC or GOMEMLIMIT.
func paceCollector() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(softLimit)
	}
}
