package service

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vitrine/library"
	"vitrine/media/blob"
	"vitrine/verify"
)

// The background check reads every file again, slowly: a disk tells of rotten bytes only
// to those who read them, and the sooner they do, the more likely the original or a
// backup is still there.
const (
	// scrubTick is how often the check goes on.
	scrubTick = 10 * time.Second
	// scrubHold is when another process takes the check over from one that died.
	scrubHold = time.Hour
)

// scrubMetrics shows what the background check does.
type scrubMetrics struct {
	files, bytes prometheus.Counter
	damaged      *prometheus.GaugeVec
	began, ended prometheus.Gauge
}

func newScrubMetrics(reg prometheus.Registerer) *scrubMetrics {
	m := &scrubMetrics{
		files:   prometheus.NewCounter(prometheus.CounterOpts{Name: "vitrine_scrub_files_total", Help: "Files that the background check has read."}),
		bytes:   prometheus.NewCounter(prometheus.CounterOpts{Name: "vitrine_scrub_bytes_total", Help: "Bytes that the background check has read."}),
		damaged: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "vitrine_damaged_files", Help: "Files that are known to be missing or damaged, by problem."}, []string{"problem"}),
		began:   prometheus.NewGauge(prometheus.GaugeOpts{Name: "vitrine_scrub_began_timestamp_seconds", Help: "When the last pass of the background check over all files began."}),
		ended:   prometheus.NewGauge(prometheus.GaugeOpts{Name: "vitrine_scrub_ended_timestamp_seconds", Help: "When the last pass of the background check over all files ended; 0 while one is under way."}),
	}
	reg.MustRegister(m.files, m.bytes, m.damaged, m.began, m.ended)
	return m
}

// scrub goes on with the background check of files. Of several processes one does.
func (s *Service) scrub(ctx context.Context) {
	if err := s.Scrub(ctx, scrubTick); err != nil && ctx.Err() == nil {
		s.log.Warn("the check of files could not go on", "error", err)
	}
}

// Scrub checks as many files as may be read in a time at the configured rate, unless
// another process does or the last pass over all files is young.
func (s *Service) Scrub(ctx context.Context, within time.Duration) error {
	defer s.countDamage(ctx)
	at, claimed, err := s.Store.Files.ClaimScrub(ctx, s.scrubber, scrubHold, s.cfg.ScrubEvery)
	if err != nil || !claimed {
		return err
	}
	got, err := verify.Run(ctx, s.Store.Files, s.Blobs, verify.Options{Share: 1, After: at.After, Rate: s.cfg.ScrubRate,
		Most: int64(float64(s.cfg.ScrubRate) * within.Seconds()), Found: s.reportDamage})
	s.scrubs.files.Add(float64(got.Files))
	s.scrubs.bytes.Add(float64(got.Bytes))
	saving, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if saveErr := s.Store.Files.SaveScrub(saving, s.scrubber, got.Last, got.Ended && err == nil); err == nil {
		err = saveErr
	}
	if got.Ended {
		s.log.Info("the check of files has read all of them", "began", at.BeganAt.UTC().Format(time.RFC3339))
	}
	return err
}

func (s *Service) reportDamage(d library.DamagedFile) {
	s.log.Error("a file is not what was stored; import the original again, or copy it back from a backup",
		"tenant", d.Tenant, "asset_h", d.Hash, "problem", d.Problem)
}

// countDamage updates the metrics that PostgreSQL knows.
func (s *Service) countDamage(ctx context.Context) {
	counts, err := s.Store.Files.CountDamaged(ctx)
	if err != nil {
		return // the next time will do
	}
	for _, p := range library.FileProblems {
		s.scrubs.damaged.WithLabelValues(string(p)).Set(float64(counts[p]))
	}
	last, err := s.Store.Files.LastScrub(ctx)
	if err != nil {
		return
	}
	s.scrubs.ended.Set(0)
	if last.BeganAt.IsZero() {
		return
	}
	s.scrubs.began.Set(float64(last.BeganAt.Unix()))
	if last.EndedAt != nil {
		s.scrubs.ended.Set(float64(last.EndedAt.Unix()))
	}
}

// newScrubber names a process that checks files.
func newScrubber() string { return blob.NewStagingID() }
