package e2e

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"vitrine/api/client"
	"vitrine/internal/testenv"
	"vitrine/library"
	"vitrine/media/extract"
	"vitrine/service/servicetest"
	"vitrine/store"
)

// unzip downloads the zip of an export and returns its files.
func unzip(t *testing.T, w world, out client.ExportAssetsOutput) map[string][]byte {
	t.Helper()
	body := fetchZip(t, w, out)
	z, err := zip.NewReader(bytes.NewReader(body), int64(len(body)))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if _, twice := files[strings.ToLower(f.Name)]; twice || strings.ContainsAny(f.Name, "/\\:") || !f.Modified.IsZero() && f.Modified.Year() > 1980 || f.Comment != "" {
			t.Errorf("the zip has the file %q of %s", f.Name, f.Modified)
		}
		files[f.Name] = data
	}
	if z.Comment != "" {
		t.Errorf("the zip has the comment %q", z.Comment)
	}
	return files
}

func fetchZip(t *testing.T, w world, out client.ExportAssetsOutput) []byte {
	t.Helper()
	if out.State != "completed" || out.DownloadURL == "" {
		t.Fatalf("%+v", out)
	}
	status, body, _ := w.Raw(http.MethodGet, strings.TrimPrefix(out.DownloadURL, w.URL), "", nil, nil)
	sum := sha256.Sum256(body)
	if status != http.StatusOK || int64(len(body)) != out.Bytes || hex.EncodeToString(sum[:]) != out.SHA256 {
		t.Fatalf("%d, %d bytes of %d", status, len(body), out.Bytes)
	}
	return body
}

// codeOfError returns the code of a problem that the client got.
func codeOfError(err error) string {
	var p *client.Error
	if errors.As(err, &p) {
		return p.Code
	}
	return ""
}

func TestExport_APresetRemovesWhatItSays(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	second := w.StoreFile("", "second.png", "image/png", pictureOf(9, "a secretword garden", "canaryModel"))
	w.Call("PATCH", "/api/v1/assets/"+second.Asset.AssetH, map[string]any{"title": "../Évening: <garden> | CON"}, nil)
	assets := []string{w.asset.Asset.AssetH, second.Asset.AssetH}
	for preset, want := range map[string][]string{
		"share": {"0001.", "0002.", "manifest.json"}, "portfolio": {"0001.jpg", "évening-garden-con.jpg", "manifest.json", "credits.txt"},
		"client":  {"0001.png", "0002-évening-garden-con.png", "manifest.json", "manifest.csv"},
		"archive": {"lighthouse.png", "lighthouse.json", "second.png", "second.json", "manifest.json", "checksums.sha256"}, "custom": {"0001.png", "0002.png", "manifest.json"},
	} {
		out, err := w.Client("").ExportAssets(t.Context(), client.ExportAssetsInput{AssetHs: assets, Preset: preset})
		if err != nil || out.Files != 2 || len(out.Failed) != 0 {
			t.Errorf("%s: %+v %v", preset, out, err)
			continue
		}
		files := unzip(t, w, out)
		if len(files) != len(want) {
			t.Errorf("%s: the zip has %d files: %v", preset, len(files), fileNames(files))
		}
		for _, name := range want {
			found := false
			for have := range files {
				found = found || strings.HasPrefix(have, name)
			}
			if !found {
				t.Errorf("%s: there is no %s among %v", preset, name, fileNames(files))
			}
		}
		for name, data := range files {
			holds := bytes.Contains(data, []byte("secretword")) || bytes.Contains(data, []byte("canaryModel"))
			if holds && preset != "archive" || !utf8.ValidString(name) {
				t.Errorf("%s: %q still holds the prompt", preset, name)
			}
			if preset == "archive" && name == "lighthouse.png" && !bytes.Equal(data, w.data) {
				t.Error("the archive changed the original")
			}
			if ext := filepath.Ext(name); preset != "archive" && (ext == ".png" || ext == ".jpg" || ext == ".webp") {
				disclosed(t, preset, data)
			}
		}
		var m struct {
			Files []struct {
				Name, SHA256 string
			}
		}
		if err := json.Unmarshal(files["manifest.json"], &m); err != nil || len(m.Files) != 2 {
			t.Errorf("%s: %v %s", preset, err, files["manifest.json"])
		}
		for _, f := range m.Files {
			if sum := sha256.Sum256(files[f.Name]); hex.EncodeToString(sum[:]) != f.SHA256 {
				t.Errorf("%s: the checksum of %s is wrong", preset, f.Name)
			}
		}
	}
}

func fileNames(m map[string][]byte) (keys []string) {
	for k := range m {
		keys = append(keys, k)
	}
	return keys
}

// disclosed reads the AI disclosure of a picture, and fails if it says more.
func disclosed(t *testing.T, preset string, data []byte) {
	t.Helper()
	got, err := extract.Read(t.Context(), bytes.NewReader(data), int64(len(data)), extract.Options{})
	if err != nil || got.Lineage.HasGenerationData() {
		t.Errorf("%s: %v, generation data %v", preset, err, got.Lineage.HasGenerationData())
	}
	texts := map[string]string{}
	for _, c := range got.Chunks {
		texts[c.Key] = c.Text
	}
	if len(texts) != 2 || !strings.HasSuffix(texts["Iptc4xmpExt:DigitalSourceType"], "/trainedAlgorithmicMedia") || texts["Iptc4xmpExt:AISystemUsed"] == "" {
		t.Errorf("%s: the picture says %v", preset, texts)
	}
}

func TestExport_TheSameCallIsTheSameExportAndItsLinkEndsWithItsKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	key := w.NewKey(w.Tenant, library.PermExport)
	in := client.ExportAssetsInput{AssetHs: []string{w.asset.Asset.AssetH}, Preset: "client"}
	first, err := w.Client(key).ExportAssets(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	again, err := w.Client(key).ExportAssets(t.Context(), in)
	if err != nil || again.ExportID != first.ExportID {
		t.Errorf("a second call began the export %s beside %s: %v", again.ExportID, first.ExportID, err)
	}
	if got, err := w.Client(key).GetExport(t.Context(), client.GetExportInput{ExportID: first.ExportID}); err != nil || got.SHA256 != first.SHA256 {
		t.Errorf("%+v %v", got, err)
	}
	if _, err := w.Client("").GetExport(t.Context(), client.GetExportInput{ExportID: first.ExportID}); codeOfError(err) != library.CodeNotFound {
		t.Errorf("another key sees the export: %v", err)
	}
	w.Call("PATCH", "/api/v1/assets/"+w.asset.Asset.AssetH, map[string]any{"title": "Changed"}, nil)
	if changed, err := w.Client(key).ExportAssets(t.Context(), in); err != nil || changed.ExportID == first.ExportID {
		t.Errorf("an export after a change is the one before it: %v", err)
	}
	path := strings.TrimPrefix(first.DownloadURL, w.URL)
	whole := fetchZip(t, w, first)
	status, rest, _ := w.Raw(http.MethodGet, path, "", nil, http.Header{"Range": {"bytes=100-"}})
	if status != http.StatusPartialContent || !bytes.Equal(rest, whole[100:]) {
		t.Errorf("a download is not taken up where it broke: %d", status)
	}
	keys, err := w.Store.Keys.List(t.Context(), w.Tenant)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range keys {
		if strings.HasSuffix(key, k.Hint) {
			if err := w.Store.Keys.Revoke(t.Context(), library.Actor{Kind: library.ActorSystem, ID: "test"}, w.Tenant, k.ID); err != nil {
				t.Fatal(err)
			}
		}
	}
	servicetest.Eventually(t, "the link ends", func() error {
		if status, _, _ := w.Raw(http.MethodGet, path, "", nil, nil); status != http.StatusForbidden {
			return errors.New("the link of a revoked key still works")
		}
		return nil
	})
	if status, _, _ := w.Raw(http.MethodGet, path[:len(path)-40]+"A"+path[len(path)-39:], "", nil, nil); status != http.StatusForbidden {
		t.Errorf("a changed link answers %d", status)
	}
}

func TestExport_WhatATenantMayNotTakeOutIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	api, ctx := w.Client(""), t.Context()
	operator := library.Actor{Kind: library.ActorSystem, ID: "test"}
	in := client.ExportAssetsInput{AssetHs: []string{w.asset.Asset.AssetH}}
	for code, change := range map[string]func(*client.ExportAssetsInput){
		library.CodeExportUnavailable: func(in *client.ExportAssetsInput) { in.ExportConfigurationH = "0f" },
		library.CodeValidationFailed:  func(in *client.ExportAssetsInput) { in.Preset, in.ExportConfigurationH = "share", "0f" },
		library.CodeNotFound:          func(in *client.ExportAssetsInput) { in.AssetHs = []string{strings.Repeat("d", 40)} },
	} {
		bad := in
		change(&bad)
		if _, err := api.ExportAssets(ctx, bad); codeOfError(err) != code {
			t.Errorf("want %s, got %v", code, err)
		}
	}
	private, err := api.StoreAsset(ctx, client.StoreAssetInput{Filename: "mine.png", MIMEType: "image/png", Visibility: "private", AssetDataBase64: base64.StdEncoding.EncodeToString(picture(41, "private"))})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := api.ExportAssets(ctx, client.ExportAssetsInput{AssetHs: []string{private.Asset.AssetH}}); codeOfError(err) != library.CodeAssetPrivate {
		t.Errorf("a private asset: %v", err)
	}
	many := []string{w.asset.Asset.AssetH}
	for n := range 5 {
		many = append(many, w.StoreFile("", "n.png", "image/png", picture(50+n, "many")).Asset.AssetH)
	}
	set := func(c store.LimitChange) {
		t.Helper()
		if _, err := w.Store.Limits.Set(ctx, operator, w.Tenant, c); err != nil {
			t.Fatal(err)
		}
	}
	set(store.LimitChange{ExportAssets: number(5)})
	if _, err := api.ExportAssets(ctx, client.ExportAssetsInput{AssetHs: many}); codeOfError(err) != library.CodeBatchLimit {
		t.Errorf("more than a batch: %v", err)
	}
	set(store.LimitChange{ExportAssets: number(-2), EgressBytesHourly: number(10)})
	if _, err := api.ExportAssets(ctx, in); codeOfError(err) != library.CodeEgressQuota {
		t.Errorf("more than in an hour: %v", err)
	}
}

func TestExport_LossyWebPIsRefusedWithoutAnEncoderAndWrittenWithOne(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"/nonexistent/ffmpeg", testenv.Tool(t, "ffmpeg")} {
		cfg := servicetest.Config(t)
		cfg.FFmpeg = program
		w := newWorldAt(t, cfg)
		in := client.ExportAssetsInput{AssetHs: []string{w.asset.Asset.AssetH}}
		out, err := w.Client("").ExportAssets(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		files := unzip(t, w, out)
		in.Format = "webp"
		exact, err := w.Client("").ExportAssets(t.Context(), in)
		if program == "/nonexistent/ffmpeg" {
			if codeOfError(err) != library.CodeFormatUnavailable || files["0001.jpg"] == nil || !bytes.Contains(files["manifest.json"], []byte("Written as JPEG")) {
				t.Errorf("without ffmpeg: %v %v", err, fileNames(files))
			}
			continue
		}
		if err != nil || files["0001.webp"] == nil || unzip(t, w, exact)["0001.webp"] == nil {
			t.Errorf("with ffmpeg: %v %v", err, fileNames(files))
		}
	}
}
