package publish

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"vitrine/auth"
	"vitrine/library"
	"vitrine/publish/page"
)

const (
	// cookieName is that of the cookie of who knows a page's password.
	cookieName = "vitrine_page"
	// cookieValid is how long a password need not be typed again.
	cookieValid = 12 * time.Hour
	// maxForm bounds the form with a password.
	maxForm = 4 << 10
)

func askPassword(fault string) page.View {
	return page.View{Title: "Password needed", AskPassword: true, Fault: fault}
}

// knows reports whether a request may see a page: it has no password, or the request comes with
// a cookie for the one that it has now.
func (s *Site) knows(r *http.Request, p library.Publication) bool {
	if p.PasswordHash == "" {
		return true
	}
	for _, c := range r.CookiesNamed(cookieName) {
		until, mac, _ := strings.Cut(c.Value, ".")
		n, err := strconv.ParseInt(until, 10, 64)
		if err == nil && time.Now().Unix() < n && hmac.Equal([]byte(mac), []byte(s.mac(p, until))) {
			return true
		}
	}
	return false
}

// mac signs until when somebody may see a page that has the password that it has now.
func (s *Site) mac(p library.Publication, until string) string {
	m := hmac.New(sha256.New, s.config.Key)
	fmt.Fprintf(m, "page\x00%s\x00%s\x00%s\x00%s", p.Tenant, p.ID, p.PasswordHash, until)
	return hex.EncodeToString(m.Sum(nil))
}

// Password takes POST /p/{segment}/{slug}, the form with the password.
func (s *Site) Password(w http.ResponseWriter, r *http.Request, _ library.Actor) error {
	p, err := s.find(r)
	if err != nil {
		return sorry(w, r, err)
	}
	if p.PasswordHash != "" {
		fault, status, err := s.check(w, r, p)
		if err != nil {
			return err
		}
		if fault != "" && wantsPage(w, r) {
			return write(w, status, askPassword(fault))
		}
		if fault != "" {
			return refusals[status](fault)
		}
		until := strconv.FormatInt(time.Now().Add(cookieValid).Unix(), 10)
		http.SetCookie(w, &http.Cookie{Name: cookieName, Value: until + "." + s.mac(p, until), Path: pathOf(p), MaxAge: int(cookieValid.Seconds()), HttpOnly: true,
			SameSite: http.SameSiteLaxMode, Secure: strings.HasPrefix(s.config.Base, "https:")})
	}
	w.Header().Set("Location", pathOf(p))
	w.WriteHeader(http.StatusSeeOther)
	return nil
}

// refusals are the errors of passwords that were refused, for programs.
var refusals = map[int]func(detail string) error{
	http.StatusBadRequest: func(detail string) error {
		return library.NewError(library.KindInvalid, library.CodeMalformedRequest, "%s", detail)
	},
	http.StatusForbidden: func(detail string) error {
		return library.NewError(library.KindForbidden, library.CodePermissionRequired, "%s", detail)
	},
	http.StatusTooManyRequests: func(detail string) error {
		return library.NewError(library.KindRateLimited, library.CodeRateLimited, "%s", detail)
	},
}

// check compares the password of a form with the page's, and returns what is wrong with it. It
// is counted as wrong until it turns out not to be, so that guesses at the same time are slowed
// down as well.
func (s *Site) check(w http.ResponseWriter, r *http.Request, p library.Publication) (fault string, status int, err error) {
	name, address := string(p.Tenant)+"/"+p.ID, auth.ClientAddress(r, s.config.TrustProxy).String()
	if wait := s.slow.take(name, address); wait > 0 {
		seconds := int(math.Ceil(wait.Seconds()))
		w.Header().Set("Retry-After", strconv.Itoa(seconds))
		return fmt.Sprintf("Too many wrong passwords. Try again in %d seconds.", seconds), http.StatusTooManyRequests, nil
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if err := r.ParseForm(); err != nil {
		return "This form cannot be read. Type the password again.", http.StatusBadRequest, nil //nolint:nilerr // it is answered
	}
	right, err := auth.ComparePassword(r.Context(), r.PostForm.Get("password"), p.PasswordHash)
	if err != nil {
		return "", 0, fmt.Errorf("comparing the password of a page: %w", err)
	}
	if !right {
		return "This is not the password.", http.StatusForbidden, nil
	}
	s.slow.giveBack(name, address)
	return "", 0, nil
}

// errNoPicture is the error of an asset of which no picture can be made.
func errNoPicture() error {
	return library.NewError(library.KindNotFound, library.CodeNotFound, "There is no picture of this asset that can be shown.")
}
