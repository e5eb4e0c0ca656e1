//go:build !failpoint

package failpoint

// Enabled reports whether this build has failpoints.
const Enabled = false

// Inject does nothing in this build.
func Inject(string) error { return nil }
