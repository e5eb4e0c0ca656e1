package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"
)

// ready asks a running service whether it can answer requests.
func ready(ctx context.Context, base string) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/readyz", nil)
	if err != nil {
		return err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("no service responds at %s", base)
	}
	defer res.Body.Close()
	if res.StatusCode == http.StatusOK {
		return nil
	}
	said, _ := io.ReadAll(io.LimitReader(res.Body, 2000)) // the status tells enough
	return fmt.Errorf("not ready: %s", said)
}
