package embed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"vitrine/library"
)

// speaker is a server that speaks the protocol. Its vectors tell which text they
// are of.
type speaker struct {
	*httptest.Server
	mu      sync.Mutex
	asked   [][]string
	keys    []string
	answers []func(w http.ResponseWriter, texts []string) bool // used up one by one; false passes on to the usual answer
	refuse  string                                             // a text with this in it is refused
	slow    time.Duration
}

const secretKey = "sk-very-secret"

func newSpeaker(t testing.TB) *speaker {
	t.Helper()
	s := &speaker{}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(s.Close)
	return s
}

func (s *speaker) serve(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Model  string   `json:"model"`
		Input  []string `json:"input"`
		Format string   `json:"encoding_format"`
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil || r.URL.Path != "/v1/embeddings" || r.Method != http.MethodPost || in.Model != "m" || in.Format != "float" {
		http.Error(w, "not the protocol", http.StatusTeapot)
		return
	}
	s.mu.Lock()
	s.asked, s.keys = append(s.asked, in.Input), append(s.keys, r.Header.Get("Authorization"))
	var answer func(http.ResponseWriter, []string) bool
	if len(s.answers) > 0 {
		answer, s.answers = s.answers[0], s.answers[1:]
	}
	s.mu.Unlock()
	if s.slow > 0 {
		select {
		case <-time.After(s.slow):
		case <-r.Context().Done():
			return
		}
	}
	if answer != nil && answer(w, in.Input) {
		return
	}
	if s.refuse != "" && slices.ContainsFunc(in.Input, func(t string) bool { return strings.Contains(t, s.refuse) }) {
		http.Error(w, "too long: "+in.Input[0], http.StatusBadRequest)
		return
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"data": vectorsOf(in.Input)})
}

// vectorsOf answers in reverse, as a server may.
func vectorsOf(texts []string) []map[string]any {
	var out []map[string]any
	for i := len(texts) - 1; i >= 0; i-- {
		out = append(out, map[string]any{"index": i, "embedding": []float32{float32(len(texts[i])), 2, 0}})
	}
	return out
}

func status(code int, header ...string) func(http.ResponseWriter, []string) bool {
	return func(w http.ResponseWriter, _ []string) bool {
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		http.Error(w, "you sent "+secretKey, code)
		return true
	}
}

func body(text string) func(http.ResponseWriter, []string) bool {
	return func(w http.ResponseWriter, _ []string) bool {
		fmt.Fprint(w, text)
		return true
	}
}

func (s *speaker) requests() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.asked)
}

func (s *speaker) open(t testing.TB) *provider {
	t.Helper()
	e, err := Open(Config{Driver: OpenAI, URL: s.URL + "/v1/", Key: secretKey, Model: "m", Dimensions: 3, Timeout: 2 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return e.(*provider)
}

func TestOpenAI_ManyTextsGoInFewRequestsAndComeBackInOrder(t *testing.T) {
	s := newSpeaker(t)
	var texts []string
	for i := range 130 {
		texts = append(texts, strings.Repeat("x", i+1))
	}
	got, err := s.open(t).Embed(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	if s.requests() != 3 || len(got) != 130 || s.keys[0] != "Bearer "+secretKey {
		t.Errorf("%d requests, %d vectors, key %q", s.requests(), len(got), s.keys[0])
	}
	for i, v := range got {
		if want := float32(i+1) / 2; v[0]/v[1] < want*0.999 || v[0]/v[1] > want*1.001 || cosine(v, v) < 0.9999 || cosine(v, v) > 1.0001 {
			t.Fatalf("vector %d is %v: another text's, or not of length 1", i, v)
		}
	}
}

func TestOpenAI_PassingFailuresAreTriedAgain(t *testing.T) {
	for name, answer := range map[string]func(http.ResponseWriter, []string) bool{
		"too many requests": status(429, "Retry-After", "1"), "server error": status(500), "bad gateway": status(502), "half an answer": body(`{"data":[`),
		"connection cut": func(http.ResponseWriter, []string) bool { panic(http.ErrAbortHandler) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSpeaker(t)
			s.answers = append(s.answers, answer)
			if _, err := s.open(t).Embed(t.Context(), []string{"a"}); err != nil || s.requests() != 2 {
				t.Errorf("after %d requests the error is %v", s.requests(), err)
			}
		})
	}
}

func TestOpenAI_AnswersThatCannotBeUsedNeverBecomeVectors(t *testing.T) {
	for name, c := range map[string]struct {
		answer func(http.ResponseWriter, []string) bool
		cause  string
	}{
		"another dimension": {body(`{"data":[{"index":0,"embedding":[1,2]}]}`), "length 2"},
		"zeros":             {body(`{"data":[{"index":0,"embedding":[0,0,0]}]}`), "zero"},
		"too large":         {body(`{"data":[{"index":0,"embedding":[1e39,0,0]}]}`), "read"},
		"not a number":      {body(`{"data":[{"index":0,"embedding":["NaN",0,0]}]}`), "read"},
		"too few":           {body(`{"data":[]}`), "0 vectors"},
		"too many":          {body(`{"data":[{"index":0,"embedding":[1,0,0]},{"index":1,"embedding":[1,0,0]}]}`), "2 vectors"},
		"another index":     {body(`{"data":[{"index":7,"embedding":[1,0,0]}]}`), "which"},
		"no JSON":           {body(`<html>`), "read"},
		"wrong key":         {status(401), "401"},
		"no such model":     {status(404), "404"},
		"moved":             {status(307, "Location", "http://other.invalid/"), "307"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSpeaker(t)
			s.answers = []func(http.ResponseWriter, []string) bool{c.answer, c.answer, c.answer}
			got, err := s.open(t).Embed(t.Context(), []string{"a secret prompt"})
			if err == nil {
				t.Fatalf("it became %v", got)
			}
			f := library.AsError(err)
			if f.Code != CodeUnavailable || f.Kind != library.KindUnavailable || !strings.Contains(fmt.Sprint(f.Cause), c.cause) {
				t.Errorf("the error is %s", describe(err))
			}
			if all := describe(err) + fmt.Sprintf("%+v %#v %v", err, f, errors.Unwrap(err)); strings.Contains(all, secretKey) || strings.Contains(all, "secret prompt") {
				t.Errorf("the error shows the key or the text: %s", all)
			}
		})
	}
}

func TestOpenAI_OneRefusedTextDoesNotHoldUpTheOthers(t *testing.T) {
	s := newSpeaker(t)
	s.refuse = "poison"
	got, err := s.open(t).Embed(t.Context(), []string{"a", "bb", "poison", "dddd", "eeeee"})
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range got {
		if (v == nil) != (i == 2) {
			t.Errorf("vector %d is %v", i, v)
		}
	}
	s.refuse = ""
	s.answers = []func(http.ResponseWriter, []string) bool{status(400), status(400), status(400)}
	if _, err := s.open(t).Embed(t.Context(), []string{"a", "b"}); err == nil {
		t.Error("a provider that takes no text at all was taken for one that refuses each")
	}
}

func TestOpenAI_AProviderThatHangsIsGivenUp(t *testing.T) {
	s := newSpeaker(t)
	s.slow = time.Minute
	p := s.open(t)
	ctx, cancel := context.WithTimeout(t.Context(), 150*time.Millisecond)
	defer cancel()
	began := time.Now()
	if _, err := p.Embed(ctx, []string{"a"}); err == nil || time.Since(began) > time.Second {
		t.Errorf("after %s the error is %v", time.Since(began), err)
	}
}

func TestOpenAI_ATooSlowProviderStillServesThoseWhoCanWait(t *testing.T) {
	s := newSpeaker(t)
	s.slow = 200 * time.Millisecond
	p := s.open(t)
	for range breakAfter {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		if _, err := p.Embed(ctx, []string{"a"}); err == nil {
			t.Error("a search got its vector in time")
		}
		cancel()
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	began := time.Now()
	if _, err := p.Embed(ctx, []string{"a"}); err == nil || time.Since(began) > 100*time.Millisecond {
		t.Errorf("after %d searches that waited in vain the next waits, too: %s, %v", breakAfter, time.Since(began), err)
	}
	if _, err := p.Embed(t.Context(), []string{"a"}); err != nil {
		t.Errorf("who can wait gets %v", err)
	}
}

func TestOpenAI_AFailingProviderRestsAndComesBack(t *testing.T) {
	s := newSpeaker(t)
	for range 10 {
		s.answers = append(s.answers, status(503))
	}
	p := s.open(t)
	for range 2 {
		if _, err := p.Embed(t.Context(), []string{"a"}); err == nil {
			t.Fatal("a failing provider gave vectors")
		}
	}
	asked := s.requests()
	began := time.Now()
	_, err := p.Embed(t.Context(), []string{"a"})
	if f := library.AsError(err); err == nil || s.requests() != asked || time.Since(began) > 50*time.Millisecond || f.RetryAfter <= 0 {
		t.Fatalf("a resting provider was asked again, or slowly refused: %v after %s", err, time.Since(began))
	}
	s.mu.Lock()
	s.answers = nil
	s.mu.Unlock()
	p.rest.mu.Lock()
	p.rest.until = time.Now()
	p.rest.mu.Unlock()
	if _, err := p.Embed(t.Context(), []string{"a"}); err != nil {
		t.Errorf("after its rest: %v", err)
	}
}

func TestOpenAI_ARestGrowsAndLetsOneCallThrough(t *testing.T) {
	var b breaker
	now := time.Now()
	for range breakAfter - 1 {
		b.record(now, false)
	}
	if _, ok := b.allow(now); !ok {
		t.Fatal("it rests too soon")
	}
	b.record(now, false)
	for _, want := range []time.Duration{shortestRest, 2 * shortestRest, 4 * shortestRest} {
		if wait, ok := b.allow(now); ok || wait != want {
			t.Fatalf("wait %s, allowed %v; want %s", wait, ok, want)
		}
		now = now.Add(want)
		if _, ok := b.allow(now); !ok {
			t.Fatal("after the rest no call may try")
		}
		if _, ok := b.allow(now); ok {
			t.Fatal("two calls may try at once")
		}
		b.record(now, false)
	}
	for range 20 {
		b.record(now, false)
	}
	if wait, _ := b.allow(now); wait != longestRest {
		t.Errorf("the longest rest is %s, want %s", wait, longestRest)
	}
	b.record(now, true)
	if _, ok := b.allow(now); !ok {
		t.Error("after a good answer it still rests")
	}
}

func TestOpenAI_SettingsOfAProviderAreChecked(t *testing.T) {
	good := Config{Driver: OpenAI, URL: "http://localhost:11434/v1", Model: "m", Dimensions: 3}
	for field, change := range map[string]func(*Config){
		"embed_url":        func(c *Config) { c.URL = "localhost:11434" },
		"embed_model":      func(c *Config) { c.Model = "" },
		"embed_dimensions": func(c *Config) { c.Dimensions = 16001 },
	} {
		cfg := good
		change(&cfg)
		if _, err := Open(cfg); err == nil || library.AsError(err).Fields[0].Field != field {
			t.Errorf("%s: the error is %v", field, err)
		}
	}
	for _, address := range []string{"", "ftp://x/v1", "http://user:pw@x/v1", "http://", "http://[::1"} {
		cfg := good
		cfg.URL = address
		if _, err := Open(cfg); err == nil || strings.Contains(describe(err), "pw") {
			t.Errorf("the address %q: %v", address, err)
		}
	}
	one, err := Open(good)
	if err != nil {
		t.Fatal(err)
	}
	good.URL, good.Key = "https://elsewhere/v1", "k"
	same, _ := Open(good)
	good.Dimensions = 4
	other, _ := Open(good)
	if one.ID() != same.ID() || one.ID() == other.ID() {
		t.Error("the identity must follow model and dimension, and nothing else")
	}
	if one.Dimensions() != 3 || one.Info() != (Info{Driver: OpenAI, Model: "m"}) {
		t.Errorf("dimensions %d, info %+v", one.Dimensions(), one.Info())
	}
}
