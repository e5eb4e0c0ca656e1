package settings

import (
	"time"

	"vitrine/backup"
	"vitrine/service"
)

// Backups are the flags of scheduled backups.
type Backups struct {
	BackupTo    string        `env:"VITRINE_BACKUP_TO" help:"Folder, or s3://bucket/prefix, that the role work backs the library up to. Default: no scheduled backups. They need VITRINE_POSTGRES_URL."`
	BackupEvery time.Duration `env:"VITRINE_BACKUP_EVERY" default:"24h" help:"Time between the beginnings of two backups."`
	BackupAt    string        `env:"VITRINE_BACKUP_AT" placeholder:"03:30" help:"Time of day at which backups begin, in the local time zone; VITRINE_BACKUP_EVERY is whole days then. Default: when the last one is old enough."`
	BackupKeep  string        `env:"VITRINE_BACKUP_KEEP" default:"last=3,daily=7,weekly=4,monthly=12" help:"Backups to keep: the newest, and the newest of each of the latest days, weeks and months. Empty keeps all."`
}

// Config returns the flags as the service takes them.
func (b Backups) Config() (service.BackupConfig, error) {
	keep, err := backup.ParseKeep(b.BackupKeep)
	return service.BackupConfig{To: b.BackupTo, Every: b.BackupEvery, At: b.BackupAt, Keep: keep}, err
}
