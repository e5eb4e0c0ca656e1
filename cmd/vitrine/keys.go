package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"vitrine/auth"
	"vitrine/library"
	"vitrine/service"
	"vitrine/store"
)

type keysCommand struct {
	Create keysCreate `cmd:"" help:"Create a key and print it once."`
	List   keysList   `cmd:"" help:"List keys."`
	Revoke keysRevoke `cmd:"" help:"Revoke a key. It is refused within seconds."`
}

type keysCreate struct {
	servers
	Name        string               `arg:"" help:"Name of the key, such as what it is for."`
	Permissions []library.Permission `aliases:"scopes" default:"read,search" help:"read, search, write, export, admin, comfy-ingest. Every key can read, but one with comfy-ingest alone, which adds files from ComfyUI and nothing else."`
	Tenant      string               `help:"Tenant, by its id or name. Default: the oldest."`
	AlsoTenant  []library.TenantID   `help:"Additional tenants that the key may select with X-Tenant-ID."`
	Expires     time.Duration        `help:"Lifetime of the key, for example 720h. Default: no expiry."`
	PublicURL   string               `env:"VITRINE_PUBLIC_URL" name:"public-url" help:"Address of the service in the printed client configuration."`
	JSON        bool                 `name:"json" help:"Print JSON."`
}

func (c *keysCreate) Run(ctx context.Context) error {
	s, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	want := auth.KeyRequest{Name: c.Name, MoreTenants: c.AlsoTenant, Permissions: c.Permissions}
	if c.Tenant != "" {
		if want.Tenant, err = findTenant(ctx, s.Store, c.Tenant); err != nil {
			return err
		}
	} else {
		t, err := s.Store.Tenants.EnsureDefault(ctx, operator)
		if err != nil {
			return err
		}
		want.Tenant = t.ID
	}
	if c.Expires > 0 {
		at := time.Now().Add(c.Expires)
		want.ExpiresAt = &at
	}
	secret, key, err := auth.IssueKey(ctx, s.Store.Keys, operator, want)
	if err != nil {
		return err
	}
	if c.JSON {
		return json.NewEncoder(os.Stdout).Encode(struct {
			library.Key
			Secret string `json:"secret"`
		}{key, secret})
	}
	base := c.PublicURL
	if base == "" {
		base = "http://" + service.DefaultListen
	}
	fmt.Printf("The key, shown only once:\n\n  %s\n\nPermissions: %s. Tenant: %s.\n\nFor an MCP client:\n\n%s\n", secret, permissionList(key.Permissions), key.Tenant, mcpConfig(base, secret))
	return nil
}

func permissionList(list []library.Permission) string {
	names := make([]string, len(list))
	for i, p := range list {
		names[i] = string(p)
	}
	return strings.Join(names, ", ")
}

// mcpConfig is what goes into the configuration of an MCP client that speaks
// streamable HTTP.
func mcpConfig(base, secret string) string {
	raw, err := json.MarshalIndent(map[string]any{"mcpServers": map[string]any{"vitrine": map[string]any{
		"type": "http", "url": base + "/mcp", "headers": map[string]string{"Authorization": "Bearer " + secret}}}}, "", "  ")
	if err != nil {
		panic(err) // maps of strings always encode
	}
	return string(raw)
}

type keysList struct {
	servers
	Tenant library.TenantID `help:"Tenant. Default: all."`
	JSON   bool             `name:"json" help:"Print JSON."`
}

func (c *keysList) Run(ctx context.Context) error {
	s, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	keys, err := keysOf(ctx, s.Store, c.Tenant)
	if err != nil {
		return err
	}
	if c.JSON {
		return json.NewEncoder(os.Stdout).Encode(keys)
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "ID\tNAME\tENDS IN\tMAY\tTENANT\tCREATED\tLAST USED\tSTATE")
	for _, k := range keys {
		fmt.Fprintf(w, "%s\t%s\t…%s\t%s\t%s\t%s\t%s\t%s\n", k.ID, k.Name, k.Hint, permissionList(k.Permissions), k.Tenant, day(&k.CreatedAt), day(k.LastUsedAt), state(k))
	}
	return w.Flush()
}

func keysOf(ctx context.Context, st *store.Store, tenant library.TenantID) ([]library.Key, error) {
	tenants := []library.TenantID{tenant}
	if tenant == "" {
		all, err := st.Tenants.List(ctx)
		if err != nil {
			return nil, err
		}
		tenants = nil
		for _, t := range all {
			tenants = append(tenants, t.ID)
		}
	}
	keys := []library.Key{}
	for _, t := range tenants {
		list, err := st.Keys.List(ctx, t)
		if err != nil {
			return nil, err
		}
		keys = append(keys, list...)
	}
	return keys, nil
}

func day(t *time.Time) string {
	if t == nil {
		return "never"
	}
	return t.Local().Format(time.DateTime)
}

func state(k library.Key) string {
	switch {
	case k.RevokedAt != nil:
		return "revoked"
	case k.ExpiresAt != nil && k.ExpiresAt.Before(time.Now()):
		return "expired"
	}
	return "active"
}

type keysRevoke struct {
	servers
	ID string `arg:"" help:"Id of the key, from keys list."`
}

func (c *keysRevoke) Run(ctx context.Context) error {
	s, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	keys, err := keysOf(ctx, s.Store, "")
	if err != nil {
		return err
	}
	for _, k := range keys {
		if k.ID == c.ID {
			if err := s.Store.Keys.Revoke(ctx, operator, k.Tenant, k.ID); err != nil {
				return err
			}
			fmt.Println("Revoked. Running services refuse it within 5 seconds.")
			return nil
		}
	}
	return fmt.Errorf("there is no key %s; vitrine keys list shows them", c.ID)
}
