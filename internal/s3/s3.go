// Package s3 keeps objects in a bucket of a server that speaks the S3 protocol.
//
// In come the URL of a bucket, names and bytes; out come objects, listings and signed
// links. The package knows nothing of what the bytes mean: media/blob keeps the files of
// a library with it, and backup its backups. It is the only one that imports minio-go.
package s3

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// Scheme begins the URL of a bucket: s3://bucket/prefix.
const Scheme = "s3://"

// Access is how to reach a server of buckets and to sign in there. The zero value is
// Amazon's, with the credentials that its own tools find.
type Access struct {
	// Endpoint is the server's URL, such as https://s3.example.com:9000; "" is Amazon S3.
	Endpoint string
	Region   string // "" means that the server is asked
	// AccessKey and SecretKey sign requests. Without them the environment (AWS_ACCESS_KEY_ID
	// and so on), the shared credentials file and the machine's role are asked, in this order.
	AccessKey, SecretKey string
	TLS                  *tls.Config // for https; nil means the system's certificate authorities
	// VirtualHost puts the bucket into the host name, as Amazon does; otherwise it is part
	// of the path, unless the server is Amazon's.
	VirtualHost bool
}

// Bucket is a bucket, or what is below a prefix of it. It is safe for concurrent use.
type Bucket struct {
	core   minio.Core
	name   string
	prefix string // "" or ending in "/"
}

// IsURL reports whether a setting names a bucket rather than a folder.
func IsURL(s string) bool { return strings.HasPrefix(s, Scheme) }

// Open returns the bucket that a URL such as s3://bucket/prefix names. Nothing is asked of
// the server yet, so that a service may start before it.
func Open(bucket string, access Access) (*Bucket, error) {
	name, prefix, _ := strings.Cut(strings.TrimPrefix(bucket, Scheme), "/")
	prefix = strings.Trim(prefix, "/")
	if !IsURL(bucket) || name == "" || prefix != "" && path.Clean(prefix) != prefix || strings.ContainsAny(prefix, "?#\\") {
		return nil, fmt.Errorf("%q names no bucket; the form is s3://bucket or s3://bucket/prefix", bucket)
	}
	if prefix != "" {
		prefix += "/"
	}
	opt, host, err := access.options()
	if err != nil {
		return nil, err
	}
	client, err := minio.New(host, opt)
	if err != nil {
		return nil, fmt.Errorf("the bucket %s: %w", bucket, err)
	}
	client.SetAppInfo("vitrine", "1")
	return &Bucket{core: minio.Core{Client: client}, name: name, prefix: prefix}, nil
}

// Limits of one request. minio-go repeats requests that may be repeated.
const (
	answerTimeout = 30 * time.Second
	attempts      = 4
)

func (a Access) options() (*minio.Options, string, error) {
	secure, host := true, "s3.amazonaws.com"
	if a.Endpoint != "" {
		u, err := url.Parse(a.Endpoint)
		if err != nil || u.Host == "" || u.User != nil || u.Scheme != "http" && u.Scheme != "https" || strings.Trim(u.Path, "/") != "" {
			return nil, "", errors.New("the endpoint of S3 must be a URL of a host alone, such as https://s3.example.com:9000")
		}
		secure, host = u.Scheme == "https", u.Host
	}
	if (a.AccessKey == "") != (a.SecretKey == "") {
		return nil, "", errors.New("S3 needs both an access key and its secret key, or neither")
	}
	transport, err := minio.DefaultTransport(secure)
	if err != nil {
		return nil, "", err
	}
	transport.ResponseHeaderTimeout = answerTimeout
	if a.TLS != nil && secure {
		transport.TLSClientConfig = a.TLS.Clone()
	}
	lookup := minio.BucketLookupAuto
	if a.VirtualHost {
		lookup = minio.BucketLookupDNS
	} else if a.Endpoint != "" {
		lookup = minio.BucketLookupPath
	}
	return &minio.Options{Creds: a.credentials(), Secure: secure, Transport: transport, Region: a.Region, BucketLookup: lookup, MaxRetries: attempts}, host, nil
}

func (a Access) credentials() *credentials.Credentials {
	if a.AccessKey != "" {
		return credentials.NewStaticV4(a.AccessKey, a.SecretKey, "")
	}
	chain := []credentials.Provider{&credentials.EnvAWS{}, &credentials.FileAWSCredentials{}}
	if a.Endpoint == "" || os.Getenv("AWS_WEB_IDENTITY_TOKEN_FILE") != "" { // elsewhere there is no role to ask for
		chain = append(chain, &credentials.IAM{Client: &http.Client{Timeout: 10 * time.Second}})
	}
	return credentials.NewChainCredentials(chain)
}

// String returns the bucket's URL.
func (b *Bucket) String() string { return Scheme + b.name + "/" + b.prefix }

// The errors that callers tell apart; others are the server's own.
var (
	ErrMissing  = errors.New("there is no such object")
	ErrNoBucket = errors.New("there is no such bucket")
	ErrFull     = errors.New("the server has no room left")
	ErrChanged  = errors.New("the object has changed meanwhile")
)

// translate turns a server's error into one of the package's, around it.
func translate(err error) error {
	if err == nil {
		return nil
	}
	r := minio.ToErrorResponse(err)
	switch {
	case r.Code == "NoSuchBucket":
		return fmt.Errorf("%w: %w", ErrNoBucket, err)
	case r.Code == "NoSuchKey" || r.Code == "NoSuchUpload" || r.StatusCode == http.StatusNotFound:
		return fmt.Errorf("%w: %w", ErrMissing, err)
	case r.StatusCode == http.StatusPreconditionFailed || r.Code == "PreconditionFailed":
		return fmt.Errorf("%w: %w", ErrChanged, err)
	case r.StatusCode == http.StatusInsufficientStorage || strings.Contains(r.Code, "QuotaExceeded") || strings.Contains(r.Code, "StorageFull"):
		return fmt.Errorf("%w: %w", ErrFull, err)
	}
	return err
}

// Presign returns a link to an object's bytes for whoever has it, until it expires: it
// cannot be revoked. The headers are those that the server answers with, by their names
// in a request, such as response-content-type.
func (b *Bucket) Presign(ctx context.Context, name string, valid time.Duration, headers url.Values) (string, error) {
	u, err := b.core.PresignedGetObject(ctx, b.name, b.prefix+name, valid, headers)
	if err != nil {
		return "", translate(err)
	}
	return u.String(), nil
}
