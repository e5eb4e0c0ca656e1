package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"vitrine/api/client"
	"vitrine/internal/sample"
	"vitrine/internal/sample/shape"
	"vitrine/internal/stack"
	"vitrine/internal/tools"
	"vitrine/media/extract/container"
)

// demoRoot is the name under which the service knows the folder that the demo imports in place.
const demoRoot = "originals"

// demoPictures is how many pictures that folder has, beside a video and a 3D model.
const demoPictures = 12

// demoFFmpeg returns the ffmpeg of this machine, or else one that it installs into the cache, and
// "" where neither works: videos have no previews then.
func demoFFmpeg(ctx context.Context, local stack.Config) string {
	for _, known := range []string{os.Getenv("VITRINE_FFMPEG"), "ffmpeg"} {
		if path, err := exec.LookPath(known); err == nil {
			return path
		}
	}
	tool, _ := tools.Named("ffmpeg")
	path, err := tool.Path(ctx, local, os.Stderr)
	if err != nil {
		warn("No video in the sample library, because there is no ffmpeg: %v", err)
		return ""
	}
	return path
}

// demoEnvironment is what the demo's service gets beside the environment: a folder that it may import in place,
// and the program that reads videos.
func demoEnvironment(folder, ffmpeg string) (list []string, err error) {
	roots := demoRoot + "=" + folder
	if own := os.Getenv("VITRINE_IMPORT_ROOTS"); own != "" {
		roots = own + "," + roots
	}
	list = append(list, "VITRINE_IMPORT_ROOTS="+roots)
	if ffmpeg != "" {
		list = append(list, "VITRINE_FFMPEG="+ffmpeg)
	}
	return list, os.MkdirAll(folder, 0o755)
}

// demoFiles makes a folder of pictures, a video and a 3D model, has the service import it in place, and puts two of
// the pictures into the trash. Done again it changes nothing.
func demoFiles(ctx context.Context, api *client.Client, folder, ffmpeg string, seed uint64) error {
	if err := demoOriginals(ctx, folder, ffmpeg, seed); err != nil {
		return err
	}
	started, err := api.StartImport(ctx, client.StartImportInput{Folder: folder, Tags: []string{"in-place"}})
	var refused *client.Error
	if errors.As(err, &refused) && refused.Status < 500 {
		warn("The folder %s is not imported in place: %v (a service of an earlier start does not know it; make down and make demo starts a new one)", folder, err)
		return nil
	}
	if err != nil {
		return err
	}
	if _, err := followImport(ctx, api, started.ImportID); err != nil {
		return err
	}
	return demoTrash(ctx, api)
}

// demoOriginals fills the folder unless an earlier run did.
func demoOriginals(ctx context.Context, folder, ffmpeg string, seed uint64) error {
	done := folder + ".done"
	if _, err := os.Stat(done); err == nil {
		return nil
	}
	pictures := filepath.Join(folder, "ComfyUI")
	if err := os.RemoveAll(pictures); err != nil { // what a run left that was interrupted
		return err
	}
	report, err := sample.Write(ctx, pictures, sample.Options{Count: demoPictures, Seed: seed + 1000, MaxEdge: 768, Writers: []string{"comfyui", "comfyui-hires", "a1111-png"}}, nil)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(folder, "torus-knot.glb"), shape.Knot(2, 3, 400), 0o644); err != nil {
		return err
	}
	if ffmpeg != "" {
		for _, f := range report.Files {
			if f.Writer == "comfyui" {
				if err := demoVideo(ctx, ffmpeg, filepath.Join(pictures, f.Path), filepath.Join(folder, "ComfyUI_video_00001.mp4")); err != nil {
					warn("No video in the sample library: %v", err)
				}
				break
			}
		}
	}
	return os.WriteFile(done, nil, 0o644)
}

// demoVideo makes a video of six seconds that moves over a picture and keeps its workflow, as
// the video nodes of ComfyUI write it.
func demoVideo(ctx context.Context, ffmpeg, picture, to string) error {
	f, err := os.Open(picture)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	said, err := container.Read(f, info.Size())
	if err != nil {
		return err
	}
	record := map[string]string{}
	for _, c := range said.Chunks {
		if c.Key == "prompt" || c.Key == "workflow" {
			record[c.Key] = c.Text
		}
	}
	comment, err := json.Marshal(record)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, ffmpeg, "-y", "-nostdin", "-loglevel", "error", "-i", picture,
		"-vf", "scale=1280:-2,zoompan=z='1.1+0.004*on':x='(iw-iw/zoom)*on/150':y='(ih-ih/zoom)*(0.5+0.4*sin(on/24))':d=150:s=640x360:fps=25",
		"-metadata", "comment="+string(comment), "-c:v", "libx264", "-pix_fmt", "yuv420p", "-movflags", "+faststart+use_metadata_tags", to).CombinedOutput()
	if err != nil {
		_ = os.Remove(to)
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// demoTrash puts two of the imported pictures into the trash, unless there is something in it.
func demoTrash(ctx context.Context, api *client.Client) error {
	trash, err := api.ListTrash(ctx, client.ListTrashInput{Limit: 1})
	if err != nil || len(trash.Data) > 0 {
		return err
	}
	var found client.SearchAssetsOutput
	for began := time.Now(); len(found.Data) < 2 && time.Since(began) < searchableLimit; {
		found, err = api.SearchAssets(ctx, client.SearchAssetsInput{Query: "tag:in-place media:image", OrderBy: "filename", Limit: 2})
		if err != nil {
			return err
		}
		select {
		case <-time.After(200 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	var assets []string
	for _, hit := range found.Data {
		assets = append(assets, hit.AssetH)
	}
	if len(assets) == 0 {
		return nil
	}
	_, err = api.TrashAssets(ctx, client.TrashAssetsInput{AssetHs: assets, Operation: "trash"})
	return err
}
