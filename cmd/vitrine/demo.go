package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"vitrine/api/client"
	"vitrine/auth"
	"vitrine/importer"
	"vitrine/internal/sample"
	"vitrine/internal/settings"
	"vitrine/internal/stack"
	"vitrine/library"
	"vitrine/service"
	"vitrine/store"
)

type demoCommand struct {
	Up    demoUp    `cmd:"" default:"withargs" help:"Set up everything and print the addresses."`
	Down  demoDown  `cmd:"" help:"Stop the service and the servers. Their data is kept."`
	Reset demoReset `cmd:"" help:"Stop, and delete the library, its keys and the servers' data."`
}

// demoDir is where a demo keeps what is its own, below the current folder.
const demoDir = ".vitrine"

type demoUp struct {
	Count int    `default:"240" help:"Files of the sample library."`
	Seed  uint64 `default:"1" help:"Which sample library."`
}

// Run goes through the steps a person would: servers, schema, service, key,
// files, import. Each step finds what an earlier run left and goes on from there.
func (c *demoUp) Run(ctx context.Context) error {
	local, err := settings.LocalStack()
	if err != nil {
		return err
	}
	at, err := demoServers(ctx, local)
	if err != nil {
		return err
	}
	ffmpeg := demoFFmpeg(ctx, local)
	originals, err := filepath.Abs(filepath.Join(demoDir, demoRoot))
	if err != nil {
		return err
	}
	extra, err := demoEnvironment(originals, ffmpeg)
	if err != nil {
		return err
	}
	step("Starting the service")
	base, err := startService(ctx, extra)
	if err != nil {
		return err
	}
	p, err := demoKey(ctx, at, base)
	if err != nil {
		return err
	}
	api := &client.Client{Base: base, Key: p.Key}
	report, err := c.importSample(ctx, api)
	if err != nil {
		return err
	}
	step("Importing a folder in place")
	if err := demoFiles(ctx, api, originals, ffmpeg, c.Seed); err != nil {
		return err
	}
	step("Waiting for the search index")
	if err := untilSearchable(ctx, api, report); err != nil {
		return err
	}
	if err := demoOrganize(ctx, api); err != nil {
		return err
	}
	deck, err := demoDeck(ctx, api, demoDir)
	if err != nil {
		return err
	}
	page, err := demoPublish(ctx, api)
	if err != nil {
		return err
	}
	share, err := demoShare(ctx, api)
	if err != nil {
		return err
	}
	c.welcome(p, deck, page, share)
	return nil
}

// demoServers starts the servers, and prepares the database and the model of vector search.
func demoServers(ctx context.Context, local stack.Config) (stack.Endpoints, error) {
	step("Starting PostgreSQL, Kafka and OpenSearch")
	at, err := stack.Up(ctx, local, os.Stderr)
	if err != nil {
		return at, err
	}
	step("Migrating the database schema")
	if _, err := store.Migrate(ctx, store.Config{URL: at.PostgresURL}); err != nil {
		return at, err
	}
	if _, err := stack.Model(ctx, local, os.Stderr); err != nil {
		warn("No vector search: %v", err)
	}
	return at, nil
}

// importSample draws the sample library and uploads it.
func (c *demoUp) importSample(ctx context.Context, api *client.Client) (importer.Report, error) {
	step("Generating a sample library of %d files", c.Count)
	dir, err := c.sample(ctx)
	if err != nil {
		return importer.Report{}, err
	}
	step("Importing it")
	bar := newImportBar()
	report, err := importer.Run(ctx, api, []string{dir}, importer.Options{Tags: []string{"sample"}, Progress: bar.show})
	bar.close()
	if err != nil {
		return report, err
	}
	if report.Interrupted {
		return report, fmt.Errorf("interrupted; run the same command again to resume")
	}
	printReport(report)
	return report, nil
}

// demoOrganize adds what people make of a library, from metadata to a campaign.
func demoOrganize(ctx context.Context, api *client.Client) error {
	for _, add := range []func(context.Context, *client.Client) error{
		demoMetadata, demoCollections, demoExperiments, demoSavePrompts, demoSavePipelines, demoMakeRules, demoRegisterWebhook, demoOutreach,
	} {
		if err := add(ctx, api); err != nil {
			return err
		}
	}
	return nil
}

func step(format string, args ...any) { warn("· "+format, args...) }

// sample draws the files unless an earlier run drew the same.
func (c *demoUp) sample(ctx context.Context) (string, error) {
	dir := filepath.Join(demoDir, fmt.Sprintf("sample-%d-%d", c.Count, c.Seed))
	done := dir + ".done"
	if _, err := os.Stat(done); err == nil {
		return dir, nil
	}
	b := newBar("drawing")
	_, err := sample.Write(ctx, dir, sample.Options{Count: c.Count, Seed: c.Seed}, func(n, total int) { b.set("drawing", int64(n), int64(total)) })
	b.close()
	if err != nil {
		return "", err
	}
	return dir, os.WriteFile(done, nil, 0o644)
}

// demoKey returns the key of an earlier run while it is good, else a new one.
func demoKey(ctx context.Context, at stack.Endpoints, base string) (profile, error) {
	if p, err := readProfile(); err == nil && p.Server == base {
		api := &client.Client{Base: base, Key: p.Key}
		if _, err := api.SearchAssets(ctx, client.SearchAssetsInput{Limit: 1}); err == nil {
			return p, nil
		}
	}
	st, err := store.Open(ctx, store.Config{URL: at.PostgresURL, MaxConns: 2})
	if err != nil {
		return profile{}, err
	}
	defer st.Close()
	tenant, err := st.Tenants.EnsureDefault(ctx, operator)
	if err != nil {
		return profile{}, err
	}
	secret, _, err := auth.IssueKey(ctx, st.Keys, operator, auth.KeyRequest{Name: "demo", Tenant: tenant.ID, Permissions: library.Permissions})
	if err != nil {
		return profile{}, err
	}
	p := profile{Server: base, Key: secret, Tenant: tenant.ID}
	return p, p.write()
}

// searchableLimit is how long the index may take to catch up with an import.
const searchableLimit = 3 * time.Minute

// untilSearchable waits until a search finds as many assets as the import left in
// the library.
func untilSearchable(ctx context.Context, api *client.Client, r importer.Report) error {
	distinct := map[string]bool{}
	for _, f := range r.Files {
		if f.Asset != "" {
			distinct[f.Asset] = true
		}
	}
	ctx, cancel := context.WithTimeout(ctx, searchableLimit)
	defer cancel()
	for {
		out, err := api.SearchAssets(ctx, client.SearchAssetsInput{Query: "tag:sample", Limit: 1})
		if err == nil && int(out.Total) >= len(distinct) {
			return nil
		}
		select {
		case <-time.After(500 * time.Millisecond):
		case <-ctx.Done():
			late := fmt.Errorf("only %d of %d assets are searchable after %s; vitrine doctor shows which component is behind", out.Total, len(distinct), searchableLimit)
			return errors.Join(late, err)
		}
	}
}

func (c *demoUp) welcome(p profile, deck, page, share string) {
	fmt.Printf(`
Vitrine is ready at %[1]s

  API key    %[2]s
  Search     bin/vitrine search 'stained glass -tag:wip'
             bin/vitrine search 'metadata.client:acme metadata.rating:>=4'
             bin/vitrine search 'collection:portfolio -collection:portfolio.neon'
             bin/vitrine search 'is:favorite rating:5'
             curl -s %[1]s/api/v1/assets/search -H 'X-API-Key: %[2]s' -H 'Content-Type: application/json' -d '{"query":"neon city","limit":3}'
  Files      bin/vitrine search 'media:video'
             bin/vitrine search 'media:model3d'
             bin/vitrine search 'tag:in-place'       (they stay in .vitrine/originals)
             bin/vitrine imports list
             bin/vitrine call ListTrash
             bin/vitrine search 'is:duplicate'
             bin/vitrine call FindDuplicates
             bin/vitrine call FindDuplicates --by workflow
  Organize   bin/vitrine call ListCollections
             bin/vitrine call GetCollectionAssets --collection_path portfolio.neon
  Experiment bin/vitrine call GetExperimentSummary --collection_h whichsamplerforlight
             bin/vitrine call GetExperimentGrid --collection_h whichsamplerforlight --x sampler --y cfg
             bin/vitrine search 'annotation:"too dark"'
  Prompts    bin/vitrine call SearchPrompts --query portrait
             bin/vitrine call GetPrompt --prompt_h %[4]s
             bin/vitrine call RenderPrompt --prompt_h %[5]s --variables '{"subject":"an old sailor","light":"hard"}'
  Pipelines  bin/vitrine pipeline run 'search neon | where steps > 20 | sort created desc | limit 50 | set_tag best | group_by model'
             bin/vitrine pipeline run --name "Long renders by model"
             bin/vitrine pipeline run --name "Tag by tool" --var tag=imported
  Rules      bin/vitrine call ListRules
  Webhooks   bin/vitrine call ListWebhooks
  Outreach   bin/vitrine call SearchProspects --filters '{"campaign":"spring"}'
             bin/vitrine call SearchContacts --pipeline enterprise
  Published  %[7]s
  Shared     %[8]s
             bin/vitrine call GetCollectionPublicUrls --collection_h portfolio.neon
  Deck       %[6]s
             bin/vitrine call ExportCollectionAsPdf --collection_h portfolio.neon --layout grid --renderer chromium
  Import     bin/vitrine import ~/ComfyUI/output
  API        %[1]s/openapi.json

  For an MCP client:

%[3]s

  Stop with make down; forget everything with make reset.
`, p.Server, p.Key, mcpConfig(p.Server, p.Key), library.NewPromptHash(demoPrompts[0].create.PromptText), library.NewPromptHash(demoPrompts[1].create.PromptText), deck, page, share)
}

type demoDown struct{}

func (c *demoDown) Run(ctx context.Context) error {
	if err := stopService(ctx); err != nil {
		return err
	}
	local, err := settings.LocalStack()
	if err != nil {
		return err
	}
	return stack.Down(ctx, local, os.Stderr)
}

type demoReset struct{}

func (c *demoReset) Run(ctx context.Context) error {
	if err := stopService(ctx); err != nil {
		return err
	}
	local, err := settings.LocalStack()
	if err != nil {
		return err
	}
	if err := stack.Reset(ctx, local, os.Stderr); err != nil {
		return err
	}
	return os.RemoveAll(demoDir)
}

// defaultDemoListen is tried first; when another program has it, a free port is
// taken and kept for the next time.
const defaultDemoListen = service.DefaultListen
