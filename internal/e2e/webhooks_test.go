package e2e

import (
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"vitrine/api/client"
	"vitrine/automation/webhook"
	"vitrine/internal/testenv"
	"vitrine/media/fetch/fetchtest"
	"vitrine/op"
	"vitrine/service"
	"vitrine/service/servicetest"
)

// inbox receives what webhooks are sent.
type inbox struct {
	mu     sync.Mutex
	status int
	got    []http.Header
	bodies []string
}

func (x *inbox) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	x.mu.Lock()
	defer x.mu.Unlock()
	x.got, x.bodies = append(x.got, r.Header), append(x.bodies, string(body))
	w.Header().Set("Location", "/elsewhere")
	w.WriteHeader(x.status)
	_, _ = io.WriteString(w, "thank you")
}

func (x *inbox) answer(status int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.status = status
}

// messages returns the ids and the bodies of requests of an event type, in the order in which they came.
func (x *inbox) messages(kind string) (ids, bodies []string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for i, body := range x.bodies {
		var m op.EventMessage
		if json.Unmarshal([]byte(body), &m) == nil && m.Type == kind {
			ids, bodies = append(ids, x.got[i].Get("webhook-id")), append(bodies, body)
		}
	}
	return ids, bodies
}

// verified reports whether the latest request is signed with a secret.
func (x *inbox) verified(t *testing.T, secret string) bool {
	t.Helper()
	x.mu.Lock()
	defer x.mu.Unlock()
	last := len(x.bodies) - 1
	return signed(t, secret, x.bodies[last:], x.got[last:])
}

// allVerified reports whether there are requests and every one is signed with a secret.
func (x *inbox) allVerified(t *testing.T, secret string) bool {
	t.Helper()
	x.mu.Lock()
	defer x.mu.Unlock()
	return len(x.bodies) > 0 && signed(t, secret, x.bodies, x.got)
}

// signed reports whether each body is signed with a secret by its headers, as the public library verifies it.
func signed(t *testing.T, secret string, bodies []string, headers []http.Header) bool {
	t.Helper()
	v, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	for i, body := range bodies {
		if v.Verify([]byte(body), headers[i]) != nil {
			return false
		}
	}
	return true
}

// await waits until so many messages of a type have come.
func (x *inbox) await(t *testing.T, kind string, n int) []string {
	t.Helper()
	var ids []string
	servicetest.Eventually(t, fmt.Sprintf("%d messages %s", n, kind), func() error {
		if ids, _ = x.messages(kind); len(ids) < n {
			return fmt.Errorf("%d so far", len(ids))
		}
		return nil
	})
	return ids
}

func TestWebhooks_FromRegistrationToDeletion(t *testing.T) {
	t.Parallel()
	web, box := fetchtest.New(t), &inbox{status: 302}
	web.Handler = box
	web.Resolve("hooks.example.com", fetchtest.Public)
	web.Resolve("inside.example.com", "127.0.0.2")
	e := servicetest.Start(t, servicetest.Options{Adjust: func(cfg *service.Config) {
		cfg.Webhooks = webhook.Config{AllowPrivate: fetchtest.Reachable(), RootCAs: web.Roots, Resolver: web.Resolver}
	}})
	c, url := e.Client(""), fmt.Sprintf("https://hooks.example.com:%d/in", web.Port)
	register := func(url string, events ...string) (client.RegisterWebhookOutput, error) {
		return c.RegisterWebhook(t.Context(), client.RegisterWebhookInput{Name: "relay", URL: url, Events: events})
	}
	refusesEndpoints(t, c, url, web.Port)
	if web.Private.Load() != 0 {
		t.Error("an address of the own network was dialled")
	}
	refused, err := register(url, "*")
	if err != nil || !refused.Ping.Sent || refused.Ping.Delivered || refused.Ping.Status != 302 || !strings.Contains(refused.Ping.Error, "redirects") {
		t.Fatalf("%+v %v", refused, err)
	}
	if _, err := c.DeleteWebhook(t.Context(), client.DeleteWebhookInput{WebhookID: refused.WebhookID}); err != nil {
		t.Fatal(err)
	}
	box.answer(200)
	made, err := register(url, "asset.created", "asset.created", "test.ping")
	if err != nil || !made.Ping.Delivered || made.Ping.Status != 200 || made.Ping.Response != "thank you" || !strings.HasPrefix(made.Secret, "whsec_") || !slices.Equal(made.Events, []string{"asset.created", "test.ping"}) {
		t.Fatalf("%+v %v", made, err)
	}
	if !box.verified(t, made.Secret) {
		t.Error("the ping is not signed with the secret")
	}
	of := client.GetWebhookInput{WebhookID: made.WebhookID}
	shown, err := c.GetWebhook(t.Context(), of)
	if err != nil || shown.Health.LastSuccessAt == nil {
		t.Errorf("%+v %v", shown, err)
	}

	delivers(t, e, box, made)
	checkRotation(t, c, box, made)
	if _, err := c.DeleteWebhook(t.Context(), client.DeleteWebhookInput{WebhookID: made.WebhookID}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.GetWebhook(t.Context(), of); !isStatus(err, http.StatusNotFound) {
		t.Errorf("a webhook that was deleted: %v", err)
	}
}

// delivers stores a file, of which the webhook is told once, and once more when that is replayed.
func delivers(t *testing.T, e *servicetest.Env, box *inbox, made client.RegisterWebhookOutput) {
	t.Helper()
	c := e.Client("")
	stored := e.StoreFile("", "fox.png", "image/png", picture(1, ""))
	ids := box.await(t, "asset.created", 1)
	if _, bodies := box.messages("asset.created"); !strings.Contains(bodies[0], stored.Asset.AssetH) || !box.verified(t, made.Secret) {
		t.Errorf("the message is %s", bodies[0])
	}
	servicetest.Eventually(t, "the log has the ping and the event", func() error {
		list, err := c.ListWebhookDeliveries(t.Context(), client.ListWebhookDeliveriesInput{WebhookID: made.WebhookID, State: "delivered"})
		if err != nil || list.Total != 2 || list.Data[0].DeliveryID != ids[0] || list.Data[0].AttemptLog[0].Response != "thank you" {
			return fmt.Errorf("%+v %w", list, err)
		}
		return nil
	})
	again, err := c.ReplayWebhookDeliveries(t.Context(), client.ReplayWebhookDeliveriesInput{WebhookID: made.WebhookID, DeliveryIDs: ids})
	if err != nil || again.Replayed != 1 {
		t.Fatalf("%+v %v", again, err)
	}
	if ids := box.await(t, "asset.created", 2); ids[0] != ids[1] {
		t.Errorf("what is sent again has the id %s, it had %s", ids[1], ids[0])
	}
}

// refusesEndpoints registers webhooks that lead into the own network, are not encrypted or wait for no event.
func refusesEndpoints(t *testing.T, c *client.Client, url string, port uint16) {
	t.Helper()
	for what, bad := range map[string]client.RegisterWebhookInput{
		"plain http": {URL: "http://hooks.example.com", Events: []string{"*"}}, "an address of this machine": {URL: "https://127.0.0.2", Events: []string{"*"}},
		"a name that leads to one": {URL: fmt.Sprintf("https://inside.example.com:%d", port), Events: []string{"*"}}, "an unknown event": {URL: url, Events: []string{"asset.painted"}},
	} {
		bad.Name = "bad"
		var known *client.Error
		if _, err := c.RegisterWebhook(t.Context(), bad); !errors.As(err, &known) || known.Status != http.StatusUnprocessableEntity {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// checkRotation gives a webhook another secret: messages are signed with both for a while.
func checkRotation(t *testing.T, c *client.Client, box *inbox, made client.RegisterWebhookOutput) {
	t.Helper()
	rotated, err := c.RotateWebhookSecret(t.Context(), client.RotateWebhookSecretInput{WebhookID: made.WebhookID})
	if err != nil || rotated.Secret == made.Secret {
		t.Fatalf("%+v %v", rotated, err)
	}
	ping, err := c.TestWebhook(t.Context(), client.TestWebhookInput{WebhookID: made.WebhookID})
	if err != nil || !ping.Delivered || !box.verified(t, made.Secret) || !box.verified(t, rotated.Secret) {
		t.Errorf("after the rotation: %+v %v", ping, err)
	}
}

func isStatus(err error, status int) bool {
	var known *client.Error
	return errors.As(err, &known) && known.Status == status
}

// TestWebhooks_KilledAnywhereInADeliveryTheyLoseNothing kills the service with no warning at each named
// point of a delivery. Every event arrives, and what comes twice has one id.
func TestWebhooks_KilledAnywhereInADeliveryTheyLoseNothing(t *testing.T) {
	t.Parallel()
	for _, point := range []string{"webhooks.delivery_made", "webhooks.claimed", "webhooks.sent"} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			box := &inbox{status: http.StatusOK}
			receiver := httptest.NewTLSServer(box)
			t.Cleanup(receiver.Close)
			cfg := servicetest.Config(t)
			ca := filepath.Join(cfg.DataDir, "ca.pem")
			if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: receiver.Certificate().Raw}), 0o600); err != nil {
				t.Fatal(err)
			}
			settings.Store(cfg.Prefix, map[string]string{"VITRINE_WEBHOOK_ALLOW_PRIVATE": netip.MustParseAddr("127.0.0.1").String() + "/32", "VITRINE_WEBHOOK_CA_FILE": ca})
			k := newKilledAt(t, cfg)
			var key struct {
				Secret string `json:"secret"`
			}
			if err := json.Unmarshal([]byte(command(t, cfg, "keys", "create", "admin", "--permissions", "read,write,admin", "--json")), &key); err != nil {
				t.Fatal(err)
			}
			k.api.Key = key.Secret
			p := serve(t, cfg, point+":3")
			if _, err := k.api.RegisterWebhook(t.Context(), client.RegisterWebhookInput{Name: "relay", URL: receiver.URL, Events: []string{"asset.created"}, TimeoutMS: 1000}); err != nil {
				t.Fatal(err)
			}
			const files = 5
			stored := 0
			for i := range files {
				if _, err := k.store(picture(i, "")); err == nil {
					stored++
				}
			}
			p.awaitDeath(point)
			p = serve(t, cfg, "")
			for i := range files { // those that were not acknowledged; the others are there
				if _, err := k.store(picture(i, "")); err != nil {
					t.Fatal(err)
				}
			}
			servicetest.Eventually(t, "every delivery is made", func() error {
				if n := k.count(`SELECT count(*) FROM webhook_deliveries WHERE state = 'delivered' AND event_type = 'asset.created'`); n != files {
					return fmt.Errorf("%d of %d", n, files)
				}
				return nil
			})
			k.checkMessages(box, files)
			p.stop()
		})
	}
}

// checkMessages checks that each of so many deliveries has come at least once, under its id and with one body.
func (k killed) checkMessages(box *inbox, deliveries int) {
	k.t.Helper()
	ids, bodies := box.messages("asset.created")
	body := map[string]string{}
	for i, id := range ids {
		if was, twice := body[id]; twice && was != bodies[i] {
			k.t.Errorf("the message %s came as %s and as %s", id, was, bodies[i])
		}
		body[id] = bodies[i]
	}
	c, err := pgx.Connect(k.t.Context(), k.cfg.PostgresURL)
	if err != nil {
		k.t.Fatal(err)
	}
	defer c.Close(k.t.Context())
	var missing int
	if err := c.QueryRow(k.t.Context(), `SELECT count(*) FROM webhook_deliveries WHERE event_type = 'asset.created' AND NOT delivery_id = ANY($1)`, ids).Scan(&missing); err != nil {
		k.t.Fatal(err)
	}
	if missing != 0 || len(body) != deliveries {
		k.t.Errorf("%d deliveries, of which %d never came; %d messages, want %d", deliveries, missing, len(body), deliveries)
	}
}

// TestWebhooks_LoseNothingWithTheTopic deletes the topic of events, with what is in it, while files arrive.
func TestWebhooks_LoseNothingWithTheTopic(t *testing.T) {
	t.Parallel()
	web, box := fetchtest.New(t), &inbox{status: http.StatusOK}
	web.Handler = box
	web.Resolve("hooks.example.com", fetchtest.Public)
	e := servicetest.Start(t, servicetest.Options{Adjust: func(cfg *service.Config) {
		cfg.Webhooks = webhook.Config{AllowPrivate: fetchtest.Reachable(), RootCAs: web.Roots, Resolver: web.Resolver}
	}})
	if _, err := e.Client("").RegisterWebhook(t.Context(), client.RegisterWebhookInput{Name: "relay", URL: fmt.Sprintf("https://hooks.example.com:%d/in", web.Port), Events: []string{"asset.created"}}); err != nil {
		t.Fatal(err)
	}
	const files = 6
	for i := range files {
		if i == files/2 {
			if err := testenv.DeleteTopic(t.Context(), e.Cfg.Brokers, e.Cfg.Prefix+"events"); err != nil {
				t.Fatal(err)
			}
		}
		e.StoreFile("", fmt.Sprintf("fox%d.png", i), "image/png", picture(i, ""))
	}
	box.await(t, "asset.created", files)
	ids, _ := box.messages("asset.created")
	slices.Sort(ids)
	if n := len(slices.Compact(ids)); n != files {
		t.Errorf("%d messages, want %d", n, files)
	}
}
