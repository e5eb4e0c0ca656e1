package bench

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"time"

	"vitrine/embed"
)

// meanings serves the corpus's vectors by the protocol of an embedding provider:
// it stands where a model would, and costs next to nothing.
func (c *corpus) meanings(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Input []string `json:"input"`
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	type entry struct {
		Index     int       `json:"index"`
		Embedding []float32 `json:"embedding"`
	}
	out := struct {
		Data []entry `json:"data"`
	}{}
	for i, text := range in.Input {
		out.Data = append(out.Data, entry{i, c.vectorOf(text)})
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(out) // the client sees an answer that breaks off
}

// serveMeanings starts the provider and gives the settings that lead to it.
func (c *corpus) serveMeanings() (settings embed.Config, stop func(context.Context) error, err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return settings, nil, err
	}
	s := &http.Server{Handler: http.HandlerFunc(c.meanings), ReadHeaderTimeout: 10 * time.Second}
	done := make(chan error, 1)
	go func() { done <- s.Serve(l) }()
	stop = func(context.Context) error {
		err := s.Close()
		if served := <-done; !errors.Is(served, http.ErrServerClosed) {
			err = errors.Join(err, served)
		}
		return err
	}
	return embed.Config{Driver: embed.OpenAI, URL: "http://" + l.Addr().String() + "/v1", Model: "benchmark", Dimensions: dimensions}, stop, nil
}
