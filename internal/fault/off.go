//go:build !fault

package fault

// Enabled tells whether this build has fault points.
const Enabled = false

// Point does nothing in this build.
func Point(string) error { return nil }
