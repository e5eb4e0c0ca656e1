package indexer

import (
	"encoding/hex"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"vitrine/library"
)

func TestATokenGivesBackItsLastWrites(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		writes := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Written {
			h := rapid.SliceOfN(rapid.Byte(), 20, 20).Draw(t, "hash")
			return Written{library.AssetHash(hex.EncodeToString(h)), rapid.Int64Range(1, 1<<62).Draw(t, "version")}
		}), 0, 3*maxTokenWrites).Draw(t, "writes")
		token := NewToken(writes...)
		if len(token) > 800 {
			t.Fatalf("a token of %d characters", len(token))
		}
		got, err := ParseToken(token)
		if err != nil {
			t.Fatal(err)
		}
		want := writes[max(0, len(writes)-maxTokenWrites):]
		if len(want) == 0 {
			want = nil
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestNoStringIsATokenByChance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.OneOf(rapid.String(), rapid.StringMatching(`AQ[A-Za-z0-9_-]{0,60}`)).Draw(t, "token")
		got, err := ParseToken(s)
		var f *library.Fault
		switch {
		case err == nil && NewToken(got...) != s:
			t.Fatalf("ParseToken(%q) = %v, which is the token %q", s, got, NewToken(got...))
		case err != nil && (!errors.As(err, &f) || f.Kind != library.KindInvalid):
			t.Fatalf("ParseToken(%q) fails with %v, which is no fault of the caller", s, err)
		}
	})
}

func TestATokenLeavesOutWhatWasNotWritten(t *testing.T) {
	if token := NewToken(Written{"not a hash", 1}, Written{"0000000000000000000000000000000000000000", 0}); token != "" {
		t.Errorf("token = %q", token)
	}
}
