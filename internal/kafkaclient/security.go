package kafkaclient

import (
	"crypto/tls"
	"fmt"
	"strings"

	"github.com/segmentio/kafka-go/sasl"
	"github.com/segmentio/kafka-go/sasl/plain"
	"github.com/segmentio/kafka-go/sasl/scram"

	"vitrine/library"
)

// Security is how Kafka's brokers are connected to. The zero value is a plain
// connection without a login.
type Security struct {
	TLS       *tls.Config // nil: no TLS
	Mechanism string      // of SASL: plain, scram-sha-256 or scram-sha-512; "" for no login
	User      string
	Password  string
}

// Check fails where the login cannot be used whatever Kafka says.
func (s Security) Check() error {
	_, err := s.login()
	return err
}

// login returns the login of SASL, or nil without one.
func (s Security) login() (sasl.Mechanism, error) {
	if s.Mechanism == "" && s.User+s.Password == "" {
		return nil, nil
	}
	if s.Mechanism == "" {
		return nil, badSASL("a user or password is set without a mechanism")
	}
	if s.User == "" || s.Password == "" {
		return nil, badSASL("it needs a user and a password")
	}
	switch strings.ToLower(s.Mechanism) {
	case "plain":
		return plain.Mechanism{Username: s.User, Password: s.Password}, nil
	case "scram-sha-256":
		return scram.Mechanism(scram.SHA256, s.User, s.Password)
	case "scram-sha-512":
		return scram.Mechanism(scram.SHA512, s.User, s.Password)
	}
	return nil, badSASL(fmt.Sprintf("%q is not a mechanism that is known", s.Mechanism))
}

func badSASL(why string) error {
	return library.Invalid(library.FieldError{Field: "kafka_sasl", Code: "sasl", Message: "The login at Kafka cannot be used: " + why + ".",
		Hint: "Set VITRINE_KAFKA_SASL to plain, scram-sha-256 or scram-sha-512, and VITRINE_KAFKA_USER and VITRINE_KAFKA_PASSWORD."})
}
