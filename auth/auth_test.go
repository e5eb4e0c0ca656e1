package auth_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"vitrine/auth"
	"vitrine/library"
	"vitrine/store"
	"vitrine/store/storetest"
)

var operator = library.Actor{Kind: library.ActorSystem, ID: "test"}

type bench struct {
	*store.Store
	*auth.Authenticator
	url      string
	one, two library.TenantID
}

func open(t testing.TB) bench {
	t.Helper()
	s, url := storetest.Open(t)
	tenant := func(name string) library.TenantID {
		made, err := s.Tenants.Create(t.Context(), operator, name)
		if err != nil {
			t.Fatal(err)
		}
		return made.ID
	}
	return bench{Store: s, Authenticator: auth.New(s.Keys), url: url, one: tenant("one"), two: tenant("two")}
}

func (b bench) key(t testing.TB, change func(*auth.KeyRequest)) (string, library.Key) {
	t.Helper()
	want := auth.KeyRequest{Name: "a key", Tenant: b.one, Permissions: []library.Permission{library.PermWrite}}
	if change != nil {
		change(&want)
	}
	secret, k, err := auth.IssueKey(t.Context(), b.Store.Keys, operator, want)
	if err != nil {
		t.Fatal(err)
	}
	return secret, k
}

// ask authenticates a request with these headers, names and values in turn.
func (b bench) ask(url string, headers ...string) (library.Actor, *library.Error) {
	r := httptest.NewRequest(http.MethodGet, url, nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	actor, err := b.Authenticate(r)
	if err != nil {
		return library.Actor{}, library.AsError(err)
	}
	return actor, nil
}

func TestAuth_CredentialsInEveryForm(t *testing.T) {
	t.Parallel()
	b := open(t)
	key, k := b.key(t, nil)
	both, _ := b.key(t, func(r *auth.KeyRequest) { r.MoreTenants = []library.TenantID{b.two} })
	cases := credentials(b, key, both)
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			actor, f := b.ask(c.url, c.headers...)
			switch {
			case c.code == "" && f != nil:
				t.Fatalf("refused: %v", f)
			case c.code == "":
				if actor.Kind != library.ActorKey || actor.Tenant == "" || !actor.Can(library.PermRead) {
					t.Errorf("%+v", actor)
				}
			case f == nil:
				t.Fatalf("accepted as %+v", actor)
			case f.Code != c.code:
				t.Errorf("code %s, want %s", f.Code, c.code)
			case strings.Contains(f.Error(), key[5:]):
				t.Errorf("the error repeats the key: %v", f)
			}
		})
	}
	actor, _ := b.ask("/", "X-API-Key", key)
	want := library.Actor{Kind: library.ActorKey, ID: k.ID, Name: "a key", Tenant: b.one, Tenants: []library.TenantID{b.one},
		Permissions: []library.Permission{library.PermRead, library.PermWrite}}
	if diff := cmp.Diff(want, actor); diff != "" {
		t.Error(diff)
	}
	if actor, _ := b.ask("/", "X-API-Key", both, "X-Tenant-ID", string(b.two)); actor.Tenant != b.two {
		t.Errorf("X-Tenant-ID is not obeyed: %s", actor.Tenant)
	}
}

// credentialCase is a request with credentials, and the code with which it is refused; none when it is not.
type credentialCase struct {
	url     string
	headers []string
	code    string
}

// credentials are requests with credentials in every form; key is of the first tenant, both is of two.
func credentials(b bench, key, both string) map[string]credentialCase {
	wrongSum := key[:len(key)-1] + string("01"[b2i(key[len(key)-1] == '0')])
	unknown := auth.NewSecret()
	return map[string]credentialCase{
		"a bearer key":                     {"/", []string{"Authorization", "Bearer " + key}, ""},
		"the scheme in any case":           {"/", []string{"Authorization", "bearer  " + key}, ""},
		"the preferred header":             {"/", []string{"X-API-Key", key}, ""},
		"the legacy header":                {"/", []string{"api-key", key}, ""},
		"the same key twice":               {"/", []string{"Authorization", "Bearer " + key, "X-API-Key", key}, ""},
		"two different keys":               {"/", []string{"Authorization", "Bearer " + key, "X-API-Key", both}, library.CodeValidationFailed},
		"two bearers":                      {"/", []string{"Authorization", "Bearer " + key, "Authorization", "Bearer " + both}, library.CodeValidationFailed},
		"no credential":                    {"/", nil, library.CodeUnauthenticated},
		"an empty bearer":                  {"/", []string{"Authorization", "Bearer "}, library.CodeUnauthenticated},
		"basic":                            {"/", []string{"Authorization", "Basic " + key}, library.CodeUnauthenticated},
		"a session token":                  {"/", []string{"Authorization", "Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln"}, library.CodeUnauthenticated},
		"a cookie":                         {"/", []string{"Cookie", "session=" + key}, library.CodeUnauthenticated},
		"a key with a wrong checksum":      {"/", []string{"X-API-Key", wrongSum}, library.CodeUnauthenticated},
		"a key that is cut off":            {"/", []string{"X-API-Key", key[:30]}, library.CodeUnauthenticated},
		"another installation's key":       {"/", []string{"X-API-Key", unknown}, library.CodeUnauthenticated},
		"a key in the query":               {"/?api_key=" + key, []string{"X-API-Key", key}, library.CodeKeyInURL},
		"a key in the query, encoded":      {"/?q=%6eapi%5f" + key[5:], nil, library.CodeKeyInURL},
		"a key in the path":                {"/files/" + key, nil, library.CodeKeyInURL},
		"half a key in the query":          {"/?token=" + key[:40], nil, library.CodeKeyInURL},
		"the word napi_ in a search":       {"/?q=napi_key", []string{"X-API-Key", key}, ""},
		"the own tenant":                   {"/", []string{"X-API-Key", key, "X-Tenant-ID", strings.ToUpper(string(b.one))}, ""},
		"a tenant the key lacks":           {"/", []string{"X-API-Key", key, "X-Tenant-ID", string(b.two)}, library.CodeNotFound},
		"a tenant that is none":            {"/", []string{"X-API-Key", key, "X-Tenant-ID", "all"}, library.CodeNotFound},
		"an empty tenant":                  {"/", []string{"X-API-Key", key, "X-Tenant-ID", ""}, library.CodeNotFound},
		"the second tenant of a key":       {"/", []string{"X-API-Key", both, "X-Tenant-ID", string(b.two)}, ""},
		"two different tenants in headers": {"/", []string{"X-API-Key", both, "X-Tenant-ID", string(b.one), "X-Tenant-ID", string(b.two)}, library.CodeValidationFailed},
	}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

func TestAuth_ARevokedKeyIsDeadWithinFiveSecondsAndAnExpiredOneAtOnce(t *testing.T) {
	t.Parallel()
	b := open(t)
	key, k := b.key(t, nil)
	soon := time.Now().Add(700 * time.Millisecond)
	short, _ := b.key(t, func(r *auth.KeyRequest) { r.ExpiresAt = &soon })
	for _, x := range []string{key, short} {
		if _, f := b.ask("/", "X-API-Key", x); f != nil {
			t.Fatal(f)
		}
	}
	if err := b.Keys.Revoke(t.Context(), operator, b.one, k.ID); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	for {
		if _, f := b.ask("/", "X-API-Key", key); f != nil {
			break
		}
		if time.Since(start) > 5*time.Second {
			t.Fatal("a revoked key still works after 5 s")
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Logf("dead after %s", time.Since(start).Round(time.Millisecond))
	time.Sleep(time.Until(soon))
	if _, f := b.ask("/", "X-API-Key", short); f == nil || f.Code != library.CodeUnauthenticated {
		t.Errorf("an expired key works: %v", f)
	}
}

func TestAuth_AWrongChecksumIsRefusedWithoutTheDatabase(t *testing.T) {
	t.Parallel()
	b := open(t)
	key, _ := b.key(t, nil)
	b.Close()
	bad := key[:20] + string(rune('A'+(key[20]-'A'+1)%26)) + key[21:]
	if _, f := b.ask("/", "X-API-Key", bad); f == nil || f.Code != library.CodeUnauthenticated {
		t.Errorf("%v", f)
	}
	if _, f := b.ask("/", "X-API-Key", key); f == nil || f.Code == library.CodeUnauthenticated {
		t.Errorf("a good key must not count as unknown while the database is away: %v", f)
	}
}

func TestAuth_KeysCannotMakeKeysAndRequestsAreChecked(t *testing.T) {
	t.Parallel()
	b := open(t)
	past := time.Now().Add(-time.Second)
	for name, c := range map[string]struct {
		actor library.Actor
		want  auth.KeyRequest
		code  string
	}{
		"a key that wants a key": {library.Actor{Kind: library.ActorKey, ID: "k", Permissions: library.Permissions}, auth.KeyRequest{Name: "n", Tenant: b.one}, library.CodePermissionRequired},
		"an unknown permission":  {operator, auth.KeyRequest{Name: "n", Tenant: b.one, Permissions: []library.Permission{"root"}}, library.CodeValidationFailed},
		"no name":                {operator, auth.KeyRequest{Name: " ", Tenant: b.one}, library.CodeValidationFailed},
		"an unknown tenant":      {operator, auth.KeyRequest{Name: "n", Tenant: "33333333-3333-4333-8333-333333333333"}, library.CodeNotFound},
		"a tenant that is none":  {operator, auth.KeyRequest{Name: "n", Tenant: "x"}, library.CodeNotFound},
		"an unknown more tenant": {operator, auth.KeyRequest{Name: "n", Tenant: b.one, MoreTenants: []library.TenantID{"33333333-3333-4333-8333-333333333333"}}, library.CodeNotFound},
		"an expiry in the past":  {operator, auth.KeyRequest{Name: "n", Tenant: b.one, ExpiresAt: &past}, library.CodeValidationFailed},
	} {
		t.Run(name, func(t *testing.T) {
			secret, _, err := auth.IssueKey(t.Context(), b.Store.Keys, c.actor, c.want)
			if f := library.AsError(err); err == nil || f.Code != c.code || secret != "" {
				t.Errorf("%q %v, want %s", secret, err, c.code)
			}
		})
	}
}

func TestAuth_TheStoreHoldsNoSecretAndEveryChangeOfAKeyHasItsAuditRow(t *testing.T) {
	t.Parallel()
	b := open(t)
	secret, k := b.key(t, func(r *auth.KeyRequest) { r.Permissions = []library.Permission{library.PermAdmin, library.PermSearch} })
	if err := b.Keys.Revoke(t.Context(), operator, b.one, k.ID); err != nil {
		t.Fatal(err)
	}
	if err := b.Keys.Revoke(t.Context(), operator, b.one, k.ID); err != nil {
		t.Errorf("revoking twice: %v", err)
	}
	if err := b.Keys.Revoke(t.Context(), operator, b.two, k.ID); library.AsError(err).Code != library.CodeNotFound {
		t.Errorf("another tenant revokes the key: %v", err)
	}
	keys, err := b.Keys.List(t.Context(), b.one)
	if err != nil || len(keys) != 1 || keys[0].RevokedAt == nil || keys[0].Hint != secret[len(secret)-4:] {
		t.Errorf("%+v %v", keys, err)
	}
	if !slices.Equal(keys[0].Permissions, []library.Permission{library.PermRead, library.PermSearch, library.PermAdmin}) {
		t.Errorf("read is always carried, in the usual order: %v", keys[0].Permissions)
	}
	if none, err := b.Keys.List(t.Context(), b.two); err != nil || len(none) != 0 {
		t.Errorf("another tenant sees %+v %v", none, err)
	}
	c, err := pgx.Connect(t.Context(), b.url)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(context.Background())
	var actions []string
	var leaked bool
	err = errors.Join(
		c.QueryRow(t.Context(), `SELECT array_agg(action ORDER BY audit_id) FROM audit WHERE subject = $1`, k.ID).Scan(&actions),
		c.QueryRow(t.Context(), `SELECT bool_or(a::text LIKE '%' || $1 || '%') FROM (SELECT to_jsonb(k) a FROM api_keys k UNION ALL SELECT to_jsonb(x) FROM audit x) q`, secret[5:25]).Scan(&leaked))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"key.created", "key.revoked"}, actions); diff != "" {
		t.Error(diff)
	}
	if leaked {
		t.Error("the database holds the secret")
	}
}

func TestAuth_TheUseOfAKeyIsNoted(t *testing.T) {
	t.Parallel()
	b := open(t)
	key, _ := b.key(t, nil)
	if _, f := b.ask("/", "X-API-Key", key); f != nil {
		t.Fatal(f)
	}
	for end := time.Now().Add(5 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		keys, err := b.Keys.List(t.Context(), b.one)
		if err != nil {
			t.Fatal(err)
		}
		if keys[0].LastUsedAt != nil {
			return
		}
		if time.Now().After(end) {
			t.Fatal("last_used_at stays empty")
		}
	}
}

func TestAuth_TheDefaultTenantIsMadeOnce(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	made := make(chan library.Tenant, 8)
	for range cap(made) {
		go func() {
			tenant, err := s.Tenants.EnsureDefault(context.Background(), operator)
			if err != nil {
				t.Error(err)
			}
			made <- tenant
		}()
	}
	first := <-made
	for range cap(made) - 1 {
		if diff := cmp.Diff(first, <-made); diff != "" {
			t.Error(diff)
		}
	}
	if all, err := s.Tenants.List(t.Context()); err != nil || len(all) != 1 {
		t.Errorf("%+v %v", all, err)
	}
}

func BenchmarkACheckedKey(bench *testing.B) {
	b := open(bench)
	key, _ := b.key(bench, nil)
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.Header.Set("X-API-Key", key)
	for bench.Loop() {
		if _, err := b.Authenticate(r); err != nil {
			bench.Fatal(err)
		}
	}
}
