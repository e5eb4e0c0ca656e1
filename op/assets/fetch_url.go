package assets

import (
	"context"
	"io"
	"net/url"
	"strings"
	"time"

	"vitrine/library"
	"vitrine/media/blob"
	"vitrine/media/fetch"
)

// defaultFetchTimeout is how long a file may take to arrive from a URL.
const defaultFetchTimeout = 30 * time.Second

// fetchTimeout returns how long the call lets a URL take.
func (in *storeInput) fetchTimeout() time.Duration {
	if in.Timeout == 0 {
		return defaultFetchTimeout
	}
	return time.Duration(in.Timeout) * time.Second
}

// typeMismatch is the error of a file at a URL that is not of the announced type.
func typeMismatch(what string) error {
	return library.NewError(library.KindUnprocessable, library.CodeURLTypeMismatch,
		"%s, not of the announced mime_type; nothing was stored. Send its own type as mime_type, or allow_content_type_mismatch true.", what)
}

// stageURL brings the bytes at a URL to where uploaded ones are.
func (s *Service) stageURL(ctx context.Context, actor library.Actor, in storeInput) (string, error) {
	if token, ok := s.ownLink(in.URL); ok {
		return s.stageOwn(ctx, actor, token)
	}
	file, err := s.Fetcher.Get(ctx, in.URL, in.fetchTimeout())
	if err != nil {
		return "", err
	}
	defer file.Close()
	if sent := mediaType(file.ContentType); in.exactType() && sent != "" && sent != in.MIMEType {
		return "", typeMismatch("The host sends the file as " + sent)
	}
	return s.stageBytes(ctx, actor, file, s.Fetcher.MaxBytes())
}

func (s *Service) stageBytes(ctx context.Context, actor library.Actor, r io.Reader, limit int64) (string, error) {
	id := blob.NewStagingID()
	_, err := s.Blobs.Stage(ctx, actor.Tenant, id, r, min(limit, s.maxFile()))
	return id, err
}

// ownLink returns the token of a download link of this service. Such a link is followed
// without the network: the service may have a private address, and may be reached under
// the name that it has outside by others only.
func (s *Service) ownLink(raw string) (token string, ok bool) {
	rest, ok := strings.CutPrefix(raw, s.Links.Base+"/files/")
	if !ok || s.Links.Base == "" {
		return "", false
	}
	token, _, _ = strings.Cut(rest, "/")
	if plain, err := url.PathUnescape(token); err == nil {
		token = plain
	}
	return token, true
}

// stageOwn copies the file that a download link of this service leads to. The link is good
// for what it would download: it ends with its time, with the key that asked for it and
// with its asset.
func (s *Service) stageOwn(ctx context.Context, actor library.Actor, token string) (string, error) {
	g, err := s.Links.Signer.Open(token, blob.PurposeDownload)
	if library.AsError(err).Code == library.CodeURLExpired {
		return "", fetch.Expired(err)
	}
	if err != nil {
		return "", fetch.Failed(err, "it is not a link that this service made")
	}
	owner, valid, err := s.Store.Keys.LinkActor(ctx, g.Tenant, g.Key)
	if err != nil {
		return "", err
	}
	if !valid {
		return "", fetch.Expired(nil)
	}
	files, err := s.Store.Assets.Files(ctx, owner, []library.AssetHash{g.Asset})
	if err != nil {
		return "", err
	}
	f, there := files[g.Asset]
	if !there {
		return "", fetch.Expired(nil)
	}
	file, err := s.Blobs.Open(ctx, g.Tenant, f.Hash)
	if err != nil {
		return "", err
	}
	defer file.Close()
	if file.Size() != f.Size {
		return "", fetch.Failed(nil, "the file is damaged")
	}
	return s.stageBytes(ctx, actor, io.NewSectionReader(file, 0, f.Size), f.Size)
}

// sourceOf returns where a file came from, as a label: of a URL what is no signature.
func sourceOf(in storeInput) string {
	if in.SourcePath != "" || in.URL == "" {
		return in.SourcePath
	}
	before, _, _ := strings.Cut(in.URL, "?")
	before, _, _ = strings.Cut(before, "#")
	return before
}
