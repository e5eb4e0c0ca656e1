package op

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// WriteReference writes the reference pages of a catalog into dir: one per
// domain, resources.md for resources and prompts, and events.md. Pages of domains that are
// gone are removed.
func WriteReference(dir string, c Catalog) error { return WriteFiles(dir, ".md", reference(c)) }

// StaleReference names the files in dir that WriteReference would change, add or
// remove. It is empty when the pages tell the truth.
func StaleReference(dir string, c Catalog) ([]string, error) {
	return StaleFiles(dir, ".md", reference(c))
}

// ToolTable returns the operations as a Markdown table, for the README.
func ToolTable(c Catalog) string {
	var b strings.Builder
	b.WriteString("| Domain | Tool | REST | Permission | |\n|---|---|---|---|---|\n")
	for _, d := range Domains {
		for _, o := range inDomain(c, d) {
			fmt.Fprintf(&b, "| [%s](docs/guide/reference/%s.md) | [%s](docs/guide/reference/%s.md#%s)%s | `%s %s` | %s | %s |\n",
				d, d, o.Name, d, strings.ToLower(o.Name), restOnlyText(o, " (REST only)"), o.Method, o.Path, o.Permission, firstSentence(o.Doc))
		}
	}
	return b.String()
}

// restOnlyText returns a note for an operation that is no tool, and "" for others.
func restOnlyText(o Operation, words string) string {
	if o.RESTOnly {
		return words
	}
	return ""
}

func inDomain(c Catalog, d Domain) []Operation {
	var list []Operation
	for _, o := range c.Operations {
		if o.Domain == d {
			list = append(list, o)
		}
	}
	return list
}

func firstSentence(s string) string {
	if i := strings.Index(s, ". "); i >= 0 {
		s = s[:i+1]
	}
	return tableCell(s)
}

// reference renders the pages by file name.
func reference(c Catalog) map[string][]byte {
	files := map[string][]byte{}
	for _, d := range Domains {
		if list := inDomain(c, d); len(list) > 0 {
			files[string(d)+".md"] = domainPage(d, list)
		}
	}
	if len(c.Resources)+len(c.Prompts) > 0 {
		files["resources.md"] = resourcesPage(c)
	}
	if len(c.Events) > 0 {
		files["events.md"] = eventsPage(c.Events)
	}
	return files
}

const generated = "<!-- Made from the definitions of the operations. Change those, then run: vitrine docs -->\n\n"

func domainPage(d Domain, list []Operation) []byte {
	var b bytes.Buffer
	b.WriteString(generated)
	fmt.Fprintf(&b, "# %s\n\nEach operation is a REST route and, unless it says otherwise, an MCP tool with the same arguments and the same result.\n"+
		"`tenant_id` may always be left out: then it is the key's default tenant.\n\n", strings.ToUpper(string(d[:1]))+string(d[1:]))
	for _, o := range list {
		operationSection(&b, o)
	}
	return b.Bytes()
}

func operationSection(b *bytes.Buffer, o Operation) {
	fmt.Fprintf(b, "## %s\n\n%s\n\n`%s %s` · permission `%s` · %s%s", o.Name, o.FullDoc(), o.Method, o.Path, o.Permission, hints(o), restOnlyText(o, " · REST only, no tool"))
	if o.Rate != "" {
		fmt.Fprintf(b, " · rate limit `%s`", o.Rate)
	}
	b.WriteString("\n\n")
	table(b, "Argument", o.Input, true)
	table(b, "Result", o.Output, false)
	if o.Attaches {
		b.WriteString("With binary parts: image blocks or embedded resources over MCP, `attachments[]` with `mime_type` and `data_base64` over REST.\n\n")
	}
	if o.Example != nil {
		if example, err := json.MarshalIndent(o.Example, "", "  "); err == nil {
			fmt.Fprintf(b, "Example arguments:\n\n```json\n%s\n```\n\n", example)
		}
	}
}

func hints(o Operation) string {
	var words []string
	for _, h := range []struct {
		on   bool
		word string
	}{{o.ReadOnly, "read-only"}, {o.Destructive, "destructive"}, {o.Idempotent, "idempotent"}, {o.OpenWorld, "reaches outside"}} {
		if h.on {
			words = append(words, h.word)
		}
	}
	if len(words) == 0 {
		return "writes"
	}
	return strings.Join(words, ", ")
}

// table lists the fields of an object, nested ones by their path.
func table(b *bytes.Buffer, head string, s *huma.Schema, defaults bool) {
	rows := Fields(s)
	if len(rows) == 0 {
		return
	}
	if defaults {
		fmt.Fprintf(b, "| %s | Type | Default | Meaning |\n|---|---|---|---|\n", head)
	} else {
		fmt.Fprintf(b, "| %s | Type | Meaning |\n|---|---|---|\n", head)
	}
	for _, f := range rows {
		name := "`" + f.Path + "`"
		if defaults && f.Required {
			name += " **required**"
		}
		if defaults {
			fmt.Fprintf(b, "| %s | %s | %s | %s |\n", name, tableCell(f.Type()), defaultCell(f), tableCell(f.Schema.Description))
		} else {
			fmt.Fprintf(b, "| %s | %s | %s |\n", name, tableCell(f.Type()), tableCell(f.Schema.Description))
		}
	}
	b.WriteString("\n")
}

func defaultCell(f Field) string {
	if d := f.Default(); d != "" {
		return "`" + tableCell(d) + "`"
	}
	return ""
}

// tableCell makes text fit into a table.
func tableCell(s string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(s), " "), "|", `\|`)
}

func resourcesPage(c Catalog) []byte {
	var b bytes.Buffer
	b.WriteString(generated + "# MCP resources and prompts\n\nA URI with a {name} is a template: clients find it in resources/templates/list, not in resources/list.\n\n" +
		"| Resource | Type | Permission | Meaning |\n|---|---|---|---|\n")
	for _, r := range c.Resources {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", r.URI, r.MIMEType, r.Permission, tableCell(r.Doc))
	}
	b.WriteString("\n| Prompt | Arguments | Meaning |\n|---|---|---|\n")
	for _, p := range c.Prompts {
		var args []string
		for _, a := range p.Arguments {
			word := "`" + a.Name + "`"
			if a.Required {
				word += " (required)"
			}
			args = append(args, word)
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", p.Name, strings.Join(args, ", "), tableCell(p.Doc))
	}
	return b.Bytes()
}
