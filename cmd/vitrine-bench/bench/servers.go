package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/segmentio/kafka-go"

	"vitrine/mappings"
)

// execute runs one statement on a database.
func execute(ctx context.Context, server, statement string) error {
	conn, err := pgx.Connect(ctx, server)
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, statement)
	return errors.Join(err, conn.Close(ctx))
}

// otherDatabase returns the URL of another database of the same server.
func otherDatabase(server, name string) (string, error) {
	u, err := url.Parse(server)
	if err != nil || u.Scheme == "" {
		return "", errors.New("the benchmark needs PostgreSQL's address as a URL, postgres://…")
	}
	u.Path = "/" + name
	return u.String(), nil
}

// index talks to OpenSearch without any code of the product.
func (e *env) index(ctx context.Context, method, path string, body []byte, out any) error {
	req, err := http.NewRequestWithContext(ctx, method, strings.TrimRight(e.cfg.OpenSearchURL[0], "/")+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	answer, err := exchange(e.bare, req)
	if err != nil || out == nil {
		return err
	}
	return json.Unmarshal(answer, out)
}

// exchange sends a request and reads the whole answer, so that its connection is
// used again. Any status but 2xx is an error.
func exchange(c *http.Client, req *http.Request) ([]byte, error) {
	res, err := c.Do(req)
	if err != nil {
		return nil, err
	}
	answer, err := io.ReadAll(res.Body)
	if err := errors.Join(err, res.Body.Close()); err != nil {
		return nil, err
	}
	if res.StatusCode >= 300 {
		return nil, fmt.Errorf("%s %s answers %s: %.300s", req.Method, req.URL.Path, res.Status, answer)
	}
	return answer, nil
}

func (e *env) alias() string { return mappings.Names(e.cfg.Prefix).Alias() }

// removeIndices deletes every index of the benchmark, also one that was being made when
// the service was stopped.
func (e *env) removeIndices(ctx context.Context) error {
	none := 0
	return until(ctx, 200*time.Millisecond, time.Minute, "no index of the benchmark is left", func() (bool, error) {
		n, err := e.removeFoundIndices(ctx)
		if none++; n > 0 {
			none = 0
		}
		return none == 2, err
	})
}

// removeFoundIndices deletes the indices that there are, and returns how many. They are named
// one by one: a cluster may refuse to delete by a pattern.
func (e *env) removeFoundIndices(ctx context.Context) (int, error) {
	var found []struct {
		Index string `json:"index"`
	}
	if err := e.index(ctx, http.MethodGet, "/_cat/indices/"+e.cfg.Prefix+"*?format=json&h=index", nil, &found); err != nil {
		return 0, err
	}
	for _, f := range found {
		if err := e.index(ctx, http.MethodDelete, "/"+f.Index+"?ignore_unavailable=true", nil, nil); err != nil {
			return 0, err
		}
	}
	return len(found), nil
}

// removeTopics deletes the benchmark's topics and consumer groups.
func (e *env) removeTopics(ctx context.Context) error {
	transport := &kafka.Transport{MetadataTTL: 5 * time.Second}
	defer transport.CloseIdleConnections()
	c := &kafka.Client{Addr: kafka.TCP(e.cfg.Brokers...), Timeout: 10 * time.Second, Transport: transport}
	meta, err := c.Metadata(ctx, &kafka.MetadataRequest{})
	if err != nil {
		return err
	}
	var topics, groups []string
	for _, t := range meta.Topics {
		if strings.HasPrefix(t.Name, e.cfg.Prefix) {
			topics = append(topics, t.Name)
		}
	}
	if len(topics) > 0 {
		if _, err := c.DeleteTopics(ctx, &kafka.DeleteTopicsRequest{Topics: topics}); err != nil {
			return err
		}
	}
	list, err := c.ListGroups(ctx, &kafka.ListGroupsRequest{})
	if err != nil {
		return err
	}
	for _, g := range list.Groups {
		if strings.HasPrefix(g.GroupID, e.cfg.Prefix) {
			groups = append(groups, g.GroupID)
		}
	}
	if len(groups) == 0 {
		return nil
	}
	_, err = c.DeleteGroups(ctx, &kafka.DeleteGroupsRequest{GroupIDs: groups})
	return err
}
