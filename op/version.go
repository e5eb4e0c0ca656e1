package op

import (
	"context"
	"strconv"
	"strings"

	"vitrine/library"
)

// Versioned is implemented by outputs that show one thing which changes. Its version is a
// number that every change of the thing raises; REST makes the ETag of it.
type Versioned interface{ ResourceVersion() int64 }

// VersionOf returns the version of the one thing that an output shows as REST writes it,
// or "" when it shows none.
func VersionOf(value any) string {
	switch v := value.(type) {
	case Versioned:
		return versionTag(v.ResourceVersion())
	case rawOutput:
		return v.version
	}
	return ""
}

func versionTag(version int64) string { return "v" + strconv.FormatInt(version, 36) }

type ifMatchKey struct{}

// CheckVersion returns an error when the caller of a write expects another version of the
// thing than the one that it is about to change (If-Match). An operation that is
// Conditional calls it in the transaction that writes.
func CheckVersion(ctx context.Context, version int64) error {
	tags, _ := ctx.Value(ifMatchKey{}).([]string)
	if len(tags) == 0 || MatchesVersion(tags, versionTag(version)) {
		return nil
	}
	return VersionConflict()
}

// expects returns what a write asks for the version that its caller expects.
func expects(given context.Context) func(int64) error {
	return func(version int64) error { return CheckVersion(given, version) }
}

// MatchesVersion reports whether one of the values of If-Match names a version. What
// follows the version in a tag says how it was shown, and does not matter here.
func MatchesVersion(headers []string, version string) bool {
	for _, h := range headers {
		for t := range strings.SplitSeq(h, ",") {
			t = strings.TrimSpace(t)
			have, _, _ := strings.Cut(strings.Trim(t, `"`), ".")
			if t == "*" || version != "" && strings.HasPrefix(t, `"`) && have == version {
				return true
			}
		}
	}
	return false
}

// VersionConflict is the error of a request whose If-Match names another version.
func VersionConflict() error {
	return library.NewError(library.KindPrecondition, library.CodePreconditionFailed,
		"It has changed since the version that If-Match names. Read it again and decide whether the change is still right.")
}

// withIfMatch keeps what a write expects for CheckVersion. An operation that changes no
// one thing refuses the condition, rather than to ignore it.
func (o Operation) withIfMatch(ctx context.Context, tags []string) (context.Context, error) {
	switch {
	case len(tags) == 0 || o.ReadOnly || MatchesVersion(tags, ""):
		return ctx, nil
	case !o.Conditional:
		return ctx, library.NewError(library.KindPrecondition, library.CodePreconditionFailed,
			"%s has no version that If-Match could name. Send the request without If-Match.", o.Name)
	}
	return context.WithValue(ctx, ifMatchKey{}, tags), nil
}
