package e2e

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"vitrine/api/client"
	"vitrine/internal/echo"
	"vitrine/library"
	"vitrine/prospectcsv"
	"vitrine/service/servicetest"
	"vitrine/store"
)

func (s sales) send(query, file string) (int, prospectcsv.Report, []byte) {
	s.T.Helper()
	status, answer, _ := s.Raw(http.MethodPost, "/api/v1/prospects/import?"+query, s.key, []byte(file), http.Header{"Content-Type": {"text/csv"}})
	var r prospectcsv.Report
	if status == 200 {
		if err := json.Unmarshal(answer, &r); err != nil {
			s.T.Fatal(err)
		}
	}
	return status, r, answer
}

func (s sales) receive(query string) [][]string {
	s.T.Helper()
	status, answer, _ := s.Raw(http.MethodGet, "/api/v1/prospects/export?"+query, s.key, nil, nil)
	rows, err := csv.NewReader(strings.NewReader(string(answer))).ReadAll()
	if status != 200 || err != nil {
		s.T.Fatalf("%d %v %.200s", status, err, answer)
	}
	return rows
}

// TestProspectCSV_FilesComeInLineByLineAndGoOutAgain imports a file with faults, exports it, and
// imports the export into another tenant.
func TestProspectCSV_FilesComeInLineByLineAndGoOutAgain(t *testing.T) {
	t.Parallel()
	s := newSales(t)
	file := "\uFEFFE-Mail;Full Name;Company;ICP score;Shoe size;pains\r\n" +
		"ada@example.com;Ada;=Example;80;38;\"loses renders\nno prompts\"\r\n" +
		"ben@example.com;'@Ben;\"O;ne\";;;\r\n" +
		";;;;;\r\n" +
		"not an email;Eve;One;10;;\r\n" +
		";Nobody;One;10;;\r\n" +
		"low@example.com;Low;One;many;;\r\n" +
		"far@example.com;Far;One;101;;\r\n" +
		"ADA@EXAMPLE.COM;Ada;=Example;80;;\r\n"
	status, dry, _ := s.send("record_source=fair&dry_run=true", file)
	if status != 200 || dry.Rows != 7 || dry.Failed != 4 || dry.Created != 0 || len(s.receive("")) != 1 {
		t.Errorf("a dry run: %d %+v", status, dry)
	}
	status, r, _ := s.send("record_source=fair", file)
	if status != 200 || r.Rows != 7 || r.Created != 2 || r.Unchanged != 1 || r.Failed != 4 || !slices.Equal(r.Ignored, []string{"Shoe size"}) || len(r.Operations) != 1 {
		t.Errorf("%d %+v", status, r)
	}
	for i, want := range []struct {
		line  int
		field string
	}{{6, "email"}, {7, "email"}, {8, "icp_score"}, {9, "icp_score"}} {
		if i >= len(r.Errors) || r.Errors[i].Line != want.line || r.Errors[i].Field != want.field {
			t.Errorf("error %d is not on line %d: %+v", i, want.line, r.Errors)
		}
	}
	if _, again, _ := s.send("record_source=fair", file); again.Created+again.Updated != 0 || again.Unchanged != 3 || len(again.Operations) != 0 {
		t.Errorf("the same file again: %+v", again)
	}
	out := s.receive("")
	if len(out) != 3 || slices.ContainsFunc(slices.Concat(out...), func(c string) bool { return c != "" && strings.ContainsAny(c[:1], "=+-@") }) {
		t.Errorf("exported: %q", out)
	}
	status, text, _ := s.Raw(http.MethodGet, "/api/v1/prospects/export", s.key, nil, nil)
	other := sales{s.Env, nil, s.NewKey(s.NewTenant("csv"), allPermissions...)}
	if _, copied, _ := other.send("record_source=copy", string(text)); status != 200 || copied.Created != 2 || copied.Failed != 0 || len(copied.Ignored) != 0 {
		t.Errorf("the export as an import: %+v", copied)
	}
	same := func(rows [][]string) (cells []string) {
		for _, row := range rows {
			cells = append(cells, strings.Join(row[:19], "|"))
		}
		slices.Sort(cells)
		return cells
	}
	if a, b := same(out), same(other.receive("")); !slices.Equal(a, b) {
		t.Errorf("exported %q, then %q", a, b)
	}
}

// TestProspectCSV_SuppressedPeopleAreLeftOutAndStaySuppressed imports a suppressed person.
func TestProspectCSV_SuppressedPeopleAreLeftOutAndStaySuppressed(t *testing.T) {
	t.Parallel()
	s := newSales(t)
	h := s.register(client.ProspectPerson{Email: "ada@example.com"}).ProspectH
	s.reply(h, client.ProspectReplyFields{Classification: "unsubscribe"})
	if _, r, _ := s.send("record_source=fair", "email,title\nada@example.com,Painter\n"); r.Updated != 1 || r.Suppressed != 1 || s.state(h).State.Status != "suppressed" {
		t.Errorf("%+v", r)
	}
	if some, all := s.receive(""), s.receive("include_suppressed=true&campaign="); len(some) != 1 || len(all) != 2 {
		t.Errorf("exported %q and %q", some, all)
	}
}

// TestProspectCSV_FilesOfSpreadsheetsInUTF16AreRead sends what spreadsheets save as Unicode text, in both orders of bytes.
func TestProspectCSV_FilesOfSpreadsheetsInUTF16AreRead(t *testing.T) {
	t.Parallel()
	s := newSales(t)
	for i, swap := range []bool{false, true} {
		var file strings.Builder
		for _, u := range utf16.Encode([]rune(fmt.Sprintf("\ufeffemail\tname\nzoe%d@example.com\tZoë 長 🎉\n", i))) {
			if b := []byte{byte(u), byte(u >> 8)}; swap {
				file.Write([]byte{b[1], b[0]})
			} else {
				file.Write(b)
			}
		}
		if status, r, answer := s.send("record_source=sheet", file.String()); status != 200 || r.Created != 1 {
			t.Errorf("%d %+v %s", status, r, answer)
		}
	}
	lines := s.receive("")
	if text := fmt.Sprint(lines); len(lines) != 3 || strings.Count(text, "Zoë 長 🎉") != 2 {
		t.Errorf("exported %q", lines)
	}
}

// TestProspectCSV_HostileFilesAreAnswered sends what is no proper file.
func TestProspectCSV_HostileFilesAreAnswered(t *testing.T) {
	t.Parallel()
	s := newSales(t)
	for name, c := range map[string]struct {
		query, file string
		status      int
	}{
		"nothing":           {"record_source=x", "", 400},
		"no known column":   {"record_source=x", "a,b\n1,2\n", 400},
		"no source":         {"", "email\na@example.com\n", 400},
		"dry_run":           {"record_source=x&dry_run=perhaps", "email\n", 400},
		"bytes":             {"record_source=x", "\x00\xff\xfe\x01", 400},
		"a quote":           {"record_source=x", "email\n\"a@example.com\nb@example.com\n", 200},
		"a long line":       {"record_source=x", "email\n\"" + strings.Repeat("x", 3<<20), 400},
		"cells":             {"record_source=x", "email,name\n\xff@example.com,\x00\n" + strings.Repeat(",", 500) + "\na@example.com" + strings.Repeat(",x", 300) + "\n", 200},
		"many columns":      {"record_source=x", strings.Repeat("email,", 5000) + "\n", 400},
		"a long cell":       {"record_source=x", "email,name\na@example.com," + strings.Repeat("n", 100_000) + "\n", 200},
		"numbers":           {"record_source=x", "email,icp_score\na@example.com,NaN\nb@example.com,Inf\nc@example.com,1e400\nd@example.com,-0.1\n", 200},
		"half of UTF-16":    {"record_source=x", "\xff\xfee\x00m\x00a", 400},
		"a million columns": {"record_source=x", strings.Repeat(",", 1_000_000) + "\n", 400},
		"separators in one": {"record_source=x", "email;name,title\n", 200},
	} {
		status, r, answer := s.send(c.query, c.file)
		if status != c.status || status == 200 && r.Created > 0 && name != "cells" {
			t.Errorf("%s: %d %+v %.300s", name, status, r, answer)
		}
	}
}

// TestOutreach_ATenantWithoutItNeitherSeesNorCallsIt turns outreach off.
func TestOutreach_ATenantWithoutItNeitherSeesNorCallsIt(t *testing.T) {
	t.Parallel()
	e := servicetest.Shared(t)
	tenant := e.NewTenant("without outreach")
	key := e.NewKey(tenant, allPermissions...)
	w := world{Env: e}
	names := func() (n int) {
		list := string(w.mcp(echo.Modern, key).Send(t, "tools/list", map[string]any{}).Body)
		for _, tool := range []string{"RegisterProspect", "SetProspectOwner", "LogOutreachTouch", "GetProspectState", "SearchProspects", "SuppressProspect", "LogReply", "SearchContacts"} {
			n += strings.Count(list, `"name":"`+tool+`"`)
		}
		return n
	}
	if n := names(); n != 8 {
		t.Errorf("%d tools are listed", n)
	}
	if _, err := e.Store.Limits.Set(t.Context(), library.Actor{Kind: library.ActorSystem, ID: "test"}, tenant, store.LimitChange{Outreach: new(false)}); err != nil {
		t.Fatal(err)
	}
	servicetest.Eventually(t, "outreach is turned off", func() error {
		if n := names(); n != 0 {
			return fmt.Errorf("%d tools are listed", n)
		}
		return nil
	})
	for _, path := range []string{"POST /api/v1/prospects", "GET /api/v1/contacts?pipeline=investor", "POST /api/v1/prospects/search", "DELETE /api/v1/prospects/" + strings.Repeat("4", 40),
		"GET /api/v1/prospects/export", "POST /api/v1/prospects/import?record_source=x"} {
		method, path, _ := strings.Cut(path, " ")
		body := `{"prospect": {"email": "ada@example.com"}, "record_source": "x"}`
		if strings.Contains(path, "search") {
			body = "{}"
		}
		if method == "DELETE" || method == "GET" {
			body = ""
		}
		header := http.Header{}
		if strings.Contains(path, "import") {
			header.Set("Content-Type", "text/csv")
		}
		status, answer, _ := e.Raw(method, path, key, []byte(body), header)
		var problem map[string]any
		if err := json.Unmarshal(answer, &problem); err != nil || status != 403 || codeOf(problem) != "DOMAIN_DISABLED" {
			t.Errorf("%s %s answers %d %.200s", method, path, status, answer)
		}
	}
	if r := w.mcp(echo.Modern, key).Call(t, "SearchContacts", map[string]any{"pipeline": "investor"}, nil); !r.IsError || !strings.Contains(string(r.Answer()), "DOMAIN_DISABLED") {
		t.Errorf("the tool answers %s", r.Answer())
	}
}
