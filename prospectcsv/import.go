package prospectcsv

import (
	"bufio"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/unicode"

	"vitrine/library"
	"vitrine/op"
	"vitrine/op/prospects"
	"vitrine/store"
)

// The limits of an import.
const (
	maxBytes   = 256 << 20
	maxLine    = 2 << 20
	maxColumns = 200
	maxErrors  = 1000 // that are listed; all are counted
	batchRows  = 200  // of one transaction, which is one operation
)

// Report is what became of an import.
type Report struct {
	Rows       int        `json:"rows" doc:"Lines of the file below the header, empty ones left out."`
	Created    int        `json:"created"`
	Updated    int        `json:"updated" doc:"People who were known, and of whom something new was recorded."`
	Unchanged  int        `json:"unchanged" doc:"Lines that say nothing new. Nothing was written."`
	Failed     int        `json:"failed"`
	Suppressed int        `json:"suppressed" doc:"People among them who are suppressed: do not write to them."`
	Errors     []RowError `json:"errors" doc:"The first 1,000."`
	Ignored    []string   `json:"ignored_columns"`
	DryRun     bool       `json:"dry_run"`
	Operations []string   `json:"operation_ids" doc:"One per 200 lines, for UndoOperation."`
}

// RowError is what is wrong with a line.
type RowError struct {
	Line    int    `json:"line" doc:"Of the file, from 1."`
	Field   string `json:"field"`
	Code    string `json:"code"`
	Message string `json:"message"`
}

func (r *Report) fail(line int, errs ...library.FieldError) {
	r.Failed++
	for _, e := range errs {
		if len(r.Errors) < maxErrors {
			r.Errors = append(r.Errors, RowError{line, e.Field, e.Code, e.Message})
		}
	}
}

// Import registers the prospects of a CSV file, line by line. Lines that are wrong are reported and do not
// keep the others back.
func (s *Service) Import(w http.ResponseWriter, r *http.Request, actor library.Actor) error {
	if !s.Caller.OffersDomain(r.Context(), actor.Tenant, domain) {
		return op.DomainDisabled(domain)
	}
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind != "text/csv" {
		return library.NewError(library.KindUnsupported, library.CodeUnsupportedMedia, "Send the file with Content-Type: text/csv.")
	}
	query := r.URL.Query()
	source := strings.TrimSpace(query.Get("record_source"))
	if n := utf8.RuneCountInString(source); n == 0 || n > 200 || !utf8.ValidString(source) || strings.ContainsRune(source, 0) {
		return library.Invalid(library.FieldError{Field: "record_source", Code: "length", Message: "Expected 1 to 200 characters: where this comes from."})
	}
	dry := false
	if v := query.Get("dry_run"); v != "" {
		var err error
		if dry, err = strconv.ParseBool(v); err != nil {
			return library.Invalid(library.FieldError{Field: "dry_run", Code: "type", Message: "Expected true or false."})
		}
	}
	ctx := library.WithCall(r.Context(), library.Call{Tool: "ImportProspects", Permission: library.PermWrite, RequestID: library.CallFrom(r.Context()).RequestID})
	report, err := s.read(ctx, actor, http.MaxBytesReader(w, r.Body, maxBytes), source, dry)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	return json.NewEncoder(w).Encode(report)
}

// pending is a line on its way into the library.
type pending struct {
	line int
	new  store.NewProspect
}

func (s *Service) read(ctx context.Context, actor library.Actor, body io.Reader, source string, dry bool) (*Report, error) {
	in := &meter{r: body}
	lines, columns, report, err := open(in)
	if err != nil {
		return nil, err
	}
	report.DryRun = dry
	var batch []pending
	for {
		in.since = 0
		record, err := lines.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			var broken *csv.ParseError
			if !errors.As(err, &broken) {
				return nil, readError(err)
			}
			report.Rows++
			report.fail(broken.StartLine, library.FieldError{Code: "format", Message: "The quotes of this line do not fit."})
			continue
		}
		if !slices.ContainsFunc(record, func(c string) bool { return strings.TrimSpace(c) != "" }) {
			continue
		}
		report.Rows++
		line, _ := lines.FieldPos(0)
		person, errs := personOf(columns, record)
		if errs = append(errs, person.Check()...); len(errs) > 0 {
			report.fail(line, errs...)
			continue
		}
		if batch = append(batch, pending{line, person.Record(source)}); len(batch) == batchRows {
			if err := s.write(ctx, actor, batch, report); err != nil {
				return nil, err
			}
			batch = batch[:0]
		}
	}
	return report, s.write(ctx, actor, batch, report)
}

// meter refuses lines so long that they would fill the memory: those whose quote never ends.
type meter struct {
	r     io.Reader
	since int // bytes since the line began
}

var errLongLine = library.Invalid(library.FieldError{Field: "body", Code: "length", Message: "A line is longer than 2 MB: probably a quote is not closed. Lines before it are recorded."})

// Read implements io.Reader.
func (m *meter) Read(b []byte) (int, error) {
	if m.since > maxLine {
		return 0, errLongLine
	}
	n, err := m.r.Read(b)
	m.since += n
	return n, err
}

// readError is the answer to a body that cannot be read on.
func readError(err error) error {
	var large *http.MaxBytesError
	if errors.Is(err, errLongLine) {
		return errLongLine
	}
	if errors.As(err, &large) {
		return library.NewError(library.KindTooLarge, library.CodePayloadTooLarge, "The file is larger than %d MB. What was read until then is recorded; send the rest as further files, lines that are recorded already do no harm.", maxBytes>>20)
	}
	return library.ClientClosed(err)
}

// open reads the header: which separator the file has, and which column is what.
func open(body io.Reader) (*csv.Reader, []*field, *Report, error) {
	in := bufio.NewReaderSize(body, 64<<10)
	if mark, _ := in.Peek(3); string(mark) == "\uFEFF" {
		_, _ = in.Discard(3)
	} else if len(mark) >= 2 && (string(mark[:2]) == "\xff\xfe" || string(mark[:2]) == "\xfe\xff") { // as spreadsheets save "Unicode text"
		in = bufio.NewReaderSize(unicode.UTF16(unicode.LittleEndian, unicode.ExpectBOM).NewDecoder().Reader(in), 64<<10)
	}
	lines := csv.NewReader(in)
	lines.FieldsPerRecord, lines.ReuseRecord, lines.LazyQuotes = -1, true, false
	head, _ := in.Peek(4 << 10)
	first, _, _ := strings.Cut(string(head), "\n")
	for _, separator := range ";\t" {
		if strings.Count(first, string(separator)) > strings.Count(first, string(lines.Comma)) {
			lines.Comma = separator
		}
	}
	header, err := lines.Read()
	var broken *csv.ParseError
	if err != nil && !errors.Is(err, io.EOF) && !errors.As(err, &broken) {
		return nil, nil, nil, readError(err)
	}
	report := &Report{Errors: []RowError{}, Ignored: []string{}, Operations: []string{}}
	var columns []*field
	known := 0
	for _, name := range header {
		f := columnNamed(name)
		if f != nil && slices.Contains(columns, f) {
			f = nil
		}
		if columns = append(columns, f); f != nil {
			known++
		} else if clean := strings.TrimSpace(strings.ToValidUTF8(name, "\uFFFD")); !contains(state, clean) && len(report.Ignored) < maxColumns {
			report.Ignored = append(report.Ignored, clean)
		}
	}
	if known == 0 || len(header) > maxColumns {
		var names []string
		for _, f := range fields {
			names = append(names, f.name)
		}
		return nil, nil, nil, library.Invalid(library.FieldError{Field: "body", Code: "format", Message: "The first line has to name the columns, at most 200, some of: " + strings.Join(names, ", ") + "."})
	}
	return lines, columns, report, nil
}

// personOf reads a line.
func personOf(columns []*field, record []string) (p prospects.Person, errs []library.FieldError) {
	for i, c := range record {
		if i >= len(columns) || columns[i] == nil {
			continue
		}
		if !utf8.ValidString(c) || strings.ContainsRune(c, 0) {
			errs = append(errs, library.FieldError{Field: columns[i].name, Code: "format", Message: "The cell is no UTF-8 text. Save the file as UTF-8."})
			continue
		}
		switch f, value := columns[i], text(c); {
		case f.text != nil:
			*f.text(&p) = value
		case f.list != nil && value != "":
			*f.list(&p) = strings.FieldsFunc(value, func(r rune) bool { return r == '\n' || r == '\r' })
		case f.float != nil && value != "":
			n, err := strconv.ParseFloat(value, 64)
			if err != nil {
				errs = append(errs, library.FieldError{Field: f.name, Code: "type", Message: "Expected a number such as 80 or 99.5."})
				continue
			}
			*f.float(&p) = &n
		}
	}
	return p, errs
}

// write registers a batch in one transaction; a dry run ends there.
func (s *Service) write(ctx context.Context, actor library.Actor, batch []pending, report *Report) error {
	if len(batch) == 0 || report.DryRun {
		return nil
	}
	list := make([]store.NewProspect, len(batch))
	for i := range batch {
		list[i] = batch[i].new
	}
	results, operation, err := s.Store.Prospects.RegisterAll(ctx, actor, list)
	if err != nil {
		return err
	}
	if operation != "" {
		report.Operations = append(report.Operations, operation)
	}
	for i, r := range results {
		if r.Suppressed {
			report.Suppressed++
		}
		switch {
		case r.Err != nil:
			report.fail(batch[i].line, library.FieldError{Code: "conflict", Message: r.Err.Detail})
		case r.Unchanged:
			report.Unchanged++
		case r.Created:
			report.Created++
		default:
			report.Updated++
		}
	}
	return nil
}
