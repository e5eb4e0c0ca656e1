package service

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vitrine/backup"
	"vitrine/library"
)

// BackupConfig is when and where the role work backs the library up. The zero value means
// never.
type BackupConfig struct {
	To    string        // folder, or s3://bucket/prefix on the server of Config.S3
	Every time.Duration // time between the beginnings of two backups
	// At is the time of day, as 03:30 in the local time zone, at which backups begin; Every is
	// whole days then. "" means that one begins when the last is old enough.
	At   string
	Keep backup.Keep // what stays after a backup; the zero value keeps all
}

// check returns what is wrong with the settings.
func (b BackupConfig) check(owner string) (errs []library.FieldError) {
	if b.To == "" {
		return nil
	}
	wrong := func(field, message string) {
		errs = append(errs, library.FieldError{Field: field, Code: "backup", Message: message})
	}
	if owner == "" {
		wrong("backup_to", "Scheduled backups need the login of the schema's owner in VITRINE_POSTGRES_URL.")
	}
	if b.Every < time.Minute {
		wrong("backup_every", "The time between two backups must be a minute or more, such as 24h.")
	}
	if _, err := time.Parse("15:04", b.At); b.At != "" && err != nil {
		wrong("backup_at", "The time of day of backups must have the form 03:30.")
	}
	if b.At != "" && b.Every%(24*time.Hour) != 0 {
		wrong("backup_every", "With a time of day, the time between two backups must be whole days, such as 24h or 168h.")
	}
	return errs
}

// due reports whether a backup should begin now, if the last one is of a time; the zero
// time is none.
func (b BackupConfig) due(last, now time.Time) bool {
	if last.IsZero() || b.At == "" {
		return now.Sub(last) >= b.Every
	}
	at, _ := time.Parse("15:04", b.At) // checked when the product was opened
	today := time.Date(now.Year(), now.Month(), now.Day(), at.Hour(), at.Minute(), 0, 0, now.Location())
	if today.After(now) {
		today = today.AddDate(0, 0, -1)
	}
	return last.Before(today.AddDate(0, 0, 1-int(b.Every/(24*time.Hour))))
}

// Overdue reports whether the last backup is older than it should ever be: twice the time
// between two.
func (b BackupConfig) Overdue(last, now time.Time) bool { return now.Sub(last) > 2*b.Every }

const (
	// backupTick is how soon after its start the worker looks whether a backup is due, and
	// backupLook how often from then on.
	backupTick = 5 * time.Second
	backupLook = time.Minute
	// backupRetry is when one that failed is tried again.
	backupRetry = 10 * time.Minute
)

// backupMetrics shows the scheduled backups of this process.
type backupMetrics struct {
	last, failed, bytes prometheus.Gauge
	failures            prometheus.Counter
	next                time.Time // no look before this; of the one goroutine that backs up
}

func newBackupMetrics(reg prometheus.Registerer) *backupMetrics {
	m := &backupMetrics{
		last:     prometheus.NewGauge(prometheus.GaugeOpts{Name: "vitrine_backup_last_timestamp_seconds", Help: "As of when the newest backup is that this process has made or found; 0 for none."}),
		failed:   prometheus.NewGauge(prometheus.GaugeOpts{Name: "vitrine_backup_damaged_files", Help: "Files that the library had lost or held damaged when this process made its last backup."}),
		bytes:    prometheus.NewGauge(prometheus.GaugeOpts{Name: "vitrine_backup_copied_bytes", Help: "Bytes of files that the last backup of this process copied."}),
		failures: prometheus.NewCounter(prometheus.CounterOpts{Name: "vitrine_backup_failures_total", Help: "Scheduled backups that failed."}),
	}
	reg.MustRegister(m.last, m.failed, m.bytes, m.failures)
	return m
}

// backUp makes a backup when one is due. Of several processes one does: the place is
// locked, and the others find the new one there.
func (s *Service) backUp(ctx context.Context) {
	if time.Now().Before(s.backups.next) {
		return
	}
	s.backups.next = time.Now().Add(backupLook)
	made, err := s.BackUp(ctx, false)
	switch {
	case ctx.Err() != nil:
	case err != nil:
		s.backups.next = time.Now().Add(backupRetry)
		s.backups.failures.Inc()
		s.log.Error("the scheduled backup failed; it is tried again", "to", s.cfg.Backups.To, "retry_in", backupRetry, "error", err)
	case made != nil && len(made.Damaged) > 0:
		s.log.Error("a backup was made, and files of the library are missing or damaged in it", "backup", made.ID, "damaged", len(made.Damaged))
	case made != nil:
		s.log.Info("a backup was made", "backup", made.ID, "assets", made.Files.Count, "copied_files", made.Files.Copied, "copied_bytes", made.Files.CopiedBytes, "took", made.Finished.Sub(made.At).Round(time.Second))
	}
}

// BackUp makes the scheduled backup if it is due, or at once, and removes what the
// retention does not keep. The manifest is nil when none was due.
func (s *Service) BackUp(ctx context.Context, now bool) (*backup.Manifest, error) {
	b := s.cfg.Backups
	to, err := backup.CreateAt(ctx, b.To, s.cfg.S3)
	if err != nil {
		return nil, err
	}
	defer to.Close()
	last, err := backup.Newest(ctx, to)
	if err != nil {
		return nil, err
	}
	s.backups.seen(last)
	if !now && !b.due(last, time.Now()) {
		return nil, nil
	}
	m, err := backup.Create(ctx, backup.Library{Database: s.cfg.Database(), Blobs: s.Blobs}, to, backup.Options{Version: s.cfg.Version})
	if errors.Is(err, backup.ErrBusy) && !now { // another process is at it
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	s.backups.seen(m.At)
	s.backups.failed.Set(float64(len(m.Damaged)))
	s.backups.bytes.Set(float64(m.Files.CopiedBytes))
	if b.Keep.All() {
		return &m, nil
	}
	pruned, err := backup.Prune(ctx, to, b.Keep, backup.Options{})
	if err != nil && !errors.Is(err, backup.ErrBusy) {
		return &m, fmt.Errorf("the backup %s is complete, and older ones could not be removed: %w", m.ID, err)
	}
	if len(pruned.Backups) > 0 {
		s.log.Info("old backups were removed", "backups", pruned.Backups, "files", pruned.Files, "kept", pruned.Kept)
	}
	return &m, nil
}

func (m *backupMetrics) seen(at time.Time) {
	if !at.IsZero() {
		m.last.Set(float64(at.Unix()))
	}
}
