package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"vitrine/library"
	"vitrine/store"
)

type tenantsCommand struct {
	Create tenantsCreate `cmd:"" help:"Create a tenant."`
	List   tenantsList   `cmd:"" help:"List the tenants."`
	Rename tenantsRename `cmd:"" help:"Rename a tenant."`
	Limits tenantsLimits `cmd:"" help:"Show or set the limits of a tenant."`
}

type tenantsCreate struct {
	servers
	Name string `arg:"" help:"Name of the tenant."`
	JSON bool   `name:"json" help:"Print JSON."`
}

func (c *tenantsCreate) Run(ctx context.Context) error {
	s, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	t, err := s.Store.Tenants.Create(ctx, operator, c.Name)
	if err != nil {
		return err
	}
	if c.JSON {
		return json.NewEncoder(os.Stdout).Encode(t)
	}
	fmt.Printf("Created the tenant %s (%s). Make a key for it: vitrine keys create NAME --tenant %s\n", t.Name, t.ID, t.ID)
	return nil
}

type tenantsList struct {
	servers
	JSON bool `name:"json" help:"Print JSON."`
}

func (c *tenantsList) Run(ctx context.Context) error {
	s, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	all, err := s.Store.Tenants.List(ctx)
	if err != nil {
		return err
	}
	if c.JSON {
		return json.NewEncoder(os.Stdout).Encode(append([]library.Tenant{}, all...))
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "TENANT\tNAME\tCREATED")
	for _, t := range all {
		fmt.Fprintf(w, "%s\t%s\t%s\n", t.ID, t.Name, day(&t.CreatedAt))
	}
	return w.Flush()
}

type tenantsRename struct {
	servers
	Tenant string `arg:"" help:"Tenant, by its id or name."`
	Name   string `arg:"" help:"The new name."`
}

func (c *tenantsRename) Run(ctx context.Context) error {
	s, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	id, err := findTenant(ctx, s.Store, c.Tenant)
	if err != nil {
		return err
	}
	t, err := s.Store.Tenants.Rename(ctx, operator, id, c.Name)
	if err != nil {
		return err
	}
	fmt.Printf("The tenant %s is called %s.\n", t.ID, t.Name)
	return nil
}

// findTenant takes an id, or a name that one tenant has.
func findTenant(ctx context.Context, st *store.Store, named string) (library.TenantID, error) {
	all, err := st.Tenants.List(ctx)
	if err != nil {
		return "", err
	}
	var found []library.TenantID
	for _, t := range all {
		if strings.EqualFold(string(t.ID), named) {
			return t.ID, nil
		}
		if t.Name == named {
			found = append(found, t.ID)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return "", fmt.Errorf("there is no tenant %s; vitrine tenants list shows them", named)
	}
	return "", fmt.Errorf("%d tenants are called %s; name one by its id", len(found), named)
}

type tenantsLimits struct {
	servers
	Tenant   string `arg:"" help:"Tenant, by its id or name."`
	Storage  string `help:"Size of all files including the trash, for example 500GiB. Every limit also takes none and default."`
	Export   string `name:"export-assets" help:"Assets per export."`
	Egress   string `help:"Size of exports per hour, for example 20GiB."`
	RunTime  string `help:"Duration of a pipeline run, for example 60s."`
	Searches string `name:"searches-per-minute" help:"Searches per minute for all keys of the tenant together."`
	Outreach string `enum:"on,off,-" default:"-" help:"on or off: whether the tenant has the tools of outreach."`
	JSON     bool   `name:"json" help:"Print JSON."`
}

func (c *tenantsLimits) Run(ctx context.Context) error {
	change, err := c.change()
	if err != nil {
		return err
	}
	s, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	id, err := findTenant(ctx, s.Store, c.Tenant)
	if err != nil {
		return err
	}
	var l store.TenantLimits
	if change == (store.LimitChange{}) {
		l, err = s.Store.Limits.Get(ctx, id)
	} else {
		l, err = s.Store.Limits.Set(ctx, operator, id, change)
	}
	if err != nil {
		return err
	}
	if c.JSON {
		return json.NewEncoder(os.Stdout).Encode(limitsJSON(l))
	}
	used := ""
	if l.StorageBytes >= 0 {
		used = ", " + strconv.FormatInt(l.StorageUsed, 10) + " used"
	}
	fmt.Printf("storage              %s%s\nexport assets        %s\negress per hour      %s\nrun time             %s\nsearches per minute  %s\noutreach             %s\n", amount(l.StorageBytes, " bytes"), used,
		amount(l.ExportAssets, ""), amount(l.EgressBytesHourly, " bytes"), runTime(l.RunTime), amount(l.SearchesPerMinute, ""), map[bool]string{true: "on", false: "off"}[l.Outreach])
	return nil
}

// limitsJSON returns limits with the names and units of the database; null is none.
func limitsJSON(l store.TenantLimits) map[string]any {
	seconds := int64(l.RunTime / time.Second)
	if l.RunTime < 0 {
		seconds = library.Unlimited
	}
	out := map[string]any{"storage_bytes": l.StorageBytes, "export_assets": l.ExportAssets, "egress_bytes_hourly": l.EgressBytesHourly, "run_seconds": seconds,
		"searches_per_minute": l.SearchesPerMinute, "outreach": l.Outreach}
	for name, v := range out {
		if v == int64(library.Unlimited) {
			out[name] = nil
		}
	}
	if l.StorageBytes != library.Unlimited {
		out["storage_used"] = l.StorageUsed
	}
	return out
}

func amount(n int64, unit string) string {
	if n == library.Unlimited {
		return "no limit"
	}
	return strconv.FormatInt(n, 10) + unit
}

func runTime(d time.Duration) string {
	if d < 0 {
		return "no limit"
	}
	return d.String()
}

func (c *tenantsLimits) change() (store.LimitChange, error) {
	var out store.LimitChange
	var errs []error
	set := func(field **int64, flag, value string, parse func(string) (int64, error)) {
		switch value {
		case "":
			return
		case "none", "default":
			n := int64(library.Unlimited)
			if value == "default" {
				n = store.Default
			}
			*field = &n
			return
		}
		n, err := parse(value)
		if err != nil || n < 0 {
			errs = append(errs, fmt.Errorf("--%s takes none, default or %s", flag, examples[flag]))
			return
		}
		*field = &n
	}
	if c.Outreach != "-" {
		out.Outreach = new(c.Outreach == "on")
	}
	set(&out.StorageBytes, "storage", c.Storage, bytesOf)
	set(&out.ExportAssets, "export-assets", c.Export, wholeNumber)
	set(&out.EgressBytesHourly, "egress", c.Egress, bytesOf)
	set(&out.RunSeconds, "run-time", c.RunTime, secondsOf)
	set(&out.SearchesPerMinute, "searches-per-minute", c.Searches, wholeNumber)
	return out, errors.Join(errs...)
}

var examples = map[string]string{"storage": "a size such as 500GiB, 2TB or 1000000", "egress": "a size such as 20GiB", "export-assets": "a number of at least 1",
	"run-time": "a duration of at least a second, such as 90s", "searches-per-minute": "a number from 1 to " + strconv.Itoa(library.MaxSearchesPerMinute)}

func wholeNumber(s string) (int64, error) { return strconv.ParseInt(s, 10, 64) }

func secondsOf(s string) (int64, error) {
	d, err := time.ParseDuration(s)
	if err == nil && d < time.Second {
		err = errors.New("it is too short")
	}
	return int64(d / time.Second), err
}

// units are powers of 1024 with an i, of 1000 without.
var units = map[string]float64{"": 1, "b": 1, "kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30, "tib": 1 << 40}

func bytesOf(s string) (int64, error) {
	s = strings.ToLower(strings.TrimSpace(s))
	digits := strings.TrimRight(s, "abcdefghijklmnopqrstuvwxyz ")
	unit, known := units[strings.TrimSpace(s[len(digits):])]
	n, err := strconv.ParseFloat(digits, 64)
	if err == nil && (!known || math.IsNaN(n) || n*unit >= 1<<60) {
		err = errors.New("it is no size")
	}
	return int64(n * unit), err
}
