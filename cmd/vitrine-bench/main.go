// Command vitrine-bench measures the product: how fast files get in and are found,
// beside the bare servers, and whether searches find what is looked for, beside
// other engines. It is a program for developers and is no part of the image.
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

// version is what a measured service calls itself.
const version = "bench"

// commands measures files when nothing else is named.
type commands struct {
	Library   libraryCommand   `cmd:"" default:"withargs" help:"Measure import, indexing, search and MCP over generated files (the default)."`
	Import    importCommand    `cmd:"" help:"Measure the import of a folder in place, from its start to the last preview."`
	Search    searchCommand    `cmd:"" help:"Measure searches over many generated assets with vectors."`
	Organize  organizeCommand  `cmd:"" help:"Measure what is done with large collections, compared with bare SQL."`
	Outreach  outreachCommand  `cmd:"" help:"Measure searches of many prospects, compared with searches of assets."`
	Pipelines pipelinesCommand `cmd:"" help:"Measure runs of pipelines: their memory, and their time compared with bare SQL and bulk requests."`
	Webhooks  webhooksCommand  `cmd:"" help:"Measure deliveries to webhooks, also beside endpoints that do not answer."`
	Relevance relevanceCommand `cmd:"" help:"Measure the relevance of searches, compared with five other engines."`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var c commands
	parsed := kong.Parse(&c,
		kong.Name("vitrine-bench"),
		kong.Description("Measures Vitrine against the bare servers that it stands on."),
		kong.UsageOnError(),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.BindTo(ctx, (*context.Context)(nil)),
	)
	if err := parsed.Run(); err != nil {
		if !errors.Is(err, errMissed) {
			fmt.Fprintln(os.Stderr, "vitrine-bench:", err)
		}
		os.Exit(1)
	}
}

// errMissed ends a command whose report shows a figure below its bar.
var errMissed = errors.New("a figure misses its bar")

// step prints on the error output what the program does next.
func step(format string, args ...any) { fmt.Fprintf(os.Stderr, "· "+format+"\n", args...) }
