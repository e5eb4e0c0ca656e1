package store

import (
	"context"
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"golang.org/x/text/secure/precis"

	"vitrine/library"
)

// ensureLogins makes the roles that the service signs in as, as far as the owner
// may, and lets them sign in. A password that does not fit is replaced only to
// repair: another deployment on the same server may use the same role.
func ensureLogins(ctx context.Context, cfg Config, repair bool) error {
	app, indexer, err := cfg.logins()
	if err != nil {
		return err
	}
	conn, err := connectOwner(ctx, cfg.URL)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	for _, l := range []login{app, indexer} {
		// Roles belong to the whole server: others may change the same one right now.
		for try := 0; ; try++ {
			err := l.ensure(ctx, conn, repair)
			if err == nil {
				break
			}
			if !isConcurrentRoleChange(err) || try == 5 {
				return err
			}
			time.Sleep(100 * time.Millisecond)
		}
	}
	return nil
}

func connectOwner(ctx context.Context, url string) (*pgx.Conn, error) {
	cfg, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, badURL("VITRINE_POSTGRES_URL")
	}
	conn, err := pgx.ConnectConfig(ctx, cfg)
	return conn, unavailable(err)
}

// ensure brings one login to where the service can use it.
func (l login) ensure(ctx context.Context, owner *pgx.Conn, repair bool) error {
	name := l.cfg.ConnConfig.User
	var may, member bool
	err := owner.QueryRow(ctx, `SELECT rolcanlogin, pg_has_role(oid, $2, 'MEMBER') FROM pg_roles WHERE rolname = $1`, name, l.role).Scan(&may, &member)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		err = l.alter(ctx, owner, "CREATE ROLE")
	case err != nil:
		return err
	case !may:
		err = l.alter(ctx, owner, "ALTER ROLE")
	default:
		err = l.tryLogin(ctx)
		if isWrongPassword(err) && repair {
			err = l.alter(ctx, owner, "ALTER ROLE")
		} else if isWrongPassword(err) {
			return l.wrongPassword()
		}
	}
	if err == nil && !member && name != l.role {
		_, err = owner.Exec(ctx, fmt.Sprintf(`GRANT %s TO %s`, l.role, pgx.Identifier{name}.Sanitize()))
	}
	return l.needsAdministrator(err)
}

// alter makes a role, or changes one, so that it can sign in with its password.
// The server gets a verifier and never the password, which its log could keep.
func (l login) alter(ctx context.Context, owner *pgx.Conn, verb string) error {
	sql := verb + " " + pgx.Identifier{l.cfg.ConnConfig.User}.Sanitize() + " LOGIN"
	if password := l.cfg.ConnConfig.Password; password != "" {
		verifier, err := scramVerifier(password)
		if err != nil {
			return err
		}
		sql += " PASSWORD '" + verifier + "'"
	}
	_, err := owner.Exec(ctx, sql)
	return err
}

// tryLogin signs in once.
func (l login) tryLogin(ctx context.Context) error {
	conn, err := pgx.ConnectConfig(ctx, l.cfg.ConnConfig.Copy())
	if err != nil {
		return err
	}
	return conn.Close(ctx)
}

func isWrongPassword(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && (pg.Code == "28P01" || pg.Code == "28000")
}

// isConcurrentRoleChange reports whether another session changed the role at the
// same time, which the server has no code of its own for.
func isConcurrentRoleChange(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && (pg.Code == "XX000" || pg.Code == "42710" || pg.Code == "23505")
}

func (l login) wrongPassword() error {
	detail := fmt.Sprintf("The database server does not let the role %q sign in: it does not exist, or its password is another one.", l.cfg.ConnConfig.User)
	if l.own {
		detail += " Correct " + l.setting + ", or run vitrine migrate with VITRINE_POSTGRES_URL, which gives the role this password."
	} else {
		detail += " Run vitrine migrate, which sets the one that follows from VITRINE_POSTGRES_URL. Where another deployment on this server uses the role, " +
			"give this one roles of its own in VITRINE_POSTGRES_APP_URL and VITRINE_POSTGRES_INDEXER_URL."
	}
	return library.NewError(library.KindInternal, library.CodeStoreLogin, "%s", detail)
}

// needsAdministrator reports what to run where the owner may not change roles.
func (l login) needsAdministrator(err error) error {
	var pg *pgconn.PgError
	if !errors.As(err, &pg) || pg.Code != "42501" {
		return err
	}
	name := pgx.Identifier{l.cfg.ConnConfig.User}.Sanitize()
	sql := "CREATE ROLE " + name + " LOGIN PASSWORD '…'"
	if l.own {
		sql += "; GRANT " + l.role + " TO " + name
	}
	return &library.Error{Kind: library.KindInternal, Code: library.CodeStoreLogin, Cause: err,
		Detail: "The role of VITRINE_POSTGRES_URL may not make or change roles. Let an administrator run: " + sql + "; and name the login in " + l.setting + "."}
}

const scramIterations = 4096 // PostgreSQL's own

// scramVerifier returns what PostgreSQL keeps of a password (RFC 5803), in the form
// that ALTER ROLE takes.
func scramVerifier(password string) (string, error) {
	if normal, err := precis.OpaqueString.String(password); err == nil {
		password = normal // as the client will when it signs in; else both take the bytes
	}
	salt := make([]byte, 16)
	rand.Read(salt) // never fails, it ends the process instead
	salted, err := pbkdf2.Key(sha256.New, password, salt, scramIterations, sha256.Size)
	if err != nil {
		return "", err
	}
	sign := func(what string) []byte {
		mac := hmac.New(sha256.New, salted)
		mac.Write([]byte(what))
		return mac.Sum(nil)
	}
	stored := sha256.Sum256(sign("Client Key"))
	b64 := base64.StdEncoding.EncodeToString
	return fmt.Sprintf("SCRAM-SHA-256$%d:%s$%s:%s", scramIterations, b64(salt), b64(stored[:]), b64(sign("Server Key"))), nil
}
