package auth

import (
	"context"
	"strings"
	"testing"
)

func TestPassword_OnlyThePasswordOfAHashFits(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	hash, err := HashPassword(ctx, "correct horse")
	if err != nil || !strings.HasPrefix(hash, "$argon2id$v=19$m=19456,t=2,p=1$") || strings.Contains(hash, "horse") {
		t.Fatalf("%q %v", hash, err)
	}
	if again, _ := HashPassword(ctx, "correct horse"); again == hash {
		t.Error("two hashes of one password are equal: there is no salt")
	}
	for password, want := range map[string]bool{"correct horse": true, "correct horse ": false, "Correct horse": false, "": false} {
		if got, err := ComparePassword(ctx, password, hash); got != want || err != nil {
			t.Errorf("%q fits: %v, %v", password, got, err)
		}
	}
	const start = "$argon2id$v=19$m=19456,t=2,p=1$c29tZXNhbHRzb21lc2FsdA$"
	for _, broken := range []string{"", "$2a$10$x", start + "!", strings.Replace(hash, "m=", "n=", 1)} {
		if fits, err := ComparePassword(ctx, "correct horse", broken); fits || err == nil {
			t.Errorf("%q was read as a hash", broken)
		}
	}
	gone, stop := context.WithCancel(ctx)
	stop()
	for range cap(hashTurns) {
		hashTurns <- struct{}{}
	}
	_, err = HashPassword(gone, "correct horse")
	for range cap(hashTurns) {
		<-hashTurns
	}
	if err == nil {
		t.Error("a password was hashed for somebody who had gone, while all turns were taken")
	}
}
