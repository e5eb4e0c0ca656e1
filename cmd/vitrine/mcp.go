package main

import (
	"context"
	"os"

	"vitrine/internal/stdio"
)

type mcpCommand struct{ remote }

// Help implements kong.HelpProvider.
func (c *mcpCommand) Help() string {
	return `For clients that start a program and talk to it over standard input and output. Configure them with the command "vitrine", the argument "mcp", and the environment variables VITRINE_URL and VITRINE_API_KEY. Clients that speak HTTP need no bridge: give them the address of the service with /mcp.`
}

// Run serves one client over standard input and output.
func (c *mcpCommand) Run(ctx context.Context) error {
	api, err := c.client()
	if err != nil {
		return err
	}
	bridge := stdio.Bridge{URL: api.Base + "/mcp", Key: api.Key, Tenant: api.Tenant}
	return bridge.Run(ctx, os.Stdin, os.Stdout)
}
