package main

import (
	"context"

	"vitrine/api/client"
)

// demoWebhookURL is at a host that exists for examples alone.
const demoWebhookURL = "https://hooks.example.com/vitrine"

// demoRegisterWebhook registers a webhook that is disabled, so that nothing is sent. One of an
// earlier run is left as it is.
func demoRegisterWebhook(ctx context.Context, api *client.Client) error {
	have, err := api.ListWebhooks(ctx, client.ListWebhooksInput{Limit: 100})
	if err != nil {
		return err
	}
	for _, w := range have.Data {
		if w.URL == demoWebhookURL {
			return nil
		}
	}
	_, err = api.RegisterWebhook(ctx, client.RegisterWebhookInput{Name: "Studio chat", URL: demoWebhookURL, Events: []string{"pipeline.completed", "pipeline.failed", "collection.*"},
		Description: "Tells the studio's chat of finished pipelines and of changed collections, once it has a URL of yours and is enabled.", Enabled: new(false)})
	return err
}
