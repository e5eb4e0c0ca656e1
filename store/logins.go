package store

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"vitrine/library"
)

// The roles that hold the service's rights. A login of the service is one of them
// or a member of one, and nothing else.
const (
	appRole     = "vitrine_app"     // requests: one tenant per transaction
	indexerRole = "vitrine_indexer" // relay, indexer, reconciler: reads every tenant, writes bookkeeping only
)

// Config is how to reach the database. Requests never use the owner's login.
type Config struct {
	// URL is the libpq URL of the role that owns the schema, or that may make it.
	// Migrate needs it. Open does not when both further URLs are set.
	URL string
	// AppURL and IndexerURL are the libpq URLs of the roles that the service signs
	// in as: members of vitrine_app and vitrine_indexer that own nothing and have no
	// other role. Empty: those roles themselves, on the server of URL, with passwords
	// that follow from the owner's.
	AppURL, IndexerURL string
	MaxConns           int32 // connections of the request pool; 0 means 16
}

// login is one role that the service signs in as.
type login struct {
	role    string // whose rights it has
	setting string // that names it, for messages
	own     bool   // it has a URL of its own
	cfg     *pgxpool.Config
}

func (c Config) logins() (app, indexer login, err error) {
	if app, err = c.login(appRole, c.AppURL, "VITRINE_POSTGRES_APP_URL"); err != nil {
		return app, indexer, err
	}
	indexer, err = c.login(indexerRole, c.IndexerURL, "VITRINE_POSTGRES_INDEXER_URL")
	return app, indexer, err
}

func (c Config) login(role, url, setting string) (login, error) {
	l := login{role: role, setting: setting, own: url != ""}
	if !l.own {
		url, setting = c.URL, "VITRINE_POSTGRES_URL"
	}
	if url == "" {
		return l, library.Invalid(library.FieldError{Field: "postgres_url", Code: "required",
			Message: "Either VITRINE_POSTGRES_URL is required, or both VITRINE_POSTGRES_APP_URL and VITRINE_POSTGRES_INDEXER_URL."})
	}
	cfg, err := pgxpool.ParseConfig(url)
	if err != nil {
		return l, badURL(setting)
	}
	if !l.own {
		cfg.ConnConfig.User = role
		cfg.ConnConfig.Password = derivedPassword(cfg.ConnConfig.Password, role)
	}
	cfg.ConnConfig.RuntimeParams["application_name"] = role
	cfg.MaxConnIdleTime = 5 * time.Minute
	l.cfg = cfg
	return l, nil
}

// badURL does not repeat the parser's error, which may quote a password.
func badURL(setting string) error {
	return library.Invalid(library.FieldError{Field: "postgres_url", Code: "format",
		Message: setting + " cannot be read as a libpq URL: postgres://user:password@host:5432/database?sslmode=verify-full.",
		Hint:    "Percent-encode characters of the password such as @, :, / and %."})
}

// derivedPassword is the password of a service role whose login was not configured:
// every process that knows the owner's password knows it, and nobody else.
func derivedPassword(owner, role string) string {
	if owner == "" {
		return ""
	}
	mac := hmac.New(sha256.New, []byte(owner))
	mac.Write([]byte("vitrine login " + role))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// checkLogin refuses a login that could step beyond its role's rights: then row
// level security would protect nobody.
func (l login) checkLogin(ctx context.Context, conn *pgx.Conn) error {
	var name string
	var strong, further, has bool
	err := conn.QueryRow(ctx, `SELECT me.rolname, me.rolsuper OR me.rolbypassrls OR me.rolcreaterole OR me.rolreplication,
			EXISTS (SELECT FROM pg_roles r WHERE r.rolname NOT IN (me.rolname, $1) AND pg_has_role(me.oid, r.oid, 'MEMBER')),
			pg_has_role(me.oid, $1, 'USAGE')
		FROM pg_roles me WHERE me.rolname = session_user`, l.role).Scan(&name, &strong, &further, &has)
	switch {
	case err != nil:
		return err
	case strong:
		return l.refuse(name, "it is a superuser or may bypass row level security, create roles or replicate")
	case further:
		return l.refuse(name, "it is a member of further roles, or owns the database")
	case !has:
		return l.refuse(name, "it does not have the rights of "+l.role)
	}
	var owns bool
	err = conn.QueryRow(ctx, `SELECT EXISTS (SELECT FROM pg_class c JOIN pg_roles r ON r.oid = c.relowner
		WHERE r.rolname IN (session_user, $1) AND c.relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = 'tenant_key'::regclass))`, l.role).Scan(&owns)
	if err == nil && owns {
		return l.refuse(name, "it owns tables of the library")
	}
	return err
}

// errUnsafeLogin marks a login that was refused.
var errUnsafeLogin = errors.New("the service does not run with this login")

func (l login) refuse(name, why string) error {
	return &library.Error{Kind: library.KindInternal, Code: library.CodeStoreLogin, Cause: errUnsafeLogin,
		Detail: fmt.Sprintf("The database role %q cannot serve as %s: %s. Name a role in %s that is a member of %s and of nothing else; docs/operate/operating.md shows how to make it.",
			name, l.role, why, l.setting, l.role)}
}
