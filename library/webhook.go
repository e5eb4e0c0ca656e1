package library

import "time"

// Delivery is one message for one endpoint, waiting or done.
type Delivery struct {
	ID         string
	WebhookID  string
	EventType  string
	Body       string
	State      string // see the constants
	Attempts   int    // since it was made or replayed
	NextAt     time.Time
	Log        []DeliveryAttempt // the latest attempts, the oldest first
	CreatedAt  time.Time
	FinishedAt *time.Time
}

// The states of a delivery.
const (
	DeliveryPending   = "pending"
	DeliveryDelivered = "delivered"
	DeliveryFailed    = "failed" // its attempts are used up
)

// DeliveryAttempt is one attempt at a delivery.
type DeliveryAttempt struct {
	At         time.Time `json:"at"`
	DurationMS int64     `json:"duration_ms"`
	Status     int       `json:"status,omitempty" doc:"The receiver's HTTP status; absent without a response."`
	Error      string    `json:"error,omitempty" doc:"Why the attempt failed."`
	Response   string    `json:"response,omitempty" doc:"How the response begins."`
}

// Webhook is an endpoint that is told of events.
type Webhook struct {
	ID             string
	Name           string
	URL            string
	Events         []string // types, or patterns of them
	Description    string
	Enabled        bool
	DisabledReason string // why the service disabled it
	Timeout        time.Duration
	CreatedAt      time.Time
	CreatedBy      string
	UpdatedAt      time.Time
	Health         WebhookHealth
}

// WebhookHealth is how an endpoint fares.
type WebhookHealth struct {
	Failures     int        // attempts that failed since the last success
	FailingSince *time.Time // when the first of them was
	BlockedUntil *time.Time // nothing is sent before
	LastSuccess  *time.Time
	Pending      int // deliveries that wait; counted up to 10,000
}
