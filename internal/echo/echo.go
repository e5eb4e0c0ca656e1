// Package echo is a small catalog of operations that answer with what they were
// given, and a server that offers it over both transports with a real database.
//
// It is for the tests of the transports and of what they share: with it they can
// be tried without any verb of the product. Nothing of it is part of the binary.
package echo

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"vitrine/library"
	"vitrine/op"
)

// Input has one argument of each kind that operations use.
type Input struct {
	op.TenantInput
	Text     string   `json:"text" minLength:"1" maxLength:"100" doc:"Any text."`
	Count    int      `json:"count,omitempty" minimum:"1" maximum:"100" default:"20" doc:"A whole number."`
	Ratio    float64  `json:"ratio,omitempty" doc:"A number."`
	Exact    bool     `json:"exact,omitempty" doc:"A flag."`
	Seed     *uint64  `json:"seed,omitempty" doc:"A number that needs all 64 bits."`
	OrderBy  string   `json:"order_by,omitempty" enum:"relevance,created" default:"relevance" doc:"A choice."`
	Tags     []string `json:"tags,omitempty" maxItems:"3" doc:"A list."`
	Filters  *Filters `json:"filters,omitempty" doc:"A nested object."`
	Either   string   `json:"either,omitempty" doc:"Excludes other."`
	Other    string   `json:"other,omitempty" doc:"Excludes either."`
	ThumbURL string   `json:"thumb_url,omitempty" format:"uri" doc:"A URL."`
}

// Filters is nested in Input.
type Filters struct {
	Status string `json:"status,omitempty" enum:"Draft,Approved" doc:"A choice."`
}

// Validate holds the rule across fields.
func (in *Input) Validate() []library.FieldError {
	if in.Either != "" && in.Other != "" {
		return []library.FieldError{{Field: "other", Code: "conflict", Message: "It excludes either.", Hint: "Send one of the two."}}
	}
	return nil
}

// Output is the input again, and the tenant that the call was for.
type Output struct {
	Tenant  string   `json:"tenant"`
	Text    string   `json:"text"`
	Count   int      `json:"count"`
	Ratio   float64  `json:"ratio"`
	Exact   bool     `json:"exact"`
	Seed    *uint64  `json:"seed,omitempty"`
	OrderBy string   `json:"order_by"`
	Tags    []string `json:"tags"`
	Status  string   `json:"status"`
}

func echo(_ context.Context, actor library.Actor, in Input) (Output, error) {
	out := Output{Tenant: string(actor.Tenant), Text: in.Text, Count: in.Count, Ratio: in.Ratio, Exact: in.Exact,
		Seed: in.Seed, OrderBy: in.OrderBy, Tags: append([]string{}, in.Tags...)}
	if in.Filters != nil {
		out.Status = in.Filters.Status
	}
	return out, nil
}

// OneAsset names an asset.
type OneAsset struct {
	op.TenantInput
	AssetH       string `json:"asset_h" pattern:"^[0-9a-f]{40}$" patternDescription:"40 lower-case hex digits" doc:"Asset."`
	IncludeImage bool   `json:"include_image,omitempty" doc:"Attach a picture."`
}

// Picture is an output with an attachment.
type Picture struct {
	AssetH string `json:"asset_h"`
	Image  bool   `json:"image"`
}

// Pixel is the picture that Picture attaches.
var Pixel = []byte("\x89PNG\r\n\x1a\n not really")

// Attachments returns the picture, when it was asked for.
func (p Picture) Attachments() []op.Attachment {
	if !p.Image {
		return nil
	}
	return []op.Attachment{{MIMEType: "image/png", Data: Pixel}}
}

// Write is the input of the operations that count how often they ran.
type Write struct {
	op.TenantInput
	Name    string `json:"name" doc:"Any name."`
	DelayMS int    `json:"delay_ms,omitempty" doc:"How long the work takes."`
	Fail    bool   `json:"fail,omitempty" doc:"Whether the work fails."`
}

// Written is the output of Write: Serial differs from run to run.
type Written struct {
	Serial int64  `json:"serial"`
	Name   string `json:"name"`
	op.Undoable
}

// Failure asks for an error.
type Failure struct {
	Kind string `json:"kind" doc:"An error kind, or panic, or plain."`
}

// Steps asks for progress.
type Steps struct {
	Steps   int  `json:"steps" minimum:"0" maximum:"1000" doc:"Notifications to send."`
	DelayMS int  `json:"delay_ms,omitempty" doc:"Between two of them."`
	Wait    bool `json:"wait,omitempty" doc:"Then wait until the caller goes away."`
}

// Done is an empty output.
type Done struct {
	Steps int `json:"steps"`
}

// Bench holds what the operations share.
type Bench struct {
	Runs      atomic.Int64  // how often a write did its work
	Cancelled chan struct{} // receives when a waiting call was cancelled
}

// Catalog returns the operations, resources and prompts.
func (b *Bench) Catalog() op.Catalog {
	post := func(path string) (string, string) { return http.MethodPost, "/api/v1/echo" + path }
	meta := func(name string, p library.Permission, method, path string) op.Meta {
		return op.Meta{Name: name, Title: name, Doc: "Answers with its input.", Domain: op.Assets, Method: method, Path: path, Permission: p}
	}
	at := func(m op.Meta, change func(*op.Meta)) op.Meta { change(&m); return m }
	plain := func(name string, p library.Permission, path string) op.Meta {
		method, path := post(path)
		return at(meta(name, p, method, path), func(m *op.Meta) { m.ReadOnly, m.Idempotent = true, true; m.Example = Input{Text: "fox"} })
	}
	search := plain("EchoSearch", library.PermSearch, "/search")
	search.Rate, search.Domain = op.RateSearch, op.Search
	write := at(plain("EchoWrite", library.PermWrite, "/things"), func(m *op.Meta) {
		m.ReadOnly, m.Idempotent, m.Status, m.Example = false, false, http.StatusCreated, Write{Name: "a"}
	})
	oneAsset := OneAsset{AssetH: "0123456789abcdef0123456789abcdef01234567"}
	get := at(meta("EchoGet", library.PermRead, http.MethodGet, "/api/v1/echo/{asset_h}"), func(m *op.Meta) { m.ReadOnly = true; m.Example = oneAsset })
	drop := at(meta("EchoDrop", library.PermAdmin, http.MethodDelete, "/api/v1/echo/{asset_h}"), func(m *op.Meta) { m.Destructive = true; m.Example = oneAsset })
	fail := at(plain("EchoFail", library.PermRead, "/fail"), func(m *op.Meta) { m.Example = Failure{Kind: "conflict"} })
	steps := at(plain("EchoSteps", library.PermRead, "/steps"), func(m *op.Meta) { m.Example = Steps{Steps: 2} })
	return op.Catalog{
		Operations: []op.Operation{
			op.Define(plain("Echo", library.PermRead, ""), echo),
			op.Define(at(plain("EchoList", library.PermRead, "/list"), func(m *op.Meta) { m.Method = http.MethodGet }), echo),
			op.Define(search, echo),
			op.Define(plain("EchoExport", library.PermExport, "/export"), echo),
			op.Define(write, b.write),
			op.Define(get, one), op.Define(drop, one),
			op.Define(fail, failAs), op.Define(steps, b.steps),
		},
		Resources: []op.Resource{
			{URI: "echo://status", Name: "status", Title: "Status", Doc: "A fixed object.", MIMEType: "application/json", Permission: library.PermRead,
				Read: func(context.Context, library.Actor, map[string]string) (any, error) {
					return map[string]string{"state": "fine"}, nil
				}},
			{URI: "echo://assets/{asset_h}", Name: "asset", Title: "Asset", Doc: "One asset.", MIMEType: "application/json", Permission: library.PermRead, Read: readAsset},
			{URI: "echo://secret", Name: "secret", Title: "Secret", Doc: "For admins.", MIMEType: "text/plain", Permission: library.PermAdmin,
				Read: func(context.Context, library.Actor, map[string]string) (any, error) { return "s", nil }},
		},
		Prompts: []op.Prompt{{Name: "search_and_curate", Title: "Search and curate", Doc: "A plan.",
			Arguments: []op.PromptArgument{{Name: "brief", Doc: "What to look for.", Required: true}},
			Render:    func(args map[string]string) string { return "1. Call EchoSearch for " + args["brief"] + "." }}},
	}
}

func readAsset(_ context.Context, _ library.Actor, vars map[string]string) (any, error) {
	switch vars["asset_h"] {
	case "absent":
		return nil, library.NotFound("asset")
	case "panic":
		panic("a defect")
	}
	return map[string]string{"asset_h": vars["asset_h"]}, nil
}

func (b *Bench) write(ctx context.Context, _ library.Actor, in Write) (Written, error) {
	n := b.Runs.Add(1)
	select {
	case <-time.After(time.Duration(in.DelayMS) * time.Millisecond):
	case <-ctx.Done():
		return Written{}, ctx.Err()
	}
	if in.Fail {
		return Written{}, library.NewError(library.KindConflict, library.CodeNameTaken, "There is one of this name.")
	}
	return Written{Serial: n, Name: in.Name, Undoable: op.Undoable{OperationID: fmt.Sprint("op-", n)}}, nil
}

func one(_ context.Context, _ library.Actor, in OneAsset) (Picture, error) {
	return Picture{AssetH: in.AssetH, Image: in.IncludeImage}, nil
}

func failAs(_ context.Context, _ library.Actor, in Failure) (Done, error) {
	switch in.Kind {
	case "panic":
		panic("a defect with a secret: hunter2")
	case "plain":
		return Done{}, fmt.Errorf("a cause with a secret: %w", json.Unmarshal([]byte("{"), &in))
	}
	return Done{}, &library.Error{Kind: library.ErrorKind(in.Kind), Code: "ECHO_FAULT", Detail: "As you asked.", RetryAfter: 1500 * time.Millisecond}
}

func (b *Bench) steps(ctx context.Context, _ library.Actor, in Steps) (Done, error) {
	for i := range in.Steps {
		op.ReportProgress(ctx, float64(i+1), float64(in.Steps), "working")
		if in.DelayMS > 0 {
			time.Sleep(time.Duration(in.DelayMS) * time.Millisecond)
		}
	}
	if in.Wait {
		select {
		case <-ctx.Done():
			b.Cancelled <- struct{}{}
			return Done{}, ctx.Err()
		case <-time.After(10 * time.Second):
		}
	}
	return Done{Steps: in.Steps}, nil
}
