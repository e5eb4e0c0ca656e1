package library

import "encoding/json"

import "time"

// Model is one model of the library with how much it is used.
type Model struct {
	Hash          ModelHash
	Type          string
	Name          string // as the first file that used it names it
	DisplayName   string
	Description   string
	BaseModel     string   // empty while no file records it
	ContentHashes []string // every hash that files record for its bytes
	TriggerWords  []string
	CreatedAt     time.Time  // when the library first met it
	AssetCount    int        // distinct assets outside the trash
	LastUsed      *time.Time // when the newest of them was made; nil without any
	Versions      int        // not counting deleted ones
}

// ModelLink is somebody's word that an asset was made with a model. It stands
// beside what the asset's file says and is never merged with it.
type ModelLink struct {
	Model  ModelHash
	Source string // never "extracted": that is the file's own word
	Weight *float64
	Linked bool // false: there is no such link
}

// ModelVersion is one version of a model that somebody keeps notes on. A nil
// pointer means that nobody said.
type ModelVersion struct {
	Model          ModelHash
	Tag            string // unique among the model's versions that are not deleted
	Notes          string
	TrainingSteps  *int64
	TrainingEpochs *int64
	TrainingConfig json.RawMessage // an object, or nil
	QualityScore   *float64        // 0 to 10
	Recommended    bool
	TrainedAt      *time.Time
	CreatedAt      time.Time
	CreatedBy      string // actor id
	DeletedAt      *time.Time
}
