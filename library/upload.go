package library

import "time"

// Upload is an upload in parts.
type Upload struct {
	Tenant    TenantID
	ID        string // of the upload, and of the staged file that it becomes
	Owner     string // who began it
	Filename  string
	Metadata  string // as the client sent it
	Length    int64  // of the whole file, in bytes
	Received  int64  // from its beginning, durable
	Parts     []string
	ExpiresAt time.Time
}

// Complete reports whether all bytes have come.
func (u Upload) Complete() bool { return u.Received == u.Length }
