package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
)

type reportCommand struct {
	remote
	JSON bool `name:"json" help:"Print JSON."`
}

// extractionReport is what GetExtractionReport answers.
type extractionReport struct {
	Assets      int64 `json:"assets"`
	Full        int64 `json:"full"`
	Partial     int64 `json:"partial"`
	None        int64 `json:"none"`
	NotRecorded int64 `json:"not_recorded"`
	Reasons     []struct {
		Reason   string   `json:"reason"`
		Meaning  string   `json:"meaning"`
		Count    int64    `json:"count"`
		Examples []string `json:"examples"`
		Details  []struct {
			Name     string   `json:"name"`
			Count    int64    `json:"count"`
			Examples []string `json:"examples"`
		} `json:"details"`
	} `json:"reasons"`
}

// Run answers "why is there no prompt?" for the whole library.
func (c *reportCommand) Run(ctx context.Context) error {
	api, err := c.client()
	if err != nil {
		return err
	}
	var raw json.RawMessage
	if err := api.Call(ctx, http.MethodGet, "/api/v1/lineage/report", nil, &raw); err != nil {
		return err
	}
	if c.JSON {
		_, err := fmt.Fprintln(os.Stdout, string(raw))
		return err
	}
	var r extractionReport
	if err := json.Unmarshal(raw, &r); err != nil {
		return err
	}
	r.print()
	return nil
}

func (r extractionReport) print() {
	fmt.Printf("%d assets: %d tell their prompt and settings, %d part of it, %d nothing.\n", r.Assets, r.Full, r.Partial, r.None)
	if r.NotRecorded > 0 {
		fmt.Printf("%d were stored before reports were kept; vitrine reextract --all makes up for it.\n", r.NotRecorded)
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
