package library

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// ErrorKind is the class of an error; the transports map it to a status.
type ErrorKind string

// The kinds of error, each with the HTTP status that REST answers with.
const (
	KindInvalid         ErrorKind = "invalid"         // 400: the request is wrong and will stay wrong
	KindUnauthenticated ErrorKind = "unauthenticated" // 401: no or unusable credential
	KindForbidden       ErrorKind = "forbidden"       // 403: the credential lacks a permission
	KindNotFound        ErrorKind = "not_found"       // 404: absent, or another tenant's
	KindMethod          ErrorKind = "method"          // 405: the path exists, the method does not
	KindConflict        ErrorKind = "conflict"        // 409: the current state does not allow it
	KindGone            ErrorKind = "gone"            // 410: it was there and has expired
	KindPrecondition    ErrorKind = "precondition"    // 412: If-Match names another version
	KindTooLarge        ErrorKind = "too_large"       // 413
	KindUnsupported     ErrorKind = "unsupported"     // 415: a media type that is not accepted
	KindRange           ErrorKind = "range"           // 416: no part of the file is where Range says
	KindUnprocessable   ErrorKind = "unprocessable"   // 422: well-formed, yet it cannot be done
	KindRateLimited     ErrorKind = "rate_limited"    // 429
	KindHeaders         ErrorKind = "headers"         // 431: the header fields are too large
	KindCanceled        ErrorKind = "canceled"        // 499: the client closed the request before it was answered
	KindInternal        ErrorKind = "internal"        // 500: a defect of ours
	KindUnavailable     ErrorKind = "unavailable"     // 503: a part is down; the same call may succeed later
	KindStorageFull     ErrorKind = "storage_full"    // 507
	KindChecksum        ErrorKind = "checksum"        // 460, as tus has it: the bytes have not the checksum that was sent
)

// Stable error codes, upper snake case. Clients branch on these.
const (
	CodeValidationFailed   = "VALIDATION_FAILED"
	CodeMalformedJSON      = "MALFORMED_JSON"
	CodeMalformedRequest   = "MALFORMED_REQUEST"
	CodeUnauthenticated    = "UNAUTHENTICATED"
	CodeKeyInURL           = "KEY_IN_URL"
	CodePermissionRequired = "PERMISSION_REQUIRED"
	CodeNotFound           = "NOT_FOUND"
	CodeMethodNotAllowed   = "METHOD_NOT_ALLOWED"
	CodeConflict           = "CONFLICT"
	CodePreconditionFailed = "PRECONDITION_FAILED"
	CodeNotOwner           = "NOT_OWNER"
	CodeNameTaken          = "NAME_TAKEN"
	CodeFrozen             = "COLLECTION_FROZEN"
	CodeSmartCollection    = "COLLECTION_SMART"
	CodeHashCollision      = "HASH_COLLISION"
	CodeTrashed            = "ASSET_TRASHED"
	CodeAlreadyUndone      = "ALREADY_UNDONE"
	CodeURLExpired         = "URL_EXPIRED"
	CodeURLInvalid         = "URL_INVALID"
	CodeURLRevoked         = "URL_REVOKED"
	CodeURLForbiddenHost   = "URL_FORBIDDEN_HOST"
	CodeURLTooLarge        = "URL_TOO_LARGE"
	CodeURLTimeout         = "URL_FETCH_TIMEOUT"
	CodeURLTypeMismatch    = "URL_CONTENT_TYPE_MISMATCH"
	CodeURLFetchFailed     = "URL_FETCH_FAILED"
	CodePayloadTooLarge    = "PAYLOAD_TOO_LARGE"
	CodeStorageQuota       = "STORAGE_QUOTA_EXCEEDED"
	CodeHeadersTooLarge    = "HEADERS_TOO_LARGE"
	CodeRangeNotSatisfied  = "RANGE_NOT_SATISFIABLE"
	CodeHostNotAllowed     = "HOST_NOT_ALLOWED"
	CodeOriginNotAllowed   = "ORIGIN_NOT_ALLOWED"
	CodeUnsupportedMedia   = "UNSUPPORTED_MEDIA_TYPE"
	CodeEmptyFile          = "EMPTY_FILE"
	CodeSizeMismatch       = "SIZE_MISMATCH"
	CodeHashMismatch       = "HASH_MISMATCH"
	CodeTypeMismatch       = "CONTENT_TYPE_MISMATCH"
	CodeStorageRefInvalid  = "STORAGE_REF_INVALID"
	CodeRateLimited        = "RATE_LIMITED"
	CodeQuerySyntax        = "QUERY_SYNTAX"
	CodeQueryValue         = "QUERY_VALUE"
	CodeQueryTooComplex    = "QUERY_TOO_COMPLEX"
	CodeIndexUnavailable   = "INDEX_UNAVAILABLE"
	CodeStoreUnavailable   = "STORE_UNAVAILABLE"
	CodeStoreLogin         = "STORE_LOGIN"
	CodeDeadline           = "DEADLINE_EXCEEDED"
	CodeStorageFull        = "STORAGE_FULL"
	CodeFilesUnavailable   = "FILES_UNAVAILABLE"
	CodeFileMissing        = "FILE_MISSING"
	CodeFileDamaged        = "FILE_DAMAGED"
	CodeDecodingBusy       = "DECODING_BUSY"
	CodePreviewTooLarge    = "PREVIEW_TOO_LARGE"
	CodeAssetPrivate       = "ASSET_PRIVATE"
	CodeBatchLimit         = "BATCH_LIMIT_EXCEEDED"
	CodeEgressQuota        = "EGRESS_QUOTA_EXCEEDED"
	CodeExportUnavailable  = "EXPORT_UNAVAILABLE"
	CodeFormatUnavailable  = "FORMAT_UNAVAILABLE"
	CodeIdempotencyReuse   = "IDEMPOTENCY_KEY_REUSED"
	CodeDomainDisabled     = "DOMAIN_DISABLED"
	CodeClientClosed       = "CLIENT_CLOSED_REQUEST"
	CodeInternal           = "INTERNAL"
)

// FieldError is what is wrong with one field of a request.
type FieldError struct {
	Field   string `json:"field" doc:"Path of the field in the request, for example tags[3] or filters.status."`
	Code    string `json:"code" doc:"Stable code of what is wrong with this field: required, type, enum, range, length, pattern, format, unknown, conflict."`
	Message string `json:"message" doc:"What is wrong, and what is allowed."`
	Hint    string `json:"hint,omitempty" doc:"What to do next."`
}

// Error is the one error type that crosses packages. It is rendered only at the
// edge (api, mcp, cmd), where Kind becomes a status and Cause is logged and
// dropped. Detail and Fields are public: they never repeat a sent value in full.
type Error struct {
	Kind       ErrorKind
	Code       string
	Detail     string       // one public sentence: what went wrong and what to do next
	Fields     []FieldError // all invalid fields at once, for KindInvalid
	RetryAfter time.Duration
	Permission Permission // the permission that is missing, for KindForbidden
	Extra      any        // structured public detail, for example query warnings
	Cause      error      // never shown to a caller
}

// Error returns the public sentence and the hidden cause, for logs.
func (f *Error) Error() string {
	var b strings.Builder
	b.WriteString(f.Code)
	b.WriteString(": ")
	b.WriteString(f.Detail)
	for _, x := range f.Fields {
		fmt.Fprintf(&b, "; %s: %s", x.Field, x.Message)
	}
	if f.Cause != nil {
		fmt.Fprintf(&b, " (%v)", f.Cause)
	}
	return b.String()
}

// Unwrap returns the hidden cause.
func (f *Error) Unwrap() error { return f.Cause }

// Retryable reports whether the same request may succeed later unchanged.
func (f *Error) Retryable() bool {
	switch f.Kind {
	case KindRateLimited, KindUnavailable, KindStorageFull, KindCanceled:
		return true
	}
	return false
}

// NewError makes an error without fields.
func NewError(kind ErrorKind, code, format string, args ...any) *Error {
	return &Error{Kind: kind, Code: code, Detail: fmt.Sprintf(format, args...)}
}

// Invalid makes a VALIDATION_FAILED error out of one or more invalid fields.
func Invalid(fields ...FieldError) *Error {
	f := &Error{Kind: KindInvalid, Code: CodeValidationFailed, Fields: fields}
	switch len(fields) {
	case 1:
		f.Detail = "The field " + fields[0].Field + " is not valid: " + fields[0].Message
	default:
		f.Detail = fmt.Sprintf("%d fields are not valid; errors lists each with what is allowed.", len(fields))
	}
	return f
}

// NotFound is the answer for what does not exist and for what is another
// tenant's: the two must be indistinguishable.
func NotFound(what string) *Error {
	return NewError(KindNotFound, CodeNotFound, "No such %s in this tenant. Check the identifier, or search for it.", what)
}

// ClientClosed is the error of a request whose client has gone: nobody reads it, and it
// is no defect of ours.
func ClientClosed(cause error) *Error {
	return &Error{Kind: KindCanceled, Code: CodeClientClosed, Cause: cause,
		Detail: "The client closed the request before it was answered. Repeat it; with the same Idempotency-Key it cannot happen twice."}
}

// AsError finds the error in an error chain, or wraps the error as an internal
// one whose cause stays hidden.
func AsError(err error) *Error {
	var f *Error
	if errors.As(err, &f) {
		return f
	}
	return &Error{
		Kind: KindInternal, Code: CodeInternal,
		Detail: "Internal error. Search the server's log for the request id.",
		Cause:  err,
	}
}
