package settings

import (
	"fmt"

	"vitrine/internal/s3"
	"vitrine/internal/tlsconfig"
)

// Buckets are the flags of the server of S3 that keeps files or backups.
type Buckets struct {
	S3Endpoint    string `env:"VITRINE_S3_ENDPOINT" name:"s3-endpoint" help:"URL of the server of s3:// buckets, such as https://s3.example.com:9000. Default: Amazon S3."`
	S3Region      string `env:"VITRINE_S3_REGION" name:"s3-region" help:"Region of the buckets. Default: what the server answers."`
	S3AccessKey   string `env:"VITRINE_S3_ACCESS_KEY" name:"s3-access-key" help:"Access key for S3. Default: AWS_ACCESS_KEY_ID and so on, the shared credentials file, the role of the machine."`
	S3SecretKey   string `env:"VITRINE_S3_SECRET_KEY" name:"s3-secret-key" help:"Secret key of that access key. Set it in the environment rather than on the command line."`
	S3CAFile      string `env:"VITRINE_S3_CA_FILE" name:"s3-ca-file" help:"PEM file of the certificate authorities to trust for S3. Default: the system's."`
	S3VirtualHost bool   `env:"VITRINE_S3_VIRTUAL_HOST" name:"s3-virtual-host" help:"The server takes the bucket in the host name rather than in the path. Amazon S3 is asked so anyway."`
}

// Access returns the flags as the packages take them that connect.
func (b Buckets) Access() (s3.Access, error) {
	a := s3.Access{Endpoint: b.S3Endpoint, Region: b.S3Region, AccessKey: b.S3AccessKey, SecretKey: b.S3SecretKey, VirtualHost: b.S3VirtualHost}
	if b.S3CAFile != "" {
		tls, err := tlsconfig.Files{CA: b.S3CAFile}.Config()
		if err != nil {
			return a, fmt.Errorf("VITRINE_S3_CA_FILE: %w", err)
		}
		a.TLS = tls
	}
	return a, nil
}
