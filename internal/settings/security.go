package settings

import (
	"fmt"

	"vitrine/internal/kafkaclient"
	"vitrine/internal/opensearch"
	"vitrine/internal/tlsconfig"
)

// Security are the flags of TLS and of logins at Kafka and OpenSearch. Those of
// PostgreSQL are in its URLs.
type Security struct {
	KafkaTLS      bool   `env:"VITRINE_KAFKA_TLS" name:"kafka-tls" help:"Connect to Kafka by TLS. A CA file or a client certificate implies it."`
	KafkaCAFile   string `env:"VITRINE_KAFKA_CA_FILE" name:"kafka-ca-file" help:"PEM file of the certificate authorities to trust for Kafka. Default: the system's."`
	KafkaCertFile string `env:"VITRINE_KAFKA_CERT_FILE" name:"kafka-cert-file" help:"PEM file of the client certificate for Kafka. It is read again for every connection."`
	KafkaKeyFile  string `env:"VITRINE_KAFKA_KEY_FILE" name:"kafka-key-file" help:"PEM file of the private key of that certificate."`
	KafkaSASL     string `env:"VITRINE_KAFKA_SASL" name:"kafka-sasl" enum:",plain,scram-sha-256,scram-sha-512" default:"" help:"SASL mechanism to sign in to Kafka with: plain, scram-sha-256 or scram-sha-512."`
	KafkaUser     string `env:"VITRINE_KAFKA_USER" help:"User of SASL."`
	KafkaPassword string `env:"VITRINE_KAFKA_PASSWORD" help:"Password of SASL. Set it in the environment rather than on the command line."`

	OpensearchCAFile   string `env:"VITRINE_OPENSEARCH_CA_FILE" name:"opensearch-ca-file" help:"PEM file of the certificate authorities to trust for OpenSearch nodes with https. Default: the system's."`
	OpensearchCertFile string `env:"VITRINE_OPENSEARCH_CERT_FILE" name:"opensearch-cert-file" help:"PEM file of the client certificate for OpenSearch. It is read again for every connection."`
	OpensearchKeyFile  string `env:"VITRINE_OPENSEARCH_KEY_FILE" name:"opensearch-key-file" help:"PEM file of the private key of that certificate."`
	OpensearchUser     string `env:"VITRINE_OPENSEARCH_USER" name:"opensearch-user" help:"User to sign in to OpenSearch with (HTTP basic authentication)."`
	OpensearchPassword string `env:"VITRINE_OPENSEARCH_PASSWORD" name:"opensearch-password" help:"Password of that user. Set it in the environment rather than on the command line."`
}

// read returns the flags as the packages take them that connect.
func (s Security) read() (kafka kafkaclient.Security, search opensearch.Security, err error) {
	kafka = kafkaclient.Security{Mechanism: s.KafkaSASL, User: s.KafkaUser, Password: s.KafkaPassword}
	files := tlsconfig.Files{CA: s.KafkaCAFile, Cert: s.KafkaCertFile, Key: s.KafkaKeyFile}
	if s.KafkaTLS || files != (tlsconfig.Files{}) {
		if kafka.TLS, err = files.Config(); err != nil {
			return kafka, search, fmt.Errorf("the settings VITRINE_KAFKA_…_FILE: %w", err)
		}
	}
	search = opensearch.Security{User: s.OpensearchUser, Password: s.OpensearchPassword}
	if search.TLS, err = (tlsconfig.Files{CA: s.OpensearchCAFile, Cert: s.OpensearchCertFile, Key: s.OpensearchKeyFile}).Config(); err != nil {
		err = fmt.Errorf("the settings VITRINE_OPENSEARCH_…_FILE: %w", err)
	}
	return kafka, search, err
}
