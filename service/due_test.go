package service

import (
	"testing"
	"time"
)

func TestBackups_AreDueByAgeOrByTheTimeOfDay(t *testing.T) {
	t.Parallel()
	at := func(text string) time.Time {
		t.Helper()
		when, err := time.ParseInLocation("2006-01-02 15:04", text, time.Local)
		if err != nil {
			t.Fatal(err)
		}
		return when
	}
	const day = 24 * time.Hour
	for _, c := range []struct {
		every     time.Duration
		at        string
		last, now string
		want      bool
	}{
		{day, "", "2026-03-01 10:00", "2026-03-02 09:59", false},
		{day, "", "2026-03-01 10:00", "2026-03-02 10:00", true},
		{time.Hour, "", "2026-03-01 10:00", "2026-03-01 11:01", true},
		{day, "03:30", "2026-03-01 03:31", "2026-03-01 23:59", false},
		{day, "03:30", "2026-03-01 03:31", "2026-03-02 03:29", false},
		{day, "03:30", "2026-03-01 03:31", "2026-03-02 03:30", true},
		{day, "03:30", "2026-03-01 18:00", "2026-03-02 03:30", true}, // one made by hand moves nothing
		{day, "03:30", "2026-03-01 03:31", "2026-03-05 12:00", true}, // the machine was off
		{7 * day, "03:30", "2026-03-01 03:31", "2026-03-07 12:00", false},
		{7 * day, "03:30", "2026-03-01 03:31", "2026-03-08 03:29", false},
		{7 * day, "03:30", "2026-03-01 03:31", "2026-03-08 03:30", true},
	} {
		b := BackupConfig{To: "x", Every: c.every, At: c.at}
		if got := b.due(at(c.last), at(c.now)); got != c.want {
			t.Errorf("every %s at %q: after %s, at %s it is due: %v", c.every, c.at, c.last, c.now, got)
		}
		if !b.due(time.Time{}, at(c.now)) {
			t.Errorf("every %s at %q: the first one is not due", c.every, c.at)
		}
		if errs := b.check("postgres://"); len(errs) > 0 {
			t.Errorf("%+v is refused: %v", b, errs)
		}
	}
	for _, bad := range []BackupConfig{{To: "x"}, {To: "x", Every: time.Second}, {To: "x", Every: day, At: "3 am"}, {To: "x", Every: 36 * time.Hour, At: "03:30"}} {
		if len(bad.check("postgres://")) == 0 {
			t.Errorf("%+v was taken", bad)
		}
	}
	if len((BackupConfig{To: "x", Every: day}).check("")) == 0 {
		t.Error("backups without the owner's login were taken")
	}
}
