package main

import (
	"context"
	"fmt"
	"strings"

	"vitrine/api/client"
)

type reportCommand struct {
	remote
	JSON bool `name:"json" help:"Print JSON."`
}

// Run answers "why is there no prompt?" for the whole library.
func (c *reportCommand) Run(ctx context.Context) error {
	api, err := c.client()
	if err != nil {
		return err
	}
	if c.JSON {
		return printResponse(ctx, api, client.OpGetExtractionReport, nil)
	}
	r, err := api.GetExtractionReport(ctx, client.GetExtractionReportInput{})
	if err != nil {
		return err
	}
	printExtractionReport(r)
	return nil
}

func printExtractionReport(r client.GetExtractionReportOutput) {
	fmt.Printf("%d assets: %d with full generation metadata, %d with part of it, %d without any.\n", r.Assets, r.Full, r.Partial, r.None)
	if r.NotRecorded > 0 {
		fmt.Printf("%d were stored before reports were recorded; run vitrine reextract --all to add theirs.\n", r.NotRecorded)
	}
	for _, c := range r.Reasons {
		fmt.Printf("\n%6d  %s: %s\n", c.Count, c.Reason, c.Meaning)
		if len(c.Details) == 0 {
			fmt.Printf("        for example %s\n", strings.Join(c.Examples, ", "))
		}
		for _, d := range c.Details {
			fmt.Printf("%14d  %s, for example %s\n", d.Count, oneLine(d.Name), strings.Join(d.Examples[:min(len(d.Examples), 1)], ""))
		}
	}
}
