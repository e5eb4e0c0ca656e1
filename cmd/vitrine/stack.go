package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"text/tabwriter"

	"vitrine/internal/settings"
	"vitrine/internal/stack"
)

type stackCommand struct {
	Up     stackUp     `cmd:"" help:"Start PostgreSQL, Kafka and OpenSearch. Downloads them the first time."`
	Down   stackDown   `cmd:"" help:"Stop the servers. Their data is kept."`
	Status stackStatus `cmd:"" help:"Show which servers run, their addresses and their logs."`
	Logs   stackLogs   `cmd:"" help:"Show their logs."`
	Reset  stackReset  `cmd:"" help:"Stop the servers and delete their data. Downloads are kept."`
	Model  stackModel  `cmd:"" help:"Download the embedding model for vector search and print its path."`
}

type stackUp struct{}

func (c *stackUp) Run(ctx context.Context) error {
	cfg, err := settings.LocalStack()
	if err != nil {
		return err
	}
	at, err := stack.Up(ctx, cfg, os.Stderr)
	if err != nil {
		return err
	}
	fmt.Printf("PostgreSQL  %s\nKafka       %s\nOpenSearch  %s\n", at.PostgresURL, at.KafkaBrokers[0], at.OpenSearchURL)
	return nil
}

type stackModel struct{}

func (c *stackModel) Run(ctx context.Context) error {
	cfg, err := settings.LocalStack()
	if err != nil {
		return err
	}
	dir, err := stack.Model(ctx, cfg, os.Stderr)
	if err != nil {
		return err
	}
	fmt.Println(dir)
	return nil
}

type stackDown struct{}

func (c *stackDown) Run(ctx context.Context) error {
	cfg, err := settings.LocalStack()
	if err != nil {
		return err
	}
	return stack.Down(ctx, cfg, os.Stderr)
}

type stackReset struct{}

func (c *stackReset) Run(ctx context.Context) error {
	cfg, err := settings.LocalStack()
	if err != nil {
		return err
	}
	return stack.Reset(ctx, cfg, os.Stderr)
}

type stackStatus struct {
	JSON bool `name:"json" help:"Print JSON."`
}

func (c *stackStatus) Run(ctx context.Context) error {
	cfg, err := settings.LocalStack()
	if err != nil {
		return err
	}
	list, err := stack.Status(ctx, cfg)
	if err != nil {
		return err
	}
	if c.JSON {
		return json.NewEncoder(os.Stdout).Encode(list)
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 4, 2, ' ', 0)
	for _, s := range list {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", s.Name, s.Version, s.State, s.Address, s.Log)
	}
	return w.Flush()
}

type stackLogs struct {
	Server []string `arg:"" optional:"" help:"postgres, kafka or opensearch. Default: all."`
	Lines  int      `short:"n" default:"50" help:"Number of lines."`
	Follow bool     `short:"f" help:"Keep printing new lines."`
}

func (c *stackLogs) Run(ctx context.Context) error {
	cfg, err := settings.LocalStack()
	if err != nil {
		return err
	}
	return stack.Logs(ctx, cfg, c.Server, c.Lines, c.Follow, os.Stdout)
}
