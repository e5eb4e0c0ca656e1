package relevance

import (
	"context"
	"sync"

	"vitrine/embed"
)

// memory is an embedder that embeds no text twice: several engines ask for the
// vectors of the same queries, and many assets have the same prompt.
type memory struct {
	embed.Embedder
	mu    sync.Mutex
	known map[string][]float32
}

// memorize returns nil for no embedder.
func memorize(e embed.Embedder) embed.Embedder {
	if e == nil {
		return nil
	}
	return &memory{Embedder: e, known: map[string][]float32{}}
}

// Embed implements embed.Embedder.
func (m *memory) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var open []string
	for _, t := range texts {
		if _, ok := m.known[t]; !ok {
			m.known[t] = nil
			open = append(open, t)
		}
	}
	if len(open) > 0 {
		made, err := m.Embedder.Embed(ctx, open)
		if err != nil {
			for _, t := range open {
				delete(m.known, t)
			}
			return nil, err
		}
		for i, t := range open {
			m.known[t] = made[i]
		}
	}
	out := make([][]float32, len(texts))
	for i, t := range texts {
		out[i] = m.known[t]
	}
	return out, nil
}
