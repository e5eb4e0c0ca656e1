package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"

	"vitrine/api/client"
	"vitrine/op"
)

// printJSON prints a value as one line of JSON.
func printJSON(v any) error {
	encoded, err := op.EncodeOutput(v)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(os.Stdout, string(encoded))
	return err
}

// printIndented prints a value as JSON for people to read.
func printIndented(v any) error {
	encoded, err := op.EncodeOutput(v)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := json.Indent(&b, encoded, "", "  "); err != nil {
		return err
	}
	_, err = fmt.Fprintln(os.Stdout, b.String())
	return err
}

// printResponse calls an operation and prints the response as the service sent it.
func printResponse(ctx context.Context, api *client.Client, o client.Operation, in any) error {
	var raw json.RawMessage
	if err := api.Do(ctx, o, in, &raw); err != nil {
		return err
	}
	_, err := fmt.Fprintln(os.Stdout, string(raw))
	return err
}
