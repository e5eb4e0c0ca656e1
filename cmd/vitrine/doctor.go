package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"vitrine/backup"
	"vitrine/internal/kafkaclient"
	"vitrine/internal/opensearch"
	"vitrine/internal/settings"
	"vitrine/media/blob"
	"vitrine/media/preview"
	"vitrine/service"
	"vitrine/store"
)

type doctorCommand struct {
	servers
	settings.Backups
	Ready bool   `help:"Only check whether a service on this machine is ready; for health checks."`
	URL   string `env:"VITRINE_URL" default:"http://127.0.0.1:7788" help:"Address of the service for --ready."`
}

// Run checks each part and says what to do about what is wrong.
func (c *doctorCommand) Run(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	if c.Ready {
		return ready(ctx, c.URL)
	}
	cfg, err := c.config()
	if err != nil {
		return err
	}
	sick := false
	check := func(what, remedy string, try func() (string, error)) bool {
		said, err := try()
		if err == nil {
			fmt.Printf("ok    %-12s %s\n", what, said)
			return true
		}
		sick = true
		fmt.Printf("BAD   %-12s %s\n      %-12s %s\n", what, describe(err), "", remedy)
		return false
	}
	database := check("PostgreSQL", "Is it running, and are VITRINE_POSTGRES_URL and the service's logins right? vitrine stack up starts the local one.", func() (string, error) {
		behind, err := store.SchemaBehind(ctx, cfg.Database())
		if err == nil && behind > 0 {
			err = fmt.Errorf("the schema lacks %d migration(s); run vitrine migrate", behind)
		}
		return "schema is current", err
	})
	check("OpenSearch", "Is it running, and are the settings VITRINE_OPENSEARCH_… right?", func() (string, error) { return engineHealth(ctx, cfg.Cluster()) })
	check("Kafka", "Is it running, and are the settings VITRINE_KAFKA_… right?", func() (string, error) {
		client, err := kafkaclient.NewSecure(cfg.Brokers, cfg.KafkaSecurity, nil)
		if err != nil {
			return "", err
		}
		defer client.Close()
		n, err := client.CountBrokers(ctx)
		return fmt.Sprintf("%d broker(s)", n), err
	})
	if database {
		c.checkLibrary(ctx, check)
	}
	if sick {
		return errSaid
	}
	return nil
}

// checkLibrary looks at what needs the whole product.
func (c *doctorCommand) checkLibrary(ctx context.Context, check func(what, remedy string, try func() (string, error)) bool) {
	s, err := c.open(ctx)
	if err != nil {
		check("service", "See the parts above.", func() (string, error) { return "", err })
		return
	}
	defer s.Close()
	check("files", "vitrine blobs status says more; vitrine verify lists files that are missing or damaged.", func() (string, error) { return c.blobHealth(ctx, s) })
	check("backups", "The log of the service with the role work says why; vitrine backup makes one now. Settings: VITRINE_BACKUP_….", func() (string, error) { return c.backupHealth(ctx) })
	check("index", "A running service with the role index repairs it by itself; vitrine reconcile does it now, vitrine rebuild makes another index.", func() (string, error) {
		found, err := s.Indexer.Inspect(ctx, inspectFor)
		if err == nil {
			err = indexProblems(found)
		}
		if err == nil {
			err = s.Searcher.Ping(ctx)
		}
		return indexSummary(found), err
	})
	check("webhooks", "Put back the file signing.key of the data folder and restart the service; or rotate each secret (POST /api/v1/webhooks/{webhook_id}/rotate) and give the new one to its receiver.", func() (string, error) {
		return c.webhookHealth(ctx, s)
	})
	check("videos", "Install ffmpeg, or set VITRINE_FFMPEG to where it is.", func() (string, error) {
		return videoHealth(s.Previews.FFmpeg()), nil
	})
	check("pictures", "Install libvips-tools, or set VITRINE_VIPS to where vipsthumbnail is.", func() (string, error) {
		return pictureHealth(s.Previews.Vips()), nil
	})
	check("refused", "The log names the reason of each, as does the table index_failures. vitrine reconcile --retry-refused tries them again.", func() (string, error) {
		missing, partial, err := s.Store.IndexFailures.Count(ctx, "")
		if err == nil && missing > 0 {
			err = fmt.Errorf("%d documents are not found because the index refused them, and %d are indexed without some parts", missing, partial)
		}
		return fmt.Sprintf("%d assets are indexed without parts that the index refused", partial), err
	})
	check("meaning", "Check the settings VITRINE_EMBED_…, and whether the provider answers. Searches go on by words.", func() (string, error) {
		if s.Embedder == nil {
			return "no model is configured; searches are by words", nil
		}
		if _, err := s.Embedder.Embed(ctx, []string{"a fox in the snow"}); err != nil {
			return "", err
		}
		waiting, err := s.Indexer.Unembedded(ctx)
		return fmt.Sprintf("%s answers; %d documents wait for their vector", s.Embedder.Info().Model, waiting), err
	})
	check("outbox", "Is a service with the role relay running, and Kafka with it?", func() (string, error) {
		size, oldest, err := s.Store.Outbox.Backlog(ctx)
		if err == nil && oldest > time.Minute {
			err = fmt.Errorf("%d changes are waiting, the oldest for %s", size, oldest.Round(time.Second))
		}
		return fmt.Sprintf("%d changes wait", size), err
	})
	check("jobs", "A service with the role work runs them. The log has the error of each attempt; what failed for good is in the table river_job, state discarded, for 7 days.", func() (string, error) {
		return jobHealth(ctx, s.Store.Jobs)
	})
}

// videoHealth describes with what frames of videos are read. A library without is a good one.
func videoHealth(f *preview.FFmpeg) string {
	switch {
	case f == nil:
		return "no ffmpeg is found, so videos have no previews (preview_failed: no_ffmpeg); VITRINE_FFMPEG is its path"
	case f.Isolated:
		return f.Version + " makes previews, without a network"
	}
	return f.Version + " makes previews; this kernel allows no network namespace, so it is kept from the network by its list of protocols alone"
}

// pictureHealth describes with what pictures are read that Vitrine does not decode itself. A library without is a good one.
func pictureHealth(v *preview.Vips) string {
	switch {
	case v == nil:
		return "no vipsthumbnail is found, so AVIF, HEIC and JPEG XL have no previews (preview_failed: no_libvips); VITRINE_VIPS is its path"
	case v.Isolated:
		return v.Version + " makes previews of AVIF, HEIC and JPEG XL, without a network"
	}
	return v.Version + " makes previews of AVIF, HEIC and JPEG XL; this kernel allows no network namespace"
}

// jobsLate is how long a background job may wait for a worker.
const jobsLate = 10 * time.Minute

// jobHealth counts the background jobs, and finds what is wrong with them.
func jobHealth(ctx context.Context, jobs *store.Jobs) (string, error) {
	counts, err := jobs.Counts(ctx)
	if err != nil {
		return "", err
	}
	states := map[string]int64{}
	var oldest time.Duration
	for _, c := range counts {
		states[c.State] += c.Jobs
		if c.State == "available" {
			oldest = max(oldest, c.Oldest)
		}
	}
	if states["discarded"] > 0 {
		list, err := jobs.Discarded(ctx, 1)
		if err != nil {
			return "", err
		}
		if len(list) > 0 {
			d := list[0]
			return "", fmt.Errorf("%d background jobs failed for good, the last (%s %s) because: %s", states["discarded"], d.Kind, d.Args, d.Error)
		}
	}
	if oldest > jobsLate {
		return "", fmt.Errorf("%d background jobs wait, the oldest for %s", states["available"], oldest.Round(time.Second))
	}
	return fmt.Sprintf("%d wait, %d run, %d will be tried again", states["available"]+states["scheduled"], states["running"], states["retryable"]), nil
}

// blobHealth looks whether the folder is the library's and has a sample of its files.
func (c *doctorCommand) blobHealth(ctx context.Context, s *service.Service) (string, error) {
	cfg, err := c.config()
	if err != nil {
		return "", err
	}
	b, err := service.InspectBlobs(ctx, s.Store, cfg)
	switch {
	case err != nil:
		return "", err
	case !b.OK() && (b.Assets > 0 || b.ID != ""):
		return "", &blob.FolderError{Folder: b.Folder, Want: b.Want}
	case b.Missing > 0:
		return "", fmt.Errorf("%d of %d files that were looked for in %s are missing or have another size", b.Missing, b.Sampled, b.Path)
	case b.Damaged > 0:
		return "", fmt.Errorf("%d files are known to be missing or damaged; import the originals again", b.Damaged)
	case !b.OK():
		return "no folder yet, and no assets; vitrine serve makes it", nil
	}
	return fmt.Sprintf("%s is the library's; %d files that were looked for are there", b.Path, b.Sampled), nil
}

// webhookHealth looks whether the secrets of webhooks can be read.
func (c *doctorCommand) webhookHealth(ctx context.Context, s *service.Service) (string, error) {
	cfg, err := c.config()
	if err != nil {
		return "", err
	}
	lost, total, err := service.UnreadableWebhooks(ctx, s.Store, cfg)
	if err == nil && len(lost) > 0 {
		first := lost[0]
		err = fmt.Errorf("the secrets of %d of %d webhooks were encrypted with another signing key, so nothing is sent to them; the first is %s (%s) of the tenant %s", len(lost), total, first.Name, first.ID, first.Tenant)
	}
	return fmt.Sprintf("the secrets of %d webhooks can be read", total), err
}

// backupHealth looks at the age of the newest scheduled backup.
func (c *doctorCommand) backupHealth(ctx context.Context) (string, error) {
	cfg, err := c.Backups.Config()
	if err != nil {
		return "", err
	}
	if cfg.To == "" {
		return "none are scheduled (VITRINE_BACKUP_TO)", nil
	}
	at, err := backupsAt(ctx, cfg.To, c.Buckets, backup.OpenAt)
	if err != nil {
		return "", err
	}
	defer at.Close()
	last, err := backup.Newest(ctx, at)
	if err != nil {
		return "", err
	}
	if last.IsZero() {
		return "", fmt.Errorf("there is no complete backup in %s yet", cfg.To)
	}
	age := time.Since(last).Round(time.Second)
	if cfg.Overdue(last, time.Now()) {
		return "", fmt.Errorf("the newest backup in %s is %s old, and one is due every %s", cfg.To, age, cfg.Every)
	}
	return fmt.Sprintf("the newest in %s is %s old", cfg.To, age), nil
}

func engineHealth(ctx context.Context, cluster opensearch.Cluster) (string, error) {
	client, err := cluster.NewClient()
	if err != nil {
		return "", err
	}
	var info struct {
		Version struct {
			Number string `json:"number"`
		} `json:"version"`
	}
	if err := opensearch.Call(ctx, client, "GET", "/", nil, &info); err != nil {
		return "", err
	}
	var plugins []struct {
		Component string `json:"component"`
	}
	if err := opensearch.Call(ctx, client, "GET", "/_cat/plugins?format=json", nil, &plugins); err != nil {
		return "", err
	}
	for _, p := range plugins {
		if p.Component == "opensearch-knn" {
			return "version " + info.Version.Number + " with k-NN", nil
		}
	}
	return "", errors.New("the k-NN plugin is missing; vectors need it")
}
