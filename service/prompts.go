package service

import (
	"context"
	"time"

	"vitrine/jobs"
	"vitrine/store"
)

const (
	// linkSlice is how long one run of a job compares prompts with images. A large library
	// takes several runs.
	linkSlice = 30 * time.Second
	// linkPause is how long the next run waits, so that other jobs come in between.
	linkPause = time.Second
)

// linkPrompts compares the versions of prompts that came or went with the images of a
// tenant, and has itself called again until all are compared.
func (s *Service) linkPrompts(ctx context.Context, j store.PromptLinkJob) error {
	p, err := s.Store.Prompts.LinkPending(ctx, j.Tenant, linkSlice)
	if err == nil && p.Versions > 0 {
		s.log.Info("prompts were compared with the images of the library", "versions", p.Versions, "images", p.Links)
	}
	if err == nil && p.More {
		return jobs.Later(linkPause)
	}
	return err
}
