package main

import (
	"fmt"
	"path/filepath"
	"testing"

	"vitrine/api/client"
	"vitrine/inplace"
	"vitrine/internal/testenv"
	"vitrine/service"
	"vitrine/service/servicetest"
)

// TestDemo_FilesShowAVideoAModelAndTheTrash imports the folder of the demo in place twice.
func TestDemo_FilesShowAVideoAModelAndTheTrash(t *testing.T) {
	folder, ffmpeg := filepath.Join(t.TempDir(), demoRoot), testenv.Tool(t, "ffmpeg")
	if _, err := demoEnvironment(folder, ffmpeg); err != nil {
		t.Fatal(err)
	}
	e := servicetest.Start(t, servicetest.Options{Adjust: func(cfg *service.Config) {
		cfg.FFmpeg, cfg.ImportRoots = ffmpeg, []inplace.Root{{Name: demoRoot, Dir: folder}}
	}})
	api, ctx := e.Client(""), t.Context()
	for range 2 {
		if err := demoFiles(ctx, api, folder, ffmpeg, 1); err != nil {
			t.Fatal(err)
		}
	}
	if trash, err := api.ListTrash(ctx, client.ListTrashInput{}); err != nil || len(trash.Data) != 2 {
		t.Errorf("the trash has %d assets: %v", len(trash.Data), err)
	}
	for query, want := range map[string]int64{"tag:in-place media:image": demoPictures - 2, "media:video prompt:*": 1, "media:model3d": 1, "triangles:>10000 vertices:>5000 materials:>=1 extent:>0 has:animations -textures:*": 1} {
		servicetest.Eventually(t, query, func() error {
			found, err := api.SearchAssets(ctx, client.SearchAssetsInput{Query: query, Limit: 1})
			if err != nil || found.Total != want {
				return fmt.Errorf("%d are found, want %d: %w", found.Total, want, err)
			}
			if want > 1 {
				return nil
			}
			d, err := api.GetAssetDetails(ctx, client.GetAssetDetailsInput{AssetH: found.Data[0].AssetH})
			if err == nil && (d.Placeholder == "" || d.Video == nil && d.Model3d == nil || d.Video != nil && !d.Video.Storyboard) {
				err = fmt.Errorf("there is no preview: %+v", d)
			}
			return err
		})
	}
}
