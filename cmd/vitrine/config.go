package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"vitrine/api/client"
	"vitrine/internal/settings"
	"vitrine/library"
	"vitrine/service"
)

// servers is how operators' commands find the parts of the product.
type servers struct{ settings.Servers }

func (s servers) config() (service.Config, error) { return s.Config(version) }

// remote is how users' commands find a running service.
type remote struct {
	Server string `env:"VITRINE_URL" help:"Address of the service. Default: that of the last vitrine demo in this folder."`
	Key    string `env:"VITRINE_API_KEY" help:"API key. Set it in the environment rather than on the command line."`
	Tenant string `env:"VITRINE_TENANT" help:"Tenant to work in. The key's default tenant when left out."`
}

// profile is what a demo leaves for the commands that follow it in its folder.
type profile struct {
	Server string           `json:"server"`
	Key    string           `json:"key"`
	Tenant library.TenantID `json:"tenant"`
}

// profilePath is where the profile lies, readable by its owner only.
const profilePath = ".vitrine/client.json"

func readProfile() (p profile, err error) {
	raw, err := os.ReadFile(profilePath)
	if err != nil {
		return p, err
	}
	return p, json.Unmarshal(raw, &p)
}

func (p profile) write() error {
	raw, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(profilePath), 0o700); err != nil {
		return err
	}
	return os.WriteFile(profilePath, append(raw, '\n'), 0o600)
}

func (r remote) client() (*client.Client, error) {
	p, _ := readProfile() // a missing one leaves both empty
	if r.Server == "" {
		r.Server = p.Server
	}
	if r.Server == "" {
		r.Server = "http://" + service.DefaultListen
	}
	if r.Key == "" && r.Server == p.Server {
		r.Key = p.Key
	}
	if r.Key == "" {
		return nil, errors.New("an API key is required: create one with vitrine keys create and set VITRINE_API_KEY")
	}
	return &client.Client{Base: strings.TrimRight(r.Server, "/"), Key: r.Key, Tenant: r.Tenant}, nil
}

// describe puts an error into the words a user needs.
func describe(err error) string {
	var f *library.Error
	if !errors.As(err, &f) {
		return err.Error()
	}
	var b strings.Builder
	b.WriteString(f.Detail)
	for _, x := range f.Fields {
		fmt.Fprintf(&b, "\n  %s: %s %s", x.Field, x.Message, x.Hint)
	}
	if f.Cause != nil {
		fmt.Fprintf(&b, " (%v)", f.Cause)
	}
	return b.String()
}
