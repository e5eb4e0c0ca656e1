package bench

import (
	"fmt"
	"io"
)

// The figures of webhooks.
const (
	KeyDeliveries    = "deliveries"
	KeyDeadEndpoints = "dead_endpoints"
)

// WebhooksCriteria are the figures of webhooks, in the order of the report.
var WebhooksCriteria = []Criterion{
	{Key: KeyDeliveries, Title: "Deliveries over bare requests", Unit: "×", Reported: true, AtLeast: true, Ours: "service", Floor: "bare requests",
		Meaning: "Deliveries per second, from the first that arrives to the last, divided by the number of bare POST requests per second to the same endpoints, four at a time to each, every one on a connection of its own. " +
			"A delivery is also claimed, signed and recorded, its row is written beforehand by the subscriber of the log of events, and the address is checked when it is dialled."},
	{Key: KeyDeadEndpoints, Title: "Deliveries beside endpoints that do not answer", Unit: "×", Reported: true, AtLeast: true, Ours: "with them", Floor: "without",
		Meaning: "Deliveries per second to the endpoints that answer while others take every request and answer none, divided by those without such endpoints. They had answered a ping, so the service takes them for good at first. The smaller of the rows counts."},
}

// WebhooksReport is the outcome of measuring webhooks.
type WebhooksReport struct {
	Setting   Setting  `json:"setting"`
	Figures   []Figure `json:"figures"`
	Events    int      `json:"events"` // of a round
	Endpoints int      `json:"endpoints"`
	Dead      int      `json:"dead"`
}

// Met reports whether every figure meets its bar.
func (r WebhooksReport) Met() bool { return met(r.Figures) }

// Print writes the report as a table for a terminal.
func (r WebhooksReport) Print(w io.Writer) error { return Report{Figures: r.Figures}.Print(w) }

// Markdown returns the report as a page; command is what wrote it, and before the
// page as it is, if there is one.
func (r WebhooksReport) Markdown(command, before string) string {
	s := r.Setting
	return page{
		title: "Webhooks", command: command, sides: "the service and its floor", before: before,
		lines: [][2]string{s.dateLine(), s.machineLine(), s.togetherLine(), s.versionsLine(),
			{"Endpoints", fmt.Sprintf("%d in the process of the measurement, over TLS, which answer at once, and %d of another tenant that do not answer within 10 s; rounds of %d events", r.Endpoints, r.Dead, r.Events)}},
		figures: r.Figures,
	}.markdown()
}
