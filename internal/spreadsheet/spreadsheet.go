// Package spreadsheet writes tables as CSV that spreadsheets open as they were meant: no text is
// taken for a formula.
package spreadsheet

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// IsFormula reports whether a spreadsheet would take a text for a formula.
func IsFormula(s string) bool {
	s = strings.TrimLeft(s, " \u00a0")
	return s != "" && strings.ContainsRune("=+-@\t\r\n＝＋－＠|%", []rune(s)[0])
}

// Text returns a text as a cell, with an apostrophe before what a spreadsheet would take for a
// formula.
func Text(s string) string {
	if IsFormula(s) {
		return "'" + s
	}
	return s
}

// Cell returns a JSON value as a cell: nothing for null, numbers in full and without an exponent
// where they are whole, texts as Text does, and lists and objects as JSON.
func Cell(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return Text(v)
	case json.Number:
		return v.String()
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case bool, int, int64, uint64:
		return fmt.Sprint(v)
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return Text(fmt.Sprint(v))
	}
	return Text(string(raw))
}

// Write writes a table as CSV with a line of names first.
func Write(w io.Writer, columns []string, rows [][]any) error {
	out := csv.NewWriter(w)
	out.UseCRLF = true // RFC 4180
	line := make([]string, 0, len(columns))
	for _, c := range columns {
		line = append(line, Text(c))
	}
	if err := out.Write(line); err != nil {
		return err
	}
	for _, row := range rows {
		line = line[:0]
		for _, v := range row {
			line = append(line, Cell(v))
		}
		if err := out.Write(line); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}
