package library

import "time"

// Tenant is one workspace.
type Tenant struct {
	ID        TenantID  `json:"tenant_id"`
	Name      string    `json:"name"`
	CreatedAt time.Time `json:"created_at"`
}

// Key is one API key without its secret: only the SHA-256 of the secret is kept.
type Key struct {
	ID          string       `json:"key_id"`
	Tenant      TenantID     `json:"tenant_id"` // its default tenant
	Name        string       `json:"name"`
	Hint        string       `json:"hint"` // the secret's last characters
	Permissions []Permission `json:"permissions"`
	MoreTenants []TenantID   `json:"more_tenants"` // further tenants it may choose
	CreatedAt   time.Time    `json:"created_at"`
	ExpiresAt   *time.Time   `json:"expires_at"`
	LastUsedAt  *time.Time   `json:"last_used_at"` // to the minute
	RevokedAt   *time.Time   `json:"revoked_at"`
}
