package store_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"vitrine/internal/testenv"
	"vitrine/library"
	"vitrine/store"
	"vitrine/store/storetest"
)

// escapes are statements by which SQL that was smuggled into a request could try to
// leave its tenant. %[1]s is the other tenant, %[2]s the owner's role.
var escapes = []string{
	`SET ROLE NONE`,
	`RESET ROLE`,
	`RESET ALL`,
	`DISCARD ALL`,
	`SET ROLE %[2]s`,
	`SET ROLE vitrine_indexer`,
	`SET ROLE pg_read_all_data`,
	`SET ROLE pg_database_owner`,
	`SET SESSION AUTHORIZATION DEFAULT`,
	`RESET SESSION AUTHORIZATION`,
	`SET SESSION AUTHORIZATION %[2]s`,
	`SELECT set_config('role', 'none', false)`,
	`SELECT set_config('role', '%[2]s', false)`,
	`SELECT set_config('session_authorization', '%[2]s', false)`,
	`SELECT set_config('app.tenant', '%[1]s', false)`,
	`SET app.tenant = '%[1]s'`,
	`SELECT set_config('app.tenant', '%[1]s:%[3]s', false)`,
	`SELECT set_config('app.tenant', '%[1]s:' || encode(sha256('%[1]s'), 'hex'), false)`,
	`SELECT set_config('app.tenant', '%[1]s:' || encode(sha256((SELECT outer_key FROM tenant_key) || sha256((SELECT inner_key FROM tenant_key) || '%[1]s'::bytea)), 'hex'), false)`,
	`SET row_security = off`,
	`SET session_replication_role = replica`,
	`SET search_path = pg_temp, public`,
	`CREATE TEMP TABLE tenant_key AS SELECT true AS only_row, '\x%[4]s'::bytea AS key, '\x%[5]s'::bytea AS inner_key, '\x%[6]s'::bytea AS outer_key;
		SET search_path = pg_temp, public; SELECT set_config('app.tenant', '%[1]s:%[7]s', false)`,
	`CREATE FUNCTION pg_temp.current_tenant() RETURNS uuid LANGUAGE sql AS $f$ SELECT '%[1]s'::uuid $f$; SET search_path = pg_temp, public`,
	`CREATE OR REPLACE FUNCTION current_tenant() RETURNS uuid LANGUAGE sql AS $f$ SELECT '%[1]s'::uuid $f$`,
	`ALTER FUNCTION current_tenant() SECURITY INVOKER`,
	`UPDATE tenant_key SET inner_key = inner_key`,
	`ALTER TABLE assets DISABLE ROW LEVEL SECURITY`,
	`DROP POLICY tenant ON assets`,
	`CREATE POLICY mine ON assets USING (true)`,
	`ALTER ROLE vitrine_app BYPASSRLS`,
	`ALTER ROLE vitrine_app SUPERUSER`,
	`GRANT vitrine_indexer TO vitrine_app`,
	`GRANT %[2]s TO vitrine_app`,
	`CREATE ROLE beyond BYPASSRLS ROLE vitrine_app`,
	`REASSIGN OWNED BY %[2]s TO vitrine_app`,
	`CREATE EXTENSION dblink`,
	`CREATE EXTENSION postgres_fdw`,
	`COPY assets TO PROGRAM 'cat'`,
	`SELECT pg_read_file('PG_VERSION')`,
	`CREATE FUNCTION pg_temp.leak(t text) RETURNS boolean LANGUAGE plpgsql COST 0.0000001 AS $f$ BEGIN RAISE EXCEPTION 'leaked %%', t; END $f$;
		SELECT count(*) FROM assets WHERE pg_temp.leak(filename)`,
	`DO $d$ BEGIN EXECUTE 'SET ROLE NONE'; END $d$`,
	`BEGIN; SET LOCAL ROLE NONE`,
}

// TestLogins_NoStatementOfARequestsConnectionReachesAnotherTenant runs statements
// that try to become somebody else, and looks afterwards at what that connection sees.
func TestLogins_NoStatementOfARequestsConnectionReachesAnotherTenant(t *testing.T) {
	t.Parallel()
	s := open(t)
	add(t, s, s.a, file("mine"))
	add(t, s, s.b, file("theirs"))
	forged := strings.Repeat("00", 64) // the keys of a table of the attacker's own
	inner := sha256.Sum256(append(make([]byte, 64), s.b.Tenant...))
	proof := sha256.Sum256(append(make([]byte, 64), inner[:]...))
	owner := "postgres"
	for _, try := range escapes {
		statement := fmt.Sprintf(try+"%[8]s", s.b.Tenant, owner, strings.Repeat("0", 64), forged[:64], forged, forged, hex.EncodeToString(proof[:]), "")
		t.Run(strings.SplitN(try, "\n", 2)[0], func(t *testing.T) {
			conn, err := pgx.ConnectConfig(t.Context(), s.Requests().Config().ConnConfig.Copy())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close(context.Background())
			_, tried := conn.Exec(t.Context(), statement, pgx.QueryExecModeSimpleProtocol)
			if tried != nil && strings.Contains(tried.Error(), "theirs") {
				t.Errorf("the statement's error shows another tenant's row: %v", tried)
			}
			if conn.PgConn().TxStatus() == 'E' {
				if _, err := conn.Exec(t.Context(), `ROLLBACK`); err != nil {
					t.Fatal(err)
				}
			}
			seesNothingOf(t, conn, s.b.Tenant)
		})
	}
}

// seesNothingOf fails when a connection reads or writes anything of a tenant.
func seesNothingOf(t *testing.T, conn *pgx.Conn, tenant library.TenantID) {
	t.Helper()
	for _, table := range []string{"public.assets", "public.tenants", "public.audit", "public.outbox", "public.lineage"} {
		var n int
		err := conn.QueryRow(t.Context(), `SELECT count(*) FROM `+table+` WHERE tenant_id = $1`, string(tenant)).Scan(&n)
		var pg *pgconn.PgError
		if err != nil && !errors.As(err, &pg) {
			t.Fatal(err)
		}
		if n != 0 {
			t.Errorf("it sees %d rows of another tenant in %s", n, table)
		}
	}
	tag, err := conn.Exec(t.Context(), `UPDATE public.assets SET title = 'taken' WHERE tenant_id = $1`, string(tenant))
	if err == nil && tag.RowsAffected() != 0 {
		t.Errorf("it changed %d rows of another tenant", tag.RowsAffected())
	}
}

// TestLogins_TheTryWouldSeeAnotherTenantInTheOwnersConnection proves that the check
// above can fail.
func TestLogins_TheTryWouldSeeAnotherTenantInTheOwnersConnection(t *testing.T) {
	t.Parallel()
	s := open(t)
	add(t, s, s.b, file("theirs"))
	var n int
	if err := storetest.Owner(t, s.url).QueryRow(t.Context(), `SELECT count(*) FROM public.assets WHERE tenant_id = $1`, string(s.b.Tenant)).Scan(&n); err != nil || n != 1 {
		t.Fatalf("the owner sees %d rows (%v)", n, err)
	}
}

func TestLogins_ALoginThatCouldStepBeyondItsRightsIsRefused(t *testing.T) {
	t.Parallel()
	database := storetest.Database(t)
	role := newRole(t, database)
	at := withUser(t, database, role)
	for name, c := range map[string]struct {
		grant string
		cfg   store.Config
		wants string
	}{
		"the owner":               {"SELECT 1", store.Config{URL: database, AppURL: database}, "superuser"},
		"the owner as indexer":    {"SELECT 1", store.Config{URL: database, IndexerURL: database}, "superuser"},
		"no member":               {"SELECT 1", store.Config{URL: database, AppURL: at}, "rights of vitrine_app"},
		"a member of both":        {"GRANT vitrine_app, vitrine_indexer TO " + role, store.Config{URL: database, AppURL: at}, "further roles"},
		"a reader of everything":  {"GRANT vitrine_app, pg_read_all_data TO " + role, store.Config{URL: database, AppURL: at}, "further roles"},
		"one that makes roles":    {"GRANT vitrine_app TO " + role + "; ALTER ROLE " + role + " CREATEROLE", store.Config{URL: database, AppURL: at}, "create roles"},
		"the owner of a table":    {"GRANT vitrine_app TO " + role + "; ALTER TABLE models OWNER TO " + role, store.Config{URL: database, AppURL: at}, "owns tables"},
		"requests as the indexer": {"SELECT 1", store.Config{URL: database, AppURL: withUser(t, database, "vitrine_indexer")}, "rights of vitrine_app"},
	} {
		t.Run(name, func(t *testing.T) {
			owner := storetest.Owner(t, database)
			defer func() {
				_, err := owner.Exec(context.Background(), "REVOKE vitrine_app, vitrine_indexer, pg_read_all_data FROM "+role+"; ALTER ROLE "+role+" NOCREATEROLE; ALTER TABLE models OWNER TO postgres")
				if err != nil {
					t.Error(err)
				}
			}()
			if _, err := owner.Exec(t.Context(), c.grant); err != nil {
				t.Fatal(err)
			}
			s, err := store.Open(t.Context(), c.cfg)
			if err == nil {
				s.Close()
			}
			if f := library.AsError(err); err == nil || f.Code != library.CodeStoreLogin || !strings.Contains(f.Detail, c.wants) {
				t.Errorf("opening gave %v", err)
			}
		})
	}
}

func TestLogins_RolesOfADeploymentsOwnAreMadeByMigrateAndServe(t *testing.T) {
	t.Parallel()
	database := testenv.Postgres(t)
	app, indexer := newRoleName(t, database), newRoleName(t, database)
	cfg := store.Config{URL: database, AppURL: withUser(t, database, app), IndexerURL: withUser(t, database, indexer)}
	if _, err := store.Migrate(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	cfg.URL = "" // the service needs no owner
	s, err := store.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if behind, err := store.SchemaBehind(t.Context(), cfg); err != nil || behind != 0 {
		t.Errorf("the schema lacks %d migrations (%v)", behind, err)
	}
	tenant, err := s.Tenants.EnsureDefault(t.Context(), system)
	if err != nil {
		t.Fatal(err)
	}
	actor := library.Actor{Kind: library.ActorKey, ID: "k", Tenant: tenant.ID, Permissions: library.Permissions}
	if got, err := s.Assets.Add(t.Context(), actor, file("fox")); err != nil || !got.Created {
		t.Fatalf("storing gave %+v, %v", got, err)
	}
	var who string
	if err := s.Requests().QueryRow(t.Context(), `SELECT session_user`).Scan(&who); err != nil || who != app {
		t.Errorf("requests run as %q (%v)", who, err)
	}
}

// TestLogins_AnOwnerThatIsNoAdministratorMigratesWhereTheRolesExist is the case of a
// managed server, whose administrator makes the roles.
func TestLogins_AnOwnerThatIsNoAdministratorMigratesWhereTheRolesExist(t *testing.T) {
	t.Parallel()
	storetest.Database(t) // the roles exist
	database := testenv.Postgres(t)
	role := newRole(t, database)
	name := strings.TrimPrefix(parse(t, database).Path, "/")
	if _, err := storetest.Owner(t, database).Exec(t.Context(), "ALTER DATABASE "+name+" OWNER TO "+role); err != nil {
		t.Fatal(err)
	}
	cfg := store.Config{URL: withUser(t, database, role)}
	if _, err := store.Migrate(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	b := bench{Store: s, url: database}
	tenant, err := s.Tenants.Create(t.Context(), system, "a")
	if err != nil {
		t.Fatal(err)
	}
	b.a = library.Actor{Kind: library.ActorKey, ID: "k", Tenant: tenant.ID, Permissions: library.Permissions}
	add(t, b, b.a, file("fox"))
	key := library.Key{ID: "key_1", Tenant: tenant.ID, Name: "k", Hint: "abcd", Permissions: []library.Permission{library.PermRead}}
	if err := s.Keys.Create(t.Context(), system, &key, [32]byte{1}); err != nil {
		t.Fatal(err)
	}
	if _, found, err := s.Keys.Find(t.Context(), [32]byte{1}); err != nil || !found {
		t.Errorf("the key is found: %v (%v)", found, err)
	}
	missing := newRoleName(t, database)
	_, err = store.Migrate(t.Context(), store.Config{URL: cfg.URL, AppURL: withUser(t, database, missing)})
	if f := library.AsError(err); f.Code != library.CodeStoreLogin || !strings.Contains(f.Detail, `CREATE ROLE "`+missing+`" LOGIN PASSWORD '…'; GRANT vitrine_app TO "`+missing+`"`) {
		t.Errorf("a role that it may not make gave %v", err)
	}
}

// TestLogins_AnotherDatabaseInTheSamePlaceIsNoticed is what a restore does below a
// running service.
func TestLogins_AnotherDatabaseInTheSamePlaceIsNoticed(t *testing.T) {
	t.Parallel()
	s := open(t)
	h := add(t, s, s.a, file("fox")).Asset.Hash
	if _, err := storetest.Owner(t, s.url).Exec(t.Context(), `UPDATE tenant_key SET inner_key = sha512(inner_key)`); err != nil {
		t.Fatal(err)
	}
	s.Requests().Reset()
	if _, err := s.Assets.Get(t.Context(), s.a, h); err == nil {
		t.Fatal("a claim under another key was taken")
	}
	key := sha256.Sum256([]byte("another"))
	pad := func(b byte) (out [64]byte) {
		copy(out[:], key[:])
		for i := range out {
			out[i] ^= b
		}
		return out
	}
	inner, outer := pad(0x36), pad(0x5c)
	if _, err := storetest.Owner(t, s.url).Exec(t.Context(), `UPDATE tenant_key SET key = $1, inner_key = $2, outer_key = $3`, key[:], inner[:], outer[:]); err != nil {
		t.Fatal(err)
	}
	s.Requests().Reset()
	if _, err := s.Assets.Get(t.Context(), s.a, h); err != nil {
		t.Errorf("the new key is not used: %v", err)
	}
	mac := hmac.New(sha256.New, key[:])
	mac.Write([]byte(s.a.Tenant))
	if got := s.Claim(s.a.Tenant); got != string(s.a.Tenant)+":"+hex.EncodeToString(mac.Sum(nil)) {
		t.Errorf("the claim is %q", got)
	}
}

var roles atomic.Int64 // made by this process

func parse(t *testing.T, raw string) *url.URL {
	t.Helper()
	u, err := url.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func withUser(t *testing.T, raw, user string) string {
	t.Helper()
	u := parse(t, raw)
	u.User = url.User(user)
	return u.String()
}

// newRoleName names a role after the test's database, and drops it when the test ends.
func newRoleName(t *testing.T, database string) string {
	t.Helper()
	name := fmt.Sprintf("%s_%d", strings.TrimPrefix(parse(t, database).Path, "/"), roles.Add(1))
	server := testenv.Stack(t).PostgresURL
	t.Cleanup(func() {
		conn, err := pgx.Connect(context.Background(), server)
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close(context.Background())
		// Its database goes first, with all that the role owns in it.
		if _, err := conn.Exec(context.Background(), `DROP DATABASE IF EXISTS `+strings.TrimPrefix(parse(t, database).Path, "/")+` WITH (FORCE)`); err != nil {
			t.Error(err)
		}
		if _, err := conn.Exec(context.Background(), `DROP ROLE IF EXISTS `+name); err != nil {
			t.Error(err)
		}
	})
	return name
}

func newRole(t *testing.T, database string) string {
	t.Helper()
	name := newRoleName(t, database)
	if _, err := storetest.Owner(t, database).Exec(t.Context(), `CREATE ROLE `+name+` LOGIN`); err != nil {
		t.Fatal(err)
	}
	return name
}
