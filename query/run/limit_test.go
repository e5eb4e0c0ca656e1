package run

import (
	"testing"
	"time"
)

func TestTimeLimit_IsTheSettingUpToTheLongest(t *testing.T) {
	for _, c := range []struct {
		set           time.Duration
		limit, cancel string
	}{{0, "2000ms", "3000ms"}, {500 * time.Millisecond, "500ms", "1500ms"}, {time.Hour, "20000ms", "21000ms"}} {
		s := New(nil, "test", c.set)
		body := s.limited(map[string]any{"timeout": "7s"})
		if body["timeout"] != c.limit || s.cancelAfter() != c.cancel {
			t.Errorf("set to %s, searches are stopped after %v and cancelled after %s", c.set, body["timeout"], s.cancelAfter())
		}
	}
}
