package service

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"vitrine/automation"
	"vitrine/automation/webhook"
	"vitrine/library"
	"vitrine/store"
)

// UnreadableWebhook is a webhook whose secret was encrypted with another signing key, so that nothing is
// sent to it.
type UnreadableWebhook struct {
	Tenant library.TenantID
	ID     string
	Name   string
}

// UnreadableWebhooks returns the webhooks of all tenants whose secrets the signing key of a configuration does not
// open, and how many webhooks there are. It makes no key.
func UnreadableWebhooks(ctx context.Context, st *store.Store, cfg Config) (list []UnreadableWebhook, total int, err error) {
	sealer, err := cfg.sealer()
	if err != nil {
		return nil, 0, err
	}
	tenants, err := st.Tenants.List(ctx)
	if err != nil {
		return nil, 0, err
	}
	for _, t := range tenants {
		hooks, _, err := st.Webhooks.List(ctx, t.ID, store.MaxWebhooks, 0)
		if err != nil {
			return nil, 0, err
		}
		total += len(hooks)
		for _, h := range hooks {
			secrets, err := st.Webhooks.Secrets(ctx, t.ID, h.ID, time.Now())
			if err != nil {
				return nil, 0, err
			}
			if _, err := sealer.Open(secrets.Now, automation.Endpoint(t.ID, h.ID)); err != nil {
				list = append(list, UnreadableWebhook{t.ID, h.ID, h.Name})
			}
		}
	}
	return list, total, nil
}

// sealer returns what the secrets of webhooks are encrypted with. Where there is no signing key yet it opens
// nothing.
func (c Config) sealer() (*webhook.Sealer, error) {
	if len(c.SigningKey) == 0 {
		if _, err := os.Stat(filepath.Join(c.DataDir, signingKeyFile)); errors.Is(err, fs.ErrNotExist) {
			return webhook.NewSealer(random(32))
		}
	}
	c, err := c.withKey()
	if err != nil {
		return nil, fmt.Errorf("the signing key: %w", err)
	}
	return webhook.NewSealer(c.SigningKey)
}
