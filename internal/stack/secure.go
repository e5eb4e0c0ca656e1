package stack

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	segmentio "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/sasl/plain"
)

// Secure makes PostgreSQL and Kafka take connections by TLS and with a password only. Kafka wants a client certificate
// as well. OpenSearch stays as it is: its security plugin is not among the downloads.
type Secure struct {
	// CA, Cert and Key are texts in PEM format: the authority that server and clients trust, the servers' certificate for
	// 127.0.0.1, which Kafka also shows as a client, and its private key in PKCS #8.
	CA, Cert, Key string
	// User and Password sign in to Kafka by PLAIN, SCRAM-SHA-256 and SCRAM-SHA-512; the password is PostgreSQL's as well.
	User, Password string
}

// write puts the certificates into a server's directory. The key is for the server alone: PostgreSQL insists.
func (s *Secure) write(id identity, dir string) error {
	for name, content := range map[string]string{"ca.pem": s.CA, "server.pem": s.Cert, "server.key": s.Key, "both.pem": s.Key + s.Cert, "password": s.Password + "\n"} {
		path := filepath.Join(dir, name)
		if err := errors.Join(id.writeFile(path, content), os.Chmod(path, 0o600)); err != nil {
			return err
		}
	}
	return os.Chmod(filepath.Join(dir, "ca.pem"), 0o644)
}

// pgHBA lets people in by TLS and with a password only.
const pgHBA = "hostssl all all 127.0.0.1/32 scram-sha-256\n"

func (p *postgres) secureSettings() []setting {
	if p.in.cfg.Secure == nil {
		return nil
	}
	dir := p.in.serverDir(Postgres)
	return []setting{{"ssl", "on"}, {"ssl_cert_file", filepath.Join(dir, "server.pem")}, {"ssl_key_file", filepath.Join(dir, "server.key")}}
}

// securePostgresURL adds the password to the URL and the authority to trust.
func (in *instance) securePostgresURL(u *url.URL) {
	u.User = url.UserPassword("postgres", in.cfg.Secure.Password)
	u.RawQuery = url.Values{"sslmode": {"verify-full"}, "sslrootcert": {filepath.Join(homeOf(in.cfg), Postgres, "ca.pem")}}.Encode()
}

// secureSettings turns the plain listener into one with TLS and SASL.
func (k *kafka) secureSettings() []setting {
	s := k.in.cfg.Secure
	if s == nil {
		return nil
	}
	login := `org.apache.kafka.common.security.plain.PlainLoginModule required username="` + s.User + `" password="` + s.Password + `" user_` + s.User + `="` + s.Password + `";`
	const scram = "org.apache.kafka.common.security.scram.ScramLoginModule required;"
	return []setting{
		{"listener.security.protocol.map", "SASL_SSL:SASL_SSL,CONTROLLER:PLAINTEXT"},
		{"inter.broker.listener.name", "SASL_SSL"},
		{"sasl.mechanism.inter.broker.protocol", "PLAIN"},
		{"sasl.enabled.mechanisms", "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512"},
		{"listener.name.sasl_ssl.plain.sasl.jaas.config", login},
		{"listener.name.sasl_ssl.scram-sha-256.sasl.jaas.config", scram},
		{"listener.name.sasl_ssl.scram-sha-512.sasl.jaas.config", scram},
		{"listener.name.sasl_ssl.ssl.client.auth", "required"}, // without the listener's name it holds for SSL alone
		{"ssl.keystore.type", "PEM"},
		{"ssl.keystore.location", k.file("both.pem")},
		{"ssl.truststore.type", "PEM"},
		{"ssl.truststore.location", k.file("ca.pem")},
	}
}

// scramArgs add the user to the storage when it is formatted.
func (k *kafka) scramArgs() (args []string) {
	if s := k.in.cfg.Secure; s != nil {
		for _, mechanism := range []string{"SCRAM-SHA-256", "SCRAM-SHA-512"} {
			args = append(args, "--add-scram", mechanism+"=[name="+s.User+",password="+s.Password+"]")
		}
	}
	return args
}

// dial connects to the broker as its clients do.
func (k *kafka) dial(ctx context.Context) (*segmentio.Conn, error) {
	d := &segmentio.Dialer{}
	if s := k.in.cfg.Secure; s != nil {
		pair, err := tls.X509KeyPair([]byte(s.Cert), []byte(s.Key))
		if err != nil {
			return nil, err
		}
		trusted := x509.NewCertPool()
		trusted.AppendCertsFromPEM([]byte(s.CA))
		d.TLS = &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: trusted, Certificates: []tls.Certificate{pair}}
		d.SASLMechanism = plain.Mechanism{Username: s.User, Password: s.Password}
	}
	return d.DialContext(ctx, "tcp", k.in.address(k.port()))
}

// listener is the name of the broker's listener.
func (k *kafka) listener() string {
	if k.in.cfg.Secure != nil {
		return "SASL_SSL"
	}
	return "PLAINTEXT"
}

// authArgs are those of initdb that say who gets in.
func (p *postgres) authArgs() []string {
	if p.in.cfg.Secure == nil {
		return []string{"--auth=trust"}
	}
	return []string{"--auth=scram-sha-256", "--pwfile=" + filepath.Join(p.in.serverDir(Postgres), "password")}
}

// secure writes who gets in into a fresh data directory.
func (p *postgres) secure(data string) error {
	if p.in.cfg.Secure == nil {
		return nil
	}
	path := filepath.Join(data, "pg_hba.conf")
	return errors.Join(p.in.id.writeFile(path, pgHBA), os.Chmod(path, 0o600))
}

// writeSecrets puts the certificates where a server finds them.
func (in *instance) writeSecrets(name string) error {
	if in.cfg.Secure == nil {
		return nil
	}
	if strings.ContainsAny(in.cfg.Secure.User+in.cfg.Secure.Password, "\"\\ ,[]=;\n") {
		return errors.New("user and password of a secure stack consist of letters and digits")
	}
	return in.cfg.Secure.write(in.id, in.serverDir(name))
}
