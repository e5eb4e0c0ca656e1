package library

import "time"

// Model is one model of the library with how much it is used.
type Model struct {
	Hash          ModelHash
	Type          string
	Name          string // as the first file that used it names it
	DisplayName   string
	Description   string
	BaseModel     string   // empty while no file tells
	ContentHashes []string // every hash that files give for its bytes
	TriggerWords  []string
	CreatedAt     time.Time  // when the library first met it
	AssetCount    int        // distinct assets outside the trash
	LastUsed      *time.Time // when the newest of them was made; nil without any
	Versions      int        // not counting deleted ones
}
