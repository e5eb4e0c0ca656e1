package fetch

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"vitrine/library"
)

func tooLarge(limit int64) error {
	return library.NewError(library.KindUnprocessable, library.CodeURLTooLarge,
		"The file at asset_data_url is larger than the %d bytes that are fetched from a URL; nothing was stored. Download it and send it to a URL from CreateUploadUrl.", limit)
}

func forbidden(cause error, why string) error {
	return &library.Error{Kind: library.KindUnprocessable, Code: library.CodeURLForbiddenHost, Cause: cause,
		Detail: "Nothing is fetched from this asset_data_url: " + why + ". Download the file and send it to a URL from CreateUploadUrl, or let the operator allow the host (MCP_URL_INGEST_ALLOWLIST)."}
}

// Failed returns the error of a file that could not be fetched; why goes on after "could not
// be fetched:".
func Failed(cause error, why string, args ...any) error {
	return &library.Error{Kind: library.KindUnprocessable, Code: library.CodeURLFetchFailed, Cause: cause,
		Detail: "The file at asset_data_url could not be fetched: " + fmt.Sprintf(why, args...) + ". Nothing was stored. Check the URL, or download the file and send it to a URL from CreateUploadUrl."}
}

// Expired returns the error of a URL whose time is over.
func Expired(cause error) error {
	return &library.Error{Kind: library.KindUnprocessable, Code: library.CodeURLExpired, Cause: cause,
		Detail: "The asset_data_url has expired; nothing was stored. Request a new URL where it came from."}
}

// refused returns the error of an answer that is no file.
func refused(res *http.Response) error {
	start, _ := io.ReadAll(io.LimitReader(res.Body, 4<<10)) // what cannot be read explains nothing
	switch {
	case res.StatusCode == http.StatusGone, lapses(res.Request.URL.Hostname()) && (res.StatusCode == http.StatusNotFound || res.StatusCode == http.StatusForbidden),
		res.StatusCode < 500 && bytes.Contains(bytes.ToLower(start), []byte("expired")):
		return Expired(fmt.Errorf("the host answered %d", res.StatusCode))
	}
	return Failed(nil, "the host answered with status %d", res.StatusCode)
}

// expired reports whether a signed URL says of itself that its time is over. Clocks may
// differ by a minute.
func expired(u *url.URL, now time.Time) bool {
	q := u.Query()
	end, ok := unix(q.Get("Expires")) // CloudFront, older Amazon S3 and Google Cloud Storage signatures
	for _, kind := range []string{"X-Amz-", "X-Goog-"} {
		if from, err := time.Parse("20060102T150405Z", q.Get(kind+"Date")); err == nil {
			if seconds, err := strconv.ParseInt(q.Get(kind+"Expires"), 10, 32); err == nil {
				end, ok = from.Add(time.Duration(seconds)*time.Second), true
			}
		}
	}
	if until, err := time.Parse(time.RFC3339, q.Get("se")); err == nil && q.Get("sig") != "" { // Azure
		end, ok = until, true
	}
	return ok && now.After(end.Add(time.Minute))
}

func unix(s string) (time.Time, bool) {
	n, err := strconv.ParseInt(s, 10, 64)
	return time.Unix(n, 0), err == nil && n > 1_000_000_000 && n < 100_000_000_000
}
