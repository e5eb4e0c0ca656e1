package relevance

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
)

// sqlite is the library in SQLite's FTS5, held in the memory of the program
// sqlite3, with its English stems and its BM25.
type sqlite struct {
	program string
	fill    []byte // the statements that make and fill the table
}

const sqliteTable = `CREATE VIRTUAL TABLE judged USING fts5(title, tags, prompt, description, tool UNINDEXED, status UNINDEXED,
	shelf UNINDEXED, width UNINDEXED, created UNINDEXED, tokenize = 'porter unicode61');
`

// openSQLite fails when there is no sqlite3 with FTS5.
func openSQLite(program string, set *Set) (*sqlite, error) {
	if program == "" {
		var err error
		if program, err = exec.LookPath("sqlite3"); err != nil {
			return nil, err
		}
	}
	if out, err := execute(context.Background(), program, []byte(sqliteTable)); err != nil {
		return nil, fmt.Errorf("%w: %.200s", err, out)
	}
	var b bytes.Buffer
	b.WriteString(sqliteTable + "BEGIN;\n")
	for n, a := range set.assets {
		fmt.Fprintf(&b, "INSERT INTO judged(rowid, title, tags, prompt, description, tool, status, shelf, width, created) VALUES (%d", n)
		for _, v := range a.columns() {
			b.WriteString(", " + quote(fmt.Sprint(v)))
		}
		b.WriteString(");\n")
	}
	b.WriteString("COMMIT;\n")
	return &sqlite{program, b.Bytes()}, nil
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// execute runs statements on an empty database in memory.
func execute(ctx context.Context, program string, statements []byte) ([]byte, error) {
	c := exec.CommandContext(ctx, program, "-batch", "-bail", "-init", "/dev/null", ":memory:")
	c.Stdin = bytes.NewReader(statements)
	return c.Output()
}

// rank lets any word match, as with PostgreSQL.
func (l *sqlite) rank(ctx context.Context, queries []*Query) ([][]int, error) {
	b := bytes.NewBuffer(bytes.Clone(l.fill))
	for i, q := range queries {
		fmt.Fprintf(b, "SELECT 'query %d';\n", i)
		match := anyWord(q.Words)
		if match == "" {
			continue
		}
		for _, e := range q.Excluded {
			match = "(" + match + ") NOT " + phrase(e)
		}
		where := "judged MATCH " + quote(match)
		for _, c := range q.Conditions {
			where += " AND " + strings.Replace(c.sql(), "width >=", "CAST(width AS INTEGER) >=", 1)
		}
		fmt.Fprintf(b, "SELECT rowid FROM judged WHERE %s ORDER BY bm25(judged), rowid LIMIT %d;\n", where, depth)
	}
	answer, err := execute(ctx, l.program, b.Bytes())
	if err != nil {
		return nil, fmt.Errorf("sqlite3: %w", err)
	}
	return readRows(string(answer), len(queries))
}

// readRows takes the rankings out of what the program writes.
func readRows(answer string, queries int) ([][]int, error) {
	out := make([][]int, queries)
	at := -1
	for line := range strings.Lines(answer) {
		line = strings.TrimSpace(line)
		if n, ok := strings.CutPrefix(line, "query "); ok {
			line = n
		} else if at >= 0 {
			n, err := strconv.Atoi(line)
			if err != nil {
				return nil, err
			}
			out[at] = append(out[at], n)
			continue
		}
		n, err := strconv.Atoi(line)
		if err != nil || n >= queries {
			return nil, fmt.Errorf("sqlite3 answers %.100q", line)
		}
		at = n
	}
	return out, nil
}

// tokens are runs that FTS5 takes for one word.
var tokens = regexp.MustCompile(`[\p{L}\p{N}]+`)

func anyWord(text string) string {
	list := tokens.FindAllString(text, -1)
	for i, t := range list {
		list[i] = phrase(t)
	}
	return strings.Join(list, " OR ")
}

func phrase(text string) string { return `"` + text + `"` }
