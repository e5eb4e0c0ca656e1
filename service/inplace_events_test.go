package service_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"vitrine/api/client"
	"vitrine/library"
	"vitrine/service"
	"vitrine/service/servicetest"
)

// endsOf lists the events that say of an import that it ended.
func endsOf(t *testing.T, e *servicetest.Env, id string) []library.ImportEvent {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), e.Cfg.PostgresURL)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	rows, err := conn.Query(t.Context(), `SELECT payload FROM events WHERE type = 'import.completed' AND key = 'import/' || $1
		UNION ALL SELECT payload FROM outbox WHERE topic = 'events' AND type = 'import.completed' AND key = 'import/' || $1`, id)
	if err != nil {
		t.Fatal(err)
	}
	payloads, err := pgx.CollectRows(rows, pgx.RowTo[[]byte])
	if err != nil {
		t.Fatal(err)
	}
	list := make([]library.ImportEvent, len(payloads))
	for n, p := range payloads {
		if err := json.Unmarshal(p, &list[n]); err != nil {
			t.Fatal(err)
		}
	}
	return list
}

// endsOnce fails the test unless one event says of an import that it ended, and this is it.
func endsOnce(t *testing.T, e *servicetest.Env, want library.ImportEvent) {
	t.Helper()
	if got := endsOf(t, e, want.ImportID); len(got) != 1 || got[0] != want {
		t.Errorf("%+v instead of one event %+v", got, want)
	}
}

func TestInPlace_AnImportThatEndsEmitsOneEventThoughItWasInterrupted(t *testing.T) {
	t.Parallel()
	e, dir := folderOf(t, service.RoleAPI, service.RoleRelay, service.RoleIndex)
	put(t, filepath.Join(dir, "out", "fox.png"), picture(60))
	put(t, filepath.Join(dir, "out", "same.png"), picture(60))
	put(t, filepath.Join(dir, "out", "notes.md"), []byte("# nothing"))
	put(t, filepath.Join(dir, "out", "empty.png"), nil)
	late := filepath.Join(dir, "out", "late.png") // it seems to be being written, so the import waits for it
	put(t, late, picture(61))
	written := func(at time.Time) {
		if err := os.Chtimes(late, at, at); err != nil {
			t.Fatal(err)
		}
	}
	written(time.Now().Add(time.Minute))
	started, err := e.Client("").StartImport(t.Context(), client.StartImportInput{Folder: "pictures/out"})
	if err != nil {
		t.Fatal(err)
	}
	run := func(until func(library.Import) bool) library.Import {
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- e.Imports.Run(ctx) }()
		i := awaitImport(t, e, started.ImportID, until)
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
		return i
	}
	run(func(i library.Import) bool { return i.Counts.Stored+i.Counts.Already == 2 })
	i, err := e.Store.Imports.Get(t.Context(), actorOf(e), started.ImportID)
	if ends := endsOf(t, e, started.ImportID); err != nil || i.State != library.ImportRunning || len(ends) > 0 {
		t.Fatalf("interrupted: %+v, events %+v, error %v", i, ends, err)
	}
	written(old)
	i = run(func(i library.Import) bool { return !i.State.Open() })
	c := i.Counts
	if i.State != library.ImportCompleted || c.Stored+c.Already != 3 || c.Failed+c.Skipped != 2 {
		t.Fatalf("%+v", i)
	}
	endsOnce(t, e, library.ImportEvent{ImportID: i.ID, Root: "pictures", Folder: "out", State: "completed",
		Counts: library.ImportEventCounts{Found: c.Found, Stored: c.Stored, Already: c.Already, Skipped: c.Skipped, Failed: c.Failed}})

	othersEmitNothing(t, e)
}

// othersEmitNothing ends another import in a process that holds it: one that lost it emits nothing, and neither
// does saying again that it ended.
func othersEmitNothing(t *testing.T, e *servicetest.Env) {
	t.Helper()
	again, err := e.Store.Imports.Start(t.Context(), actorOf(e), "pictures", "other", library.ImportOptions{})
	if err != nil {
		t.Fatal(err)
	}
	held, claimed, err := e.Store.Imports.Claim(t.Context(), again, "one", time.Minute)
	if err != nil || !claimed {
		t.Fatal(claimed, err)
	}
	held.State, held.Counts = library.ImportFailed, library.ImportCounts{Found: 7, Missing: 2}
	for _, holder := range []string{"another", "one", "one", "another"} {
		if end, err := e.Store.Imports.Save(t.Context(), held, holder, time.Minute, nil); err != nil || end != (holder == "another") {
			t.Errorf("%s: %t %v", holder, end, err)
		}
	}
	endsOnce(t, e, library.ImportEvent{ImportID: again.ID, Root: "pictures", Folder: "other", State: "failed", Counts: library.ImportEventCounts{Found: 7, Missing: 2}})
}

func TestInPlace_AnImportThatIsCancelledEmitsOneEvent(t *testing.T) {
	t.Parallel()
	e, dir := folderOf(t, service.RoleAPI, service.RoleRelay, service.RoleIndex)
	put(t, filepath.Join(dir, "one.png"), picture(70))
	api := e.Client("")
	cancel := func(id string) {
		for range 2 { // the second time it changes nothing
			if _, err := api.CancelImport(t.Context(), client.CancelImportInput{ImportID: id}); err != nil {
				t.Fatal(err)
			}
		}
	}
	queued, err := api.StartImport(t.Context(), client.StartImportInput{Folder: "pictures"})
	if err != nil {
		t.Fatal(err)
	}
	cancel(queued.ImportID) // nobody works on imports yet
	endsOnce(t, e, library.ImportEvent{ImportID: queued.ImportID, Root: "pictures", State: "cancelled"})

	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- e.Imports.Run(ctx) }()
	defer func() { stop(); <-done }()
	watching, err := api.StartImport(t.Context(), client.StartImportInput{Folder: "pictures", Watch: true})
	if err != nil {
		t.Fatal(err)
	}
	awaitImport(t, e, watching.ImportID, func(i library.Import) bool { return i.State == library.ImportWatching && i.Counts.Stored == 1 })
	if ends := endsOf(t, e, watching.ImportID); len(ends) > 0 {
		t.Errorf("one that watches has not ended: %+v", ends)
	}
	cancel(watching.ImportID)
	c := awaitImport(t, e, watching.ImportID, func(i library.Import) bool { return i.State == library.ImportCancelled }).Counts
	if c.Stored != 1 {
		t.Errorf("%+v", c)
	}
	endsOnce(t, e, library.ImportEvent{ImportID: watching.ImportID, Root: "pictures", State: "cancelled",
		Counts: library.ImportEventCounts{Found: c.Found, Stored: c.Stored, Already: c.Already}})
	endsOnce(t, e, library.ImportEvent{ImportID: queued.ImportID, Root: "pictures", State: "cancelled"})
}
