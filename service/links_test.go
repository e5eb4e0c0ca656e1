package service_test

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"vitrine/api/client"
	"vitrine/auth"
	"vitrine/library"
	"vitrine/media/blob"
	"vitrine/service"
	"vitrine/service/servicetest"
)

// linked is a product of which a test knows the key that signs links, with a second
// tenant and an asset in each.
type linked struct {
	*servicetest.Env
	signer       *blob.Signer
	keyID        string // of a key that may write
	key          string
	mine, theirs string // assets
	other        library.TenantID
	data         []byte
}

func newLinked(t *testing.T) *linked {
	t.Helper()
	key := make([]byte, 32)
	rand.Read(key)
	l := &linked{signer: blob.NewSigner(key), data: picture(21)}
	l.Env = servicetest.Start(t, servicetest.Options{Roles: []service.Role{service.RoleAPI, service.RoleIndex}, Adjust: func(c *service.Config) { c.SigningKey = key }})
	l.key, l.keyID = l.newKey()
	l.mine = l.StoreFile("", "fox.png", "image/png", l.data).Asset.AssetH
	l.other = l.NewTenant("other")
	l.theirs = l.StoreFile(l.NewKey(l.other, library.Permissions...), "owl.png", "image/png", picture(22)).Asset.AssetH
	return l
}

func (l *linked) newKey() (secret, id string) {
	l.T.Helper()
	secret, key, err := auth.IssueKey(l.T.Context(), l.Store.Keys, operator, auth.KeyRequest{Name: "links", Tenant: l.Tenant, Permissions: library.Permissions})
	if err != nil {
		l.T.Fatal(err)
	}
	return secret, key.ID
}

// link is a route with the token of a grant in it.
type link struct {
	method, prefix, suffix string
	grant                  blob.Grant
	body                   []byte
	header                 http.Header
}

func (l *linked) links() map[blob.Purpose]link {
	png := http.Header{"Content-Type": {"image/png"}}
	return map[blob.Purpose]link{
		blob.PurposeDownload: {method: http.MethodGet, prefix: "/files/", suffix: "/fox.png", grant: blob.Grant{Purpose: blob.PurposeDownload, Tenant: l.Tenant,
			Asset: library.AssetHash(l.mine), Filename: "fox.png", MIMEType: "image/png", Key: l.keyID}},
		blob.PurposePreview: {method: http.MethodGet, prefix: "/previews/", suffix: ".jpg", grant: blob.Grant{Purpose: blob.PurposePreview, Tenant: l.Tenant,
			Asset: library.AssetHash(l.mine), Key: l.keyID}},
		blob.PurposeUpload: {method: http.MethodPut, prefix: "/api/v1/storage/upload/", body: l.data, header: png, grant: blob.Grant{Purpose: blob.PurposeUpload, Tenant: l.Tenant,
			Staged: blob.NewStagingID(), Filename: "fox.png", MIMEType: "image/png", MaxBytes: int64(len(l.data)), Size: int64(len(l.data)), SHA1: library.AssetHash(l.mine), Key: l.keyID}},
	}
}

func (l *linked) send(k link, token string) (status int, code, body string) {
	l.T.Helper()
	status, raw, _ := l.Raw(k.method, k.prefix+token+k.suffix, "", k.body, k.header)
	var problem struct {
		Code string `json:"code"`
	}
	_ = json.Unmarshal(raw, &problem) // a file is no problem
	return status, problem.Code, string(raw)
}

// forge makes a token of other content with the signature of a genuine one.
func forge(t *testing.T, token string, change func(map[string]any)) string {
	t.Helper()
	body, mac, _ := strings.Cut(token, ".")
	raw, err := base64.RawURLEncoding.DecodeString(body)
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]any
	if err := json.Unmarshal(raw, &fields); err != nil {
		t.Fatal(err)
	}
	change(fields)
	if raw, err = json.Marshal(fields); err != nil {
		t.Fatal(err)
	}
	return base64.RawURLEncoding.EncodeToString(raw) + "." + mac
}

// TestLinks_NothingOfASignedURLCanBeChanged sends every single change of each kind of
// link: of each character, of each field, of the signature, of the purpose, of what is
// around the token. Every one gets the same answer, so that guessing teaches nothing.
func TestLinks_NothingOfASignedURLCanBeChanged(t *testing.T) {
	t.Parallel()
	l := newLinked(t)
	tried := 0
	for purpose, k := range l.links() {
		token := l.signer.Sign(k.grant, time.Hour)
		if status, code, _ := l.send(k, token); status != http.StatusOK {
			t.Fatalf("a genuine %s link: %d %s", purpose, status, code)
		}
		var want string
		refused := func(what, token string, k link) {
			t.Helper()
			tried++
			status, code, body := l.send(k, token)
			var problem map[string]any
			_ = json.Unmarshal([]byte(body), &problem)
			delete(problem, "request_id")
			if said := fmt.Sprint(problem); want == "" {
				want = said
			} else if said != want {
				t.Errorf("%s, %s: answered otherwise than other altered links: %s", purpose, what, body)
			}
			if status != http.StatusForbidden || code != library.CodeURLInvalid {
				t.Errorf("%s, %s: %d %s", purpose, what, status, code)
			}
		}
		l.alterEach(t, token, purpose, func(what, altered string) { refused(what, altered, k) })
		for other, k2 := range l.links() {
			if other != purpose {
				refused("on the route of "+string(other), token, k2)
				body, _, _ := strings.Cut(token, ".")
				_, mac, _ := strings.Cut(l.signer.Sign(k2.grant, time.Hour), ".")
				refused("with the signature of "+string(other), body+"."+mac, k)
			}
		}
		refused("of another key", blob.NewSigner(bytes.Repeat([]byte("k"), 32)).Sign(k.grant, time.Hour), k)
		body, mac, _ := strings.Cut(token, ".")
		for what, altered := range map[string]string{"no signature": body, "an empty signature": body + ".", "only a signature": "." + mac, "doubled": token + token,
			"a blank": token + "%20", "a short one": body + "." + mac[:20], "padded": token + "%3D"} {
			refused(what, altered, k)
		}
		if purpose == blob.PurposeDownload {
			renamed := k
			renamed.suffix = "/owl.png"
			refused("another name", token, renamed)
		}
	}
	if tried < 2000 {
		t.Errorf("only %d changes were tried", tried)
	}
	t.Logf("%d changed links", tried)
}

// alterEach calls refused with each change of a character of a token, and of a field of what it signs.
func (l *linked) alterEach(t *testing.T, token string, purpose blob.Purpose, refused func(what, token string)) {
	t.Helper()
	foreign := map[string]any{"t": string(l.other), "a": l.theirs, "s": blob.NewStagingID(), "f": "owl.png", "m": "text/html", "n": 1 << 40, "z": 1 << 40,
		"h": l.theirs, "k": "key_000000000000000000", "e": time.Now().Add(time.Hour * 1000).Unix(), "p": "preview"}
	for i := range len(token) {
		for _, c := range "A0_" {
			if token[i] != byte(c) {
				refused(fmt.Sprintf("character %d as %c", i, c), token[:i]+string(c)+token[i+1:])
			}
		}
	}
	for field, value := range foreign {
		if field == "p" && purpose == blob.PurposePreview {
			value = "download"
		}
		refused("field "+field+" of another", forge(t, token, func(f map[string]any) { f[field] = value }))
		refused("field "+field+" gone", forge(t, token, func(f map[string]any) {
			if _, there := f[field]; !there {
				f["x"] = 1
			}
			delete(f, field)
		}))
	}
}

func TestLinks_AnExpiredOneSaysSo(t *testing.T) {
	t.Parallel()
	l := newLinked(t)
	for purpose, k := range l.links() {
		if status, code, _ := l.send(k, l.signer.Sign(k.grant, -time.Second)); status != http.StatusGone || code != library.CodeURLExpired {
			t.Errorf("%s: %d %s", purpose, status, code)
		}
	}
}

// TestLinks_EndWithTheKeyThatAskedForThem: links are used without a credential, so they
// must not outlive the one that they came from.
func TestLinks_EndWithTheKeyThatAskedForThem(t *testing.T) {
	t.Parallel()
	l := newLinked(t)
	api := l.Client(l.key)
	detail, err := api.GetAssetDetails(t.Context(), client.GetAssetDetailsInput{AssetH: l.mine, IncludeDownloadURL: true, ResponseFormat: "detailed"})
	if err != nil {
		t.Fatal(err)
	}
	ticket, err := api.CreateUploadUrl(t.Context(), client.CreateUploadUrlInput{Filename: "new.png", MIMEType: "image/png"})
	if err != nil {
		t.Fatal(err)
	}
	use := func() map[string]int {
		get := func(url string) int {
			status, _, _ := l.Raw(http.MethodGet, strings.TrimPrefix(url, l.URL), "", nil, nil)
			return status
		}
		put, _, _ := l.Raw(http.MethodPut, strings.TrimPrefix(ticket.SignedURL, l.URL), "", picture(23), http.Header{"Content-Type": {"image/png"}})
		return map[string]int{"download": get(detail.DownloadURL), "thumbnail": get(detail.ThumbnailURL), "upload": put}
	}
	if got := use(); !maps.Equal(got, map[string]int{"download": 200, "thumbnail": 200, "upload": 200}) {
		t.Fatalf("while the key is good: %v", got)
	}
	if err := l.Store.Keys.Revoke(t.Context(), operator, l.Tenant, l.keyID); err != nil {
		t.Fatal(err)
	}
	time.Sleep(1100 * time.Millisecond) // how long an answer on a key is trusted
	if got := use(); !maps.Equal(got, map[string]int{"download": 403, "thumbnail": 403, "upload": 403}) {
		t.Errorf("after it was revoked: %v", got)
	}
	k := l.links()[blob.PurposeDownload]
	if _, code, _ := l.send(k, l.signer.Sign(k.grant, time.Hour)); code != library.CodeURLRevoked {
		t.Errorf("the reason is %s", code)
	}
	for what, id := range map[string]string{"none": "", "an unknown one": "key_000000000000000000"} {
		k.grant.Key = id
		if status, _, _ := l.send(k, l.signer.Sign(k.grant, time.Hour)); status != http.StatusForbidden {
			t.Errorf("a link with the key %s: %d", what, status)
		}
	}
	_, elsewhere, err := auth.IssueKey(t.Context(), l.Store.Keys, operator, auth.KeyRequest{Name: "other tenant's", Tenant: l.other})
	if err != nil {
		t.Fatal(err)
	}
	k.grant.Key = elsewhere.ID
	if status, _, _ := l.send(k, l.signer.Sign(k.grant, time.Hour)); status != http.StatusForbidden {
		t.Errorf("a link with a key that does not reach the tenant: %d", status)
	}
}

// TestLinks_EndWithTheirAsset in the trash, and come back with it.
func TestLinks_EndWithTheirAsset(t *testing.T) {
	t.Parallel()
	l := newLinked(t)
	stored := l.StoreFile(l.key, "short.png", "image/png", picture(24))
	var links []link
	for _, purpose := range []blob.Purpose{blob.PurposeDownload, blob.PurposePreview} {
		k := l.links()[purpose]
		k.grant.Asset = library.AssetHash(stored.Asset.AssetH)
		links = append(links, k)
	}
	statuses := func() (list []int) {
		for _, k := range links {
			status, _, _ := l.send(k, l.signer.Sign(k.grant, time.Hour))
			list = append(list, status)
		}
		return list
	}
	if got := statuses(); !slices.Equal(got, []int{200, 200}) {
		t.Fatalf("%v", got)
	}
	undone, err := l.Client(l.key).UndoOperation(t.Context(), client.UndoOperationInput{OperationID: stored.OperationID})
	if err != nil {
		t.Fatal(err)
	}
	if got := statuses(); !slices.Equal(got, []int{404, 404}) {
		t.Errorf("in the trash: %v", got)
	}
	if _, err := l.Client(l.key).UndoOperation(t.Context(), client.UndoOperationInput{OperationID: undone.OperationID}); err != nil {
		t.Fatal(err)
	}
	if got := statuses(); !slices.Equal(got, []int{200, 200}) {
		t.Errorf("back from the trash: %v", got)
	}
}

// TestLinks_AnUploadIsTheFileItWasAskedFor in its type, size and hash, or else nothing
// is kept of it.
func TestLinks_AnUploadIsTheFileItWasAskedFor(t *testing.T) {
	t.Parallel()
	l := newLinked(t)
	other := picture(25)
	same := append(bytes.Clone(l.data[:len(l.data)-1]), l.data[len(l.data)-1]^1)
	full := l.links()[blob.PurposeUpload].grant
	bare := full
	bare.Size, bare.SHA1, bare.MIMEType, bare.MaxBytes = 0, "", "", int64(len(l.data))
	typed := http.Header{"Content-Type": {"image/png"}}
	for what, c := range map[string]struct {
		grant  blob.Grant
		body   []byte
		header http.Header
		chunks bool // no Content-Length
		status int
		code   string
	}{
		"as announced":                     {full, l.data, typed, false, 200, ""},
		"as announced, in chunks":          {full, l.data, typed, true, 200, ""},
		"with a parameter of the type":     {full, l.data, http.Header{"Content-Type": {"image/PNG; charset=binary"}}, false, 200, ""},
		"without a type":                   {full, l.data, nil, false, 415, library.CodeTypeMismatch},
		"of another type":                  {full, l.data, http.Header{"Content-Type": {"text/html"}}, false, 415, library.CodeTypeMismatch},
		"longer":                           {full, append(bytes.Clone(l.data), 'x'), typed, false, 400, library.CodeSizeMismatch},
		"longer, in chunks":                {full, append(bytes.Clone(l.data), 'x'), typed, true, 400, library.CodeSizeMismatch},
		"shorter":                          {full, l.data[:40], typed, false, 400, library.CodeSizeMismatch},
		"shorter, in chunks":               {full, l.data[:40], typed, true, 400, library.CodeSizeMismatch},
		"one bit changed":                  {full, same, typed, false, 400, library.CodeHashMismatch},
		"empty":                            {full, nil, typed, false, 400, library.CodeSizeMismatch},
		"nothing announced, empty":         {bare, nil, typed, false, 400, library.CodeEmptyFile},
		"nothing announced":                {bare, l.data, typed, false, 200, ""},
		"nothing announced, no type":       {bare, l.data, nil, false, 415, library.CodeTypeMismatch},
		"nothing announced, another":       {bare, other[:30], typed, false, 200, ""},
		"nothing announced, above the max": {bare, append(bytes.Clone(l.data), 'x'), typed, true, 413, library.CodePayloadTooLarge},
	} {
		c.grant.Staged = blob.NewStagingID()
		status, code := l.put(c.grant, c.body, c.header, c.chunks)
		if status != c.status || code != c.code {
			t.Errorf("%s: %d %s, want %d %s", what, status, code, c.status, c.code)
		}
		_, _, err := l.Blobs.OpenStaged(t.Context(), l.Tenant, c.grant.Staged)
		if kept := err == nil; kept != (c.status == 200) {
			t.Errorf("%s: kept is %v", what, kept)
		}
	}
	// A wrong upload does not take a right one away.
	full.Staged = blob.NewStagingID()
	if status, code := l.put(full, l.data, typed, false); status != 200 {
		t.Fatalf("%d %s", status, code)
	}
	if status, _ := l.put(full, same, typed, false); status != 400 {
		t.Errorf("%d", status)
	}
	o, staged, err := l.Blobs.OpenStaged(t.Context(), l.Tenant, full.Staged)
	if err != nil || string(staged.SHA1) != l.mine {
		t.Fatalf("%+v %v", staged, err)
	}
	o.Close()
}

func (l *linked) put(g blob.Grant, body []byte, header http.Header, chunks bool) (status int, code string) {
	l.T.Helper()
	req, err := http.NewRequestWithContext(l.T.Context(), http.MethodPut, l.URL+"/api/v1/storage/upload/"+l.signer.Sign(g, time.Hour), bytes.NewReader(body))
	if err != nil {
		l.T.Fatal(err)
	}
	req.Header = header.Clone()
	if req.Header == nil {
		req.Header = http.Header{}
	}
	if chunks {
		req.ContentLength = -1
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		l.T.Fatal(err)
	}
	defer res.Body.Close()
	var problem struct {
		Code string `json:"code"`
	}
	_ = json.NewDecoder(res.Body).Decode(&problem)
	return res.StatusCode, problem.Code
}

// TestLinks_OperationsBindThemToWhatWasAskedFor looks into the links that operations
// give out.
func TestLinks_OperationsBindThemToWhatWasAskedFor(t *testing.T) {
	t.Parallel()
	l := newLinked(t)
	api := l.Client(l.key)
	ticket, err := api.CreateUploadUrl(t.Context(), client.CreateUploadUrlInput{Filename: "a.png", MIMEType: "image/png", Size: 77, SHA1: strings.Repeat("Ab", 20)})
	if err != nil {
		t.Fatal(err)
	}
	found, err := api.FindStored(t.Context(), client.FindStoredInput{Files: []client.AssetFileToSend{{SHA1: strings.Repeat("cd", 20), Filename: "b.png", MIMEType: "image/png", Size: 78}}})
	if err != nil {
		t.Fatal(err)
	}
	plain, err := api.CreateUploadUrl(t.Context(), client.CreateUploadUrlInput{Filename: "c.png", MIMEType: "image/png"})
	if err != nil {
		t.Fatal(err)
	}
	detail, err := api.GetAssetDetails(t.Context(), client.GetAssetDetailsInput{AssetH: l.mine, IncludeDownloadURL: true, ResponseFormat: "detailed"})
	if err != nil {
		t.Fatal(err)
	}
	open := func(url, prefix string, purpose blob.Purpose) blob.Grant {
		t.Helper()
		token, _, _ := strings.Cut(strings.TrimPrefix(url, l.URL+prefix), "/")
		g, err := l.signer.Open(strings.TrimSuffix(token, ".jpg"), purpose)
		if err != nil || g.Key != l.keyID || g.Tenant != l.Tenant {
			t.Errorf("%s: %+v %v", url, g, err)
		}
		return g
	}
	const upload = "/api/v1/storage/upload/"
	if g := open(ticket.SignedURL, upload, blob.PurposeUpload); g.Size != 77 || g.MaxBytes != 77 || string(g.SHA1) != strings.Repeat("ab", 20) || ticket.MaxBytes != 77 {
		t.Errorf("CreateUploadUrl: %+v", g)
	}
	if g := open(found.Files[0].SignedURL, upload, blob.PurposeUpload); g.Size != 78 || string(g.SHA1) != strings.Repeat("cd", 20) {
		t.Errorf("FindStored: %+v", g)
	}
	if g := open(plain.SignedURL, upload, blob.PurposeUpload); g.Size != 0 || g.SHA1 != "" || g.MaxBytes != plain.MaxBytes || g.MaxBytes <= 0 {
		t.Errorf("CreateUploadUrl without a size: %+v", g)
	}
	open(detail.DownloadURL, "/files/", blob.PurposeDownload)
	open(detail.ThumbnailURL, "/previews/", blob.PurposePreview)
}
