// Command vitrine is the whole product in one binary: the service and all of its
// roles, the local servers it needs, and the command line of its users.
//
// Every command is a struct whose tags say its flags and help. Commands that ask
// a running service (import, search) go over REST like any other client;
// commands of the machine's operator (serve, keys, rebuild) go to the database.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"
)

// version is set by the build.
var version = "dev"

type cli struct {
	Demo      demoCommand      `cmd:"" help:"Set up everything, import a sample library, serve it and print the address."`
	Serve     serveCommand     `cmd:"" help:"Run the service: REST API, MCP endpoint and background work."`
	Import    importCommand    `cmd:"" help:"Import folders and files into a running service."`
	Imports   importsCommand   `cmd:"" help:"List imports of folders in place, show and cancel them."`
	Search    searchCommand    `cmd:"" help:"Search a running service."`
	Call      callCommand      `cmd:"" help:"Call any operation of a running service: vitrine call TOOL --argument value."`
	MCP       mcpCommand       `cmd:"" name:"mcp" help:"Bridge a running service to an MCP client that speaks over standard input and output."`
	Pipeline  pipelineCommand  `cmd:"" help:"Run, explain and compare pipelines of a running service."`
	Query     queryCommand     `cmd:"" help:"Explain queries and list query fields."`
	Extract   extractCommand   `cmd:"" help:"Print the generation metadata of files."`
	Nodes     nodesCommand     `cmd:"" help:"Add descriptions of ComfyUI node classes."`
	Sample    sampleCommand    `cmd:"" help:"Generate a sample library of files with known metadata."`
	Keys      keysCommand      `cmd:"" help:"Create, list and revoke API keys."`
	Tenants   tenantsCommand   `cmd:"" help:"Create, list and rename tenants, and set their limits."`
	Migrate   migrateCommand   `cmd:"" help:"Migrate the database schema."`
	Backup    backupCommand    `cmd:"" help:"Back the whole library up, list backups, verify them."`
	Restore   restoreCommand   `cmd:"" help:"Restore a library from a backup."`
	Rebuild   rebuildCommand   `cmd:"" help:"Rebuild the search index from the database without downtime."`
	Reconcile reconcileCommand `cmd:"" help:"Reconcile the search index with the database: find and repair differences."`
	Events    eventsCommand    `cmd:"" help:"Look at the subscribers of events, and replay what they failed to handle."`
	Reextract reextractCommand `cmd:"" help:"Re-extract the generation metadata of all assets from their stored metadata chunks."`
	Report    reportCommand    `cmd:"" help:"Report why files in the library of a running service have no prompt."`
	Doctor    doctorCommand    `cmd:"" help:"Check every component and show how to fix problems."`
	Stack     stackCommand     `cmd:"" help:"Run PostgreSQL, Kafka and OpenSearch on this machine."`
	Docs      docsCommand      `cmd:"" help:"Write the generated reference documents."`
	Blobs     blobsCommand     `cmd:"" help:"Look at the folder that holds the files, and change which one it is."`
	Verify    verifyCommand    `cmd:"" help:"Verify that the files of all assets are there and have the bytes that were stored."`
	Sweep     sweepCommand     `cmd:"" help:"Remove orphaned files: abandoned uploads and files without an asset."`

	Completion completionCommand `cmd:"" help:"Print the script that completes vitrine's words in bash, zsh or fish."`
	Complete   completeCommand   `cmd:"" hidden:"" name:"complete-words"`

	Version kong.VersionFlag `help:"Print the version."`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var c cli
	parsed := kong.Parse(&c,
		kong.Name("vitrine"),
		kong.Description("A self-hosted library for AI-generated media: extracts prompt, models, settings and workflow from each file, and searches them."),
		kong.UsageOnError(),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.Vars{"version": version},
		kong.BindTo(ctx, (*context.Context)(nil)),
	)
	if err := parsed.Run(); err != nil {
		var e exit
		status := exitFailed
		if errors.As(err, &e) {
			status = e.status
		}
		if !errors.Is(err, errSaid) && !e.said {
			fmt.Fprintln(os.Stderr, "vitrine:", describe(err))
		}
		os.Exit(status)
	}
}

// errSaid ends a command with a failure that it has told already.
var errSaid = errors.New("said")
