package service

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"

	"vitrine/internal/retry"
	"vitrine/library"
)

// imports runs the imports of folders in place, those that a setting asks for too.
func (s *Service) imports(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	for _, folder := range s.cfg.Watch {
		g.Go(func() error {
			for ctx.Err() == nil {
				err := s.watchFolder(ctx, folder)
				if err == nil || ctx.Err() != nil {
					return nil
				}
				s.log.Warn("a folder cannot be watched yet (VITRINE_WATCH); it is tried again", "folder", folder, "error", err)
				_ = retry.Sleep(ctx, watchRetry)
			}
			return nil
		})
	}
	g.Go(func() error { return s.Imports.Run(ctx) })
	return g.Wait()
}

// watchRetry is when a folder is tried again that could not be watched.
const watchRetry = 10 * time.Second

// watchFolder begins to watch a folder of a root, or goes on with it.
func (s *Service) watchFolder(ctx context.Context, named string) error {
	for _, r := range s.roots.All() {
		tenant, err := s.roots.Tenant(ctx, r)
		if err != nil {
			return err
		}
		root, folder, err := s.roots.Find(ctx, tenant, named)
		if library.AsError(err).Kind == library.KindInvalid {
			continue
		}
		if err != nil || root.Name != r.Name {
			return err
		}
		actor := library.Actor{Kind: library.ActorSystem, ID: "service", Tenant: tenant}
		_, err = s.Store.Imports.Start(ctx, actor, root.Name, folder, library.ImportOptions{Watch: true, Setting: true})
		return err
	}
	return library.NewError(library.KindInvalid, library.CodeValidationFailed, "%s is no folder of a root of VITRINE_IMPORT_ROOTS.", named)
}
