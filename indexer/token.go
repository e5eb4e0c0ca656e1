package indexer

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"slices"

	"vitrine/library"
)

// Written is an asset and the version that a write gave it.
type Written struct {
	Hash    library.AssetHash
	Version int64
}

// maxTokenWrites bounds a token to some 500 characters. The writes of one
// request are published together, so those that are left out arrive with the
// others.
const maxTokenWrites = 16

// tokenFormat is the first byte of every token.
const tokenFormat = 1

// NewToken makes an index token: what a search must be able to see, as an opaque
// string of at most some 500 characters. It names the last of the writes; no
// writes give an empty token, which asks for nothing.
func NewToken(writes ...Written) string {
	writes = slices.DeleteFunc(slices.Clone(writes), func(w Written) bool { return !w.Hash.Valid() || w.Version <= 0 })
	if len(writes) == 0 {
		return ""
	}
	writes = writes[max(0, len(writes)-maxTokenWrites):]
	out := []byte{tokenFormat}
	for _, w := range writes {
		raw, _ := hex.DecodeString(string(w.Hash)) // valid, as checked above
		out = binary.AppendUvarint(append(out, raw...), uint64(w.Version))
	}
	return base64.RawURLEncoding.EncodeToString(out)
}

// ParseToken reads a token. It gives a fault for a string that NewToken did not make.
func ParseToken(token string) ([]Written, error) {
	if token == "" {
		return nil, nil
	}
	if len(token) > 1024 {
		return nil, badToken()
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil || len(raw) < 2 || raw[0] != tokenFormat {
		return nil, badToken()
	}
	var list []Written
	for raw = raw[1:]; len(raw) > 0; {
		if len(raw) < 21 || len(list) == maxTokenWrites {
			return nil, badToken()
		}
		version, n := binary.Uvarint(raw[20:])
		if n <= 0 || version == 0 || version > 1<<62 {
			return nil, badToken()
		}
		list = append(list, Written{Hash: library.AssetHash(hex.EncodeToString(raw[:20])), Version: int64(version)})
		raw = raw[20+n:]
	}
	return list, nil
}

func badToken() error {
	return library.Invalid(library.FieldFault{Field: "min_index_token", Code: "format",
		Message: "This is not an index token.", Hint: "Pass the index_token of a write's answer unchanged, or leave the field out."})
}
