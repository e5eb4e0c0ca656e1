package testenv

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"testing"
	"time"
)

// left is a name that a process left behind: no process has a number above four million.
var left = fmt.Sprintf("t%dx0a1b2c3d", 5_000_000+rand.IntN(1_000_000))

func TestSweep_ADatabaseLeftByAnEndedProcessIsDropped(t *testing.T) {
	server := Stack(t).PostgresURL
	if err := execute(t.Context(), server, `drop database if exists `+left); err != nil {
		t.Fatal(err)
	}
	if err := execute(t.Context(), server, `create database `+left); err != nil {
		t.Fatal(err)
	}
	mine := connect(t, Postgres(t)).Config().Database
	if err := dropAbandoned(t.Context(), server); err != nil {
		t.Fatal(err)
	}
	admin := connect(t, server)
	if n := count(t, admin, `select count(*) from pg_database where datname = $1`, left); n != 0 {
		t.Error("the database is still there")
	}
	if n := count(t, admin, `select count(*) from pg_database where datname = $1`, mine); n != 1 {
		t.Error("the database of this test was dropped with it")
	}
}

func TestSweep_AnIndexLeftByAnEndedProcessIsDeleted(t *testing.T) {
	url, prefix := OpenSearch(t)
	for _, name := range []string{left + "-assets", prefix + "assets"} {
		if code := request(t, http.MethodPut, url+"/"+name, `{}`); code != http.StatusOK {
			t.Fatalf("making an index answers %d", code)
		}
	}
	if err := deleteIndices(t.Context(), url, abandoned); err != nil {
		t.Fatal(err)
	}
	if code := request(t, http.MethodHead, url+"/"+left+"-assets", ""); code != http.StatusNotFound {
		t.Errorf("the index left behind answers %d", code)
	}
	if code := request(t, http.MethodHead, url+"/"+prefix+"assets", ""); code != http.StatusOK {
		t.Errorf("the index of this test answers %d", code)
	}
}

func TestSweep_ATopicLeftByAnEndedProcessIsDeleted(t *testing.T) {
	brokers, prefix := Kafka(t)
	for _, name := range []string{left + "-changed", prefix + "changed"} {
		Topic(t, brokers, name, 1)
	}
	ctx, cancel := context.WithTimeout(t.Context(), cleanupTimeout)
	defer cancel()
	if err := deleteTopics(ctx, brokers, abandoned); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(10 * time.Second); slices.Contains(topicNames(t, brokers), left+"-changed"); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the topic is still there")
		}
	}
	if !slices.Contains(topicNames(t, brokers), prefix+"changed") {
		t.Error("the topic of this test is gone")
	}
}
