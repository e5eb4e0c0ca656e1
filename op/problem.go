package op

import (
	"errors"
	"math"

	"vitrine/library"
)

// Problem is how an error looks to a client, over REST as
// application/problem+json (RFC 9457) and over MCP as the text of an error result.
type Problem struct {
	Type       string               `json:"type" doc:"Always about:blank; code is what programs branch on."`
	Title      string               `json:"title" doc:"The kind of error in words."`
	Status     int                  `json:"status" doc:"HTTP status."`
	Detail     string               `json:"detail" doc:"What went wrong and what to do next."`
	Code       string               `json:"code" doc:"Stable code in upper snake case."`
	Errors     []library.FieldError `json:"errors" doc:"Every invalid field, with what is allowed."`
	Permission string               `json:"permission,omitempty" doc:"The permission that is missing."`
	Extra      any                  `json:"extra,omitempty" doc:"Structured detail, for example query warnings."`
	Retryable  bool                 `json:"retryable" doc:"Whether the same request may succeed later unchanged."`
	RetryAfter int                  `json:"retry_after,omitempty" doc:"Seconds to wait before a retry."`
	RequestID  string               `json:"request_id,omitempty" doc:"Identifies this request in the server's log."`
}

var kinds = map[library.ErrorKind]struct {
	status int
	title  string
}{
	library.KindInvalid:         {400, "The request is not valid"},
	library.KindUnauthenticated: {401, "A credential is needed"},
	library.KindForbidden:       {403, "The credential does not allow this"},
	library.KindNotFound:        {404, "Not found"},
	library.KindMethod:          {405, "Method not allowed"},
	library.KindConflict:        {409, "The current state does not allow this"},
	library.KindGone:            {410, "It has expired"},
	library.KindPrecondition:    {412, "It has changed meanwhile"},
	library.KindTooLarge:        {413, "Too large"},
	library.KindUnsupported:     {415, "Media type not supported"},
	library.KindRange:           {416, "Range not satisfiable"},
	library.KindUnprocessable:   {422, "It cannot be done"},
	library.KindRateLimited:     {429, "Too many requests"},
	library.KindHeaders:         {431, "Header fields too large"},
	library.KindCanceled:        {499, "The client closed the request"},
	library.KindInternal:        {500, "Internal error"},
	library.KindUnavailable:     {503, "A part of the service is down"},
	library.KindChecksum:        {460, "The checksum does not match"},
	library.KindStorageFull:     {507, "Storage is full"},
}

// ProblemOf renders an error for a client. The hidden cause stays hidden.
func ProblemOf(err error, requestID string) Problem {
	f := library.AsError(err)
	k := kinds[f.Kind]
	p := Problem{
		Type: "about:blank", Title: k.title, Status: k.status, Detail: f.Detail, Code: f.Code,
		Errors: f.Fields, Permission: string(f.Permission), Extra: f.Extra, Retryable: f.Retryable(),
		RetryAfter: int(math.Ceil(f.RetryAfter.Seconds())), RequestID: requestID,
	}
	if p.Errors == nil {
		p.Errors = []library.FieldError{}
	}
	return p
}

// HasCode reports whether err is an error of the given code.
func HasCode(err error, code string) bool {
	var f *library.Error
	return errors.As(err, &f) && f.Code == code
}
