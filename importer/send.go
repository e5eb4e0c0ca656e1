package importer

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/cenkalti/backoff/v5"

	"vitrine/api/client"
	"vitrine/library"
)

// Batches of the question which files are stored.
const (
	askMost = 200
	askWait = 150 * time.Millisecond
)

// ask collects hashed files into batches, finishes those that are stored and
// passes the others on with the address to send them to.
func (r *run) ask(ctx context.Context, in <-chan file, out chan<- file) error {
	for {
		batch, more := collect(ctx, in)
		if err := r.askBatch(ctx, batch, out); err != nil {
			return err
		}
		if !more {
			return ctx.Err()
		}
	}
}

// collect waits for files until there are many, or a moment has passed since the first.
func collect(ctx context.Context, in <-chan file) (batch []file, more bool) {
	var late <-chan time.Time
	for len(batch) < askMost {
		select {
		case f, ok := <-in:
			if !ok {
				return batch, false
			}
			if batch = append(batch, f); late == nil {
				late = time.After(askWait)
			}
		case <-late:
			return batch, true
		case <-ctx.Done():
			return nil, false
		}
	}
	return batch, true
}

func (r *run) askBatch(ctx context.Context, batch []file, out chan<- file) error {
	var first []file
	for _, f := range batch {
		if r.claim(f) {
			first = append(first, f)
		} else {
			// The same bytes are on their way under another name. Nothing is sent
			// twice, and nothing is lost should the other copy fail: a second run
			// takes this one up.
			r.record(f, Outcome{Result: resultAlready, Asset: f.sha1, Reason: "same bytes as " + r.claimedBy(f)})
		}
	}
	if len(first) == 0 {
		return nil
	}
	tickets, err := r.tickets(ctx, r.patient, first)
	if err != nil {
		return err
	}
	collected := r.collectStored(ctx, first, tickets)
	for i, f := range first {
		f.url, f.storagePath = tickets[i].SignedURL, tickets[i].StoragePath
		switch {
		case tickets[i].Stored && collected != nil:
			r.record(f, failed("it is stored, but could not be added to the collection: "+collected.Error()))
		case tickets[i].Stored && len(r.opts.Tags) == 0:
			r.record(f, Outcome{Result: resultAlready, Asset: f.sha1})
		case tickets[i].Stored:
			r.record(f, r.tagStored(ctx, f))
		case tickets[i].Absent != "" && !r.opts.Restore:
			r.record(f, leftOut(f, tickets[i].Absent))
		case r.opts.DryRun:
			r.record(f, Outcome{Result: resultWould, Asset: f.sha1, Bytes: f.size})
		default:
			select {
			case out <- f:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
	return nil
}

// claim reports whether this file is the first of its bytes in this run.
func (r *run) claim(f file) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, taken := r.inRun[f.sha1]; taken {
		return false
	}
	r.inRun[f.sha1] = f.path
	return true
}

func (r *run) claimedBy(f file) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.inRun[f.sha1]
}

// tickets asks which of the files are stored, and where to send the others.
func (r *run) tickets(ctx context.Context, c *client.Client, batch []file) ([]client.AssetFileTicket, error) {
	in := client.FindStoredInput{Restore: r.opts.Restore}
	for _, f := range batch {
		in.Files = append(in.Files, client.AssetFileToSend{SHA1: f.sha1, Filename: library.CleanFilename(f.name()), MIMEType: f.mime, Size: f.size})
	}
	out, err := c.FindStored(ctx, in)
	if err == nil && len(out.Files) != len(batch) {
		err = errors.New("the service answered for another number of files than it was asked about")
	}
	return out.Files, err
}

func (f file) name() string {
	name := f.path
	for i := len(name) - 1; i >= 0; i-- {
		if os.IsPathSeparator(name[i]) {
			return name[i+1:]
		}
	}
	return name
}

// tagStored adds the run's tags to an asset that is there already.
func (r *run) tagStored(ctx context.Context, f file) Outcome {
	o := Outcome{Result: resultAlready, Asset: f.sha1}
	if r.opts.DryRun {
		return o
	}
	in := client.BulkUpdateAssetTagsInput{AssetHs: []string{f.sha1}, Operation: "add", Tags: r.opts.Tags}
	if _, err := r.patient.BulkUpdateAssetTags(ctx, in); err != nil {
		return failed("it is stored, but could not be tagged: " + err.Error())
	}
	return o
}

// stored is the response of StoreAsset.
type stored struct {
	client.StoreAssetOutput
	withoutSidecar string // which sidecar was left out, and why
	absent         string // trashed or purged: it was left out
}

// send uploads one file and has it stored. While the service is away it tries
// again; when an answer was lost on the way, it first asks whether the file is
// stored after all.
func (r *run) send(ctx context.Context, f file) Outcome {
	attempt, changes := 0, 0
	got, err := patiently(ctx, r.opts.Patience, func() (got stored, err error) {
		defer func() {
			if changed(err) {
				if changes++; changes <= mostChanges {
					err = &fileChanged{f.identify(ctx), err}
				}
			}
		}()
		if attempt++; attempt > 1 {
			t, err := r.tickets(ctx, r.once, []file{f})
			if err != nil {
				return stored{}, err
			}
			if t[0].Absent != "" && !r.opts.Restore {
				return stored{absent: t[0].Absent}, nil
			}
			if t[0].Stored {
				return stored{StoreAssetOutput: client.StoreAssetOutput{Created: true}}, nil
			}
			f.url, f.storagePath = t[0].SignedURL, t[0].StoragePath
		}
		return r.sendOnce(ctx, f)
	})
	if err != nil {
		if ctx.Err() != nil {
			return Outcome{}
		}
		return failed(err.Error())
	}
	if got.absent != "" {
		return leftOut(f, got.absent)
	}
	r.note(got)
	o := Outcome{Result: resultStored, Asset: f.sha1, Bytes: f.size, Lineage: got.Extraction.State, Reason: got.withoutSidecar}
	if got.Asset.AssetH != "" {
		o.Asset = got.Asset.AssetH // the file may have changed since it was hashed
	}
	switch {
	case got.Healed && !got.Created:
		o.Result = resultHealed
	case !got.Created && !got.Restored:
		o.Result = resultAlready
	}
	return o
}

func (r *run) note(got stored) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if got.IndexToken != "" {
		r.report.LastWrite = got.IndexToken
	}
	if got.Extraction.State == "none" {
		r.report.NoLineage[got.Extraction.Reason]++
	}
}

func (r *run) sendOnce(ctx context.Context, f file) (stored, error) {
	body, err := os.Open(f.path)
	if err != nil {
		return stored{}, backoff.Permanent(cause(err))
	}
	defer body.Close()
	info, err := body.Stat()
	if err != nil {
		return stored{}, backoff.Permanent(cause(err))
	}
	if err := r.once.Put(ctx, f.url, f.mime, body, info.Size()); err != nil {
		return stored{}, err
	}
	made := f.made.UTC().Truncate(time.Second)
	sidecars, trouble := readSidecars(f.sidecars)
	out, err := r.once.StoreAsset(ctx, client.StoreAssetInput{StoragePath: f.storagePath, Filename: library.CleanFilename(f.name()), MIMEType: f.mime,
		SourcePath: library.VisibleText(f.label), CreatedAt: &made, Tags: r.opts.Tags, CollectionH: r.opts.Collection, Sidecars: sidecars, Restore: &r.opts.Restore})
	if client.IsCode(err, "ASSET_TRASHED") { // since the service was asked
		return stored{absent: resultTrashed}, nil
	}
	return stored{StoreAssetOutput: out, withoutSidecar: trouble}, err
}

// leftOut is the outcome of a file whose asset somebody took out of the library.
func leftOut(f file, state string) Outcome {
	why := map[string]string{resultTrashed: "its asset is in the trash", resultPurged: "its asset was purged"}[state]
	return Outcome{Result: state, Asset: f.sha1, Reason: why + "; --restore brings it back"}
}

// mostChanges is how often a file is hashed again that changes while it is imported.
const mostChanges = 3

// changed reports that the service got other bytes than it was asked about: the file
// was written to since it was hashed, or the line broke.
func changed(err error) bool {
	return client.IsCode(err, "HASH_MISMATCH") || client.IsCode(err, "SIZE_MISMATCH")
}

// fileChanged makes a file be asked about and sent again, as what it is now.
type fileChanged struct {
	unreadable error
	error
}

// identify reads anew what the file is.
func (f *file) identify(ctx context.Context) error {
	sum, size, err := fileSHA1(ctx, f.path)
	if err == nil {
		f.sha1, f.size = sum, size
	}
	return err
}

// patiently tries again while the error is one that passes: a service that is
// down, a part of it that is, a full disk that somebody may empty.
func patiently[T any](ctx context.Context, patience time.Duration, try func() (T, error)) (T, error) {
	pause := backoff.NewExponentialBackOff()
	pause.InitialInterval, pause.MaxInterval = 100*time.Millisecond, 3*time.Second
	return backoff.Retry(ctx, func() (T, error) {
		v, err := try()
		if err == nil || passes(err) {
			return v, err
		}
		return v, backoff.Permanent(err)
	}, backoff.WithBackOff(pause), backoff.WithMaxElapsedTime(patience))
}

func passes(err error) bool {
	var other *fileChanged
	if errors.As(err, &other) {
		return other.unreadable == nil
	}
	var away *client.Unreachable
	if errors.As(err, &away) {
		return true
	}
	var e *client.Error
	return errors.As(err, &e) && (e.Retryable || e.Status >= 500 || e.Code == "URL_EXPIRED")
}
