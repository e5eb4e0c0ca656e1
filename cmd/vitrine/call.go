package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"vitrine/api/client"
	"vitrine/internal/opcli"
	"vitrine/library"
	"vitrine/op/all"
)

type callCommand struct {
	remote
	Output         string   `enum:"text,json" default:"text" help:"text for people, or json: the response exactly as the service sent it."`
	JSON           string   `name:"json" placeholder:"OBJECT" help:"Arguments as one JSON object; @file and - (the standard input) too."`
	IdempotencyKey string   `placeholder:"KEY" help:"Name of a write: a repeat with the same name returns the first response instead of writing again."`
	Words          []string `arg:"" optional:"" passthrough:"" name:"tool" help:"Tool, and its arguments: --name value."`
}

// Help implements kong.HelpProvider.
func (c *callCommand) Help() string {
	return `vitrine call TOOL --help shows what a tool does, its arguments with their types, values and defaults, and an example.

Exit status: 0 done, 2 the call is not valid, 3 the key does not allow it, 4 not found or expired, 5 the current state does not allow it, 6 try again later, 1 anything else.

` + opcli.List(all.DocumentedCatalog())
}

// Run calls one operation of a running service.
func (c *callCommand) Run(ctx context.Context) error {
	catalog := all.DocumentedCatalog()
	if len(c.Words) == 0 {
		_, err := fmt.Print(opcli.List(catalog))
		return err
	}
	o, err := opcli.Find(catalog, c.Words[0])
	if err != nil {
		return invalidCall(err, c.Output)
	}
	call, err := opcli.Parse(o, c.Words[1:], os.Stdin)
	if err == nil {
		err = c.adopt(&call)
	}
	switch {
	case call.Help:
		_, err := fmt.Print(opcli.Help(o))
		return err
	case err != nil:
		err := library.AsError(err)
		err.Detail = o.Name + " was not called: its arguments are not valid."
		return invalidCall(err, c.Output)
	}
	return c.send(ctx, call)
}

// adopt takes over the options that stood behind the tool's name, adds the arguments
// of --json, and checks them all.
func (c *callCommand) adopt(call *opcli.Call) error {
	for name, into := range map[string]*string{"output": &c.Output, "idempotency-key": &c.IdempotencyKey, "server": &c.Server, "key": &c.Key, "tenant": &c.Tenant} {
		if v, ok := call.Options[name]; ok {
			*into = v
		}
	}
	if c.Output != "text" && c.Output != "json" {
		return library.Invalid(library.FieldError{Field: "output", Code: "enum", Message: "Expected text or json."})
	}
	return call.Complete(c.JSON)
}

func (c *callCommand) send(ctx context.Context, call opcli.Call) error {
	api, err := c.client()
	if err != nil {
		return err
	}
	api.OnRetry = func(err error, wait time.Duration) {
		warn("%s Trying again in %s.", strings.SplitN(err.Error(), "\n", 2)[0], wait.Round(100*time.Millisecond))
	}
	var opts []client.Option
	if c.IdempotencyKey != "" {
		opts = append(opts, client.WithIdempotencyKey(c.IdempotencyKey))
	}
	o := client.Operation{Name: call.Operation.Name, Method: call.Operation.Method, Path: call.Operation.Path, Writes: !call.Operation.ReadOnly}
	var raw json.RawMessage
	if err := api.Do(ctx, o, call.Arguments, &raw, opts...); err != nil {
		return failedCall(err, c.Output)
	}
	if c.Output == "json" {
		_, err := fmt.Println(string(raw))
		return err
	}
	return opcli.Render(os.Stdout, raw)
}

// Exit statuses of vitrine call.
const (
	exitFailed      = 1
	exitInvalid     = 2
	exitForbidden   = 3
	exitNotFound    = 4
	exitConflict    = 5
	exitUnavailable = 6
)

// exit ends the program with a status; the error was printed already where said is
// true.
type exit struct {
	status int
	said   bool
	error
}

func (e exit) Unwrap() error { return e.error }

// invalidCall is the error of a command line that is wrong, in the form of a problem.
func invalidCall(err error, output string) error {
	e := library.AsError(err)
	problem := &client.Error{Status: http.StatusBadRequest, Code: e.Code, Title: "The command line is not valid", Detail: e.Detail}
	for _, f := range e.Fields {
		problem.Fields = append(problem.Fields, client.FieldError{Field: f.Field, Code: f.Code, Message: f.Message, Hint: f.Hint})
	}
	return failedCall(problem, output)
}

// failedCall returns the exit status of an error, and prints it as JSON where that is
// wanted.
func failedCall(err error, output string) error {
	var e *client.Error
	if !errors.As(err, &e) {
		return err
	}
	said := output == "json"
	if said {
		raw := e.Raw
		if raw == nil {
			raw, _ = json.Marshal(e) // it has no value that cannot be encoded
		}
		fmt.Fprintln(os.Stderr, string(raw))
	}
	return exit{exitStatus(e.Status), said, err}
}

func exitStatus(status int) int {
	switch status {
	case http.StatusBadRequest, http.StatusMethodNotAllowed, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity:
		return exitInvalid
	case http.StatusUnauthorized, http.StatusForbidden:
		return exitForbidden
	case http.StatusNotFound, http.StatusGone:
		return exitNotFound
	case http.StatusConflict, http.StatusPreconditionFailed:
		return exitConflict
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout, http.StatusInsufficientStorage:
		return exitUnavailable
	}
	return exitFailed
}
