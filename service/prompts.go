package service

import (
	"context"

	"vitrine/store"
)

// linkPrompts compares the versions of prompts that came or went with the images of a tenant.
func (s *Service) linkPrompts(ctx context.Context, j store.PromptLinkJob) error {
	versions, links, err := s.Store.Prompts.LinkPending(ctx, j.Tenant)
	if err == nil && versions > 0 {
		s.log.Info("prompts were compared with the images of the library", "versions", versions, "images", links)
	}
	return err
}
