package e2e

import (
	"crypto/sha1"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"vitrine/library"
)

func sha1Hex(data []byte) string {
	sum := sha1.Sum(data)
	return hex.EncodeToString(sum[:])
}

func decode(raw []byte, v any) error { return json.Unmarshal(raw, v) }

// usage is what the library holds, as one comparable text.
func (w world) usage() string {
	w.T.Helper()
	u, err := w.Store.Assets.Usage(w.T.Context(), library.Actor{Kind: library.ActorSystem, Tenant: w.Tenant})
	if err != nil {
		w.T.Fatal(err)
	}
	return fmt.Sprintf("%d assets, %d bytes, %d in the trash", u.Assets, u.Bytes, u.TrashBytes)
}
