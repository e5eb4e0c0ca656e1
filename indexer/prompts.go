package indexer

import (
	"context"
	"encoding/json"
	"regexp"
	"strings"

	"vitrine/embed"
	"vitrine/mappings"
	"vitrine/store"
	"vitrine/store/indexstate"
)

// promptDefinition is the index of prompts.
func promptDefinition(st *store.Store) *Definition {
	return Definition{
		Index: mappings.PromptIndex(),
		Read: func(ctx context.Context, keys []indexstate.DocumentKey) ([]Row, []indexstate.Generation, error) {
			docs, generations, err := st.Prompts.Documents(ctx, keys)
			rows := make([]Row, len(docs))
			for i := range docs {
				rows[i] = Row{docs[i].DocumentHead, (*promptContent)(&docs[i])}
			}
			return rows, generations, err
		},
	}.Table(st.Prompts.Table())
}

// promptContent is a prompt as its document is made of it.
type promptContent store.PromptDocument

// maxPromptTexts bounds the versions whose words are found.
const maxPromptTexts = 50

// Whole implements Content.
func (p *promptContent) Whole(dst []byte, version int64) (doc []byte, text string) {
	latest := ""
	if len(p.Texts) > 0 {
		latest = filledIn(p.Texts[0])
	}
	parts := []string{p.Name, p.Prompt.Description, latest}
	return p.write(dst, version, p.Texts[:min(len(p.Texts), maxPromptTexts)], ""), embed.Text("", strings.Join(parts, ". "), "", nil)
}

// Partial implements Content: without the texts of earlier versions.
func (p *promptContent) Partial(dst []byte, version int64, reason string) []byte {
	return p.write(dst, version, p.Texts[:min(len(p.Texts), 1)], reason)
}

// Named implements Content.
func (p *promptContent) Named(dst []byte, version int64, reason string) []byte {
	return p.write(dst, version, nil, reason)
}

func (p *promptContent) write(dst []byte, version int64, texts []string, problem string) []byte {
	b, err := json.Marshal(mappings.PromptDocument{TenantID: p.Tenant, PromptH: p.Hash, DocVersion: version,
		Name: p.Name, Description: p.Prompt.Description, Texts: texts, Category: p.Category, TargetModel: p.TargetModel, Tags: p.Tags, Labels: p.Labels,
		Updated: instant(p.Prompt.UpdatedAt), IndexError: problem})
	if err != nil {
		panic(err) // strings and times
	}
	return append(dst, b...)
}

// variable is a variable of a template: its name and its default.
var variable = regexp.MustCompile(`\{\{\s*([\w-]+)[^{}|]*(?:\|([^{}]*))?\}\}`)

// filledIn returns a template with the defaults of its variables, or their names, in their
// places: what its renders are about.
func filledIn(template string) string {
	return variable.ReplaceAllStringFunc(template, func(v string) string {
		m := variable.FindStringSubmatch(v)
		if m[2] != "" {
			return m[2]
		}
		return strings.ReplaceAll(m[1], "_", " ")
	})
}
