// Package prompts holds the operations on the prompt library: templates with variables,
// their versions, labels and evaluations, and the images that were made with them. One file
// per operation.
package prompts

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"vitrine/library"
	"vitrine/op"
	"vitrine/op/assets"
	"vitrine/prompt"
	"vitrine/store"
)

// Service is what the operations of this package work with.
type Service struct {
	Store *store.Store
	Links assets.Links
	// Similar finds the prompts whose meaning is like that of a text, each with how alike
	// they are; nil: searches are by words only.
	Similar func(ctx context.Context, tenant library.TenantID, text string) map[library.PromptHash]float64
}

// Operations lists this package's operations.
func (s *Service) Operations() []op.Operation {
	return []op.Operation{
		s.createPrompt(), s.getPrompt(), s.searchPrompts(), s.renderPrompt(), s.updatePrompt(),
		s.getPromptImages(), s.proposePrompts(), s.deletePrompt(),
	}
}

// What stands for a prompt and an asset in examples.
const (
	examplePrompt = "7b0c1d6c2f5f0d6e1a8e1c0b5a9d4c3e2f1a0b9c"
	exampleAsset  = "da39a3ee5e6b4b0d3255bfef95601890afd80709"
	exampleText   = "a {{mood|calm}} portrait of {{subject}}, {{light:enum(soft, hard)|soft}} studio light"
)

// OfPrompt is embedded by inputs that name a prompt.
type OfPrompt struct {
	PromptH string `json:"prompt_h" id:"prompt" pattern:"^[0-9a-fA-F]{40}$" patternDescription:"a hash of 40 hex digits"`
}

func (in OfPrompt) hash() library.PromptHash {
	return library.PromptHash(strings.ToLower(in.PromptH))
}

// OfVersion is embedded by inputs that name a version of a prompt.
type OfVersion struct {
	OfPrompt
	Version string `json:"version,omitempty" maxLength:"50" doc:"Number, label, version_h or latest. Default: the one labeled production, else the latest."`
}

func (in OfVersion) version() string { return strings.ToLower(strings.TrimSpace(in.Version)) }

// Prompt is a prompt as it is shown. Outputs embed it.
type Prompt struct {
	Hash        library.PromptHash `json:"prompt_h" doc:"The prompt with all its versions."`
	Name        string             `json:"name"`
	Description string             `json:"description"`
	Category    string             `json:"category"`
	TargetModel string             `json:"target_model"`
	Tags        []string           `json:"tags"`
	CreatedAt   time.Time          `json:"created_at"`
	CreatedBy   string             `json:"created_by"`
	UpdatedAt   time.Time          `json:"updated_at"`
	revision    int64
}

// ResourceVersion implements op.Versioned.
func (p Prompt) ResourceVersion() int64 { return p.revision }

func describe(p library.Prompt) Prompt {
	return Prompt{Hash: p.Hash, Name: p.Name, Description: p.Description, Category: p.Category, TargetModel: p.TargetModel, Tags: append([]string{}, p.Tags...),
		CreatedAt: p.CreatedAt.UTC(), CreatedBy: p.CreatedBy, UpdatedAt: p.UpdatedAt.UTC(), revision: p.Revision}
}

// Version is a version of a prompt as it is shown. Outputs embed it.
type Version struct {
	VersionH    library.PromptVersionHash `json:"version_h"`
	Number      int                       `json:"version" doc:"From 1."`
	Text        string                    `json:"prompt_text"`
	Message     string                    `json:"message,omitempty" doc:"What its author says about it."`
	Author      string                    `json:"author"`
	VersionedAt time.Time                 `json:"version_created_at"`
	Labels      []string                  `json:"labels" doc:"Labels that point at this version."`
}

func describeVersion(v library.PromptVersion) Version {
	return Version{VersionH: v.Hash, Number: v.Number, Text: v.Text, Message: v.Message, Author: v.CreatedBy, VersionedAt: v.CreatedAt.UTC(), Labels: append([]string{}, v.Labels...)}
}

// Variable is a variable of a template as it is shown.
type Variable struct {
	Name     string   `json:"name"`
	Type     string   `json:"type" enum:"text,integer,number,enum"`
	Options  []string `json:"options,omitempty" doc:"Of the type enum."`
	Default  *string  `json:"default,omitempty"`
	Required bool     `json:"required" doc:"It has no default."`
}

// variablesOf lists the variables of a text, and warnings about it. A text of an older
// release that is no template any more has none.
func variablesOf(text string) (list []Variable, warnings []string) {
	list = []Variable{}
	t, errs := prompt.Parse(text)
	if len(errs) > 0 {
		return list, nil
	}
	for _, v := range t.Variables() {
		list = append(list, Variable{Name: v.Name, Type: string(v.Type), Options: v.Options, Default: v.Default, Required: v.Default == nil})
	}
	return list, t.Warnings
}

// checkText refuses a text that is no template.
func checkText(text string) []library.FieldError {
	text = prompt.Clean(text)
	if text == "" {
		return []library.FieldError{{Field: "prompt_text", Code: "length", Message: "The text is empty."}}
	}
	_, errs := prompt.Parse(text)
	return errs
}

var (
	labelForm   = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]*$`)
	versionForm = regexp.MustCompile(`^([0-9]+|[0-9a-f]{40})$`)
)

// labels reads labels in lower case; those that could be no label are errors.
func labels(field string, sent []string) (list []string, errs []library.FieldError) {
	for i, l := range sent {
		l = strings.ToLower(strings.TrimSpace(l))
		e := library.FieldError{Field: fmt.Sprintf("%s[%d]", field, i), Code: "format"}
		switch {
		case !labelForm.MatchString(l) || len(l) > library.MaxPromptLabel:
			e.Message = fmt.Sprintf("A label has 1 to %d letters a-z, digits, _, . and -, and begins with a letter or digit.", library.MaxPromptLabel)
		case l == store.LatestVersion:
			e.Message = "latest always means the newest version."
		case versionForm.MatchString(l):
			e.Message = "A label may not look like a version's number or hash."
		default:
			list = append(list, l)
			continue
		}
		errs = append(errs, e)
	}
	return list, errs
}

// tagErrors checks tags by what is left of them once cleaned.
func tagErrors(tags []string) (errs []library.FieldError) {
	for i, t := range tags {
		if n := utf8.RuneCountInString(library.CleanTag(t)); n == 0 || n > library.MaxTag {
			errs = append(errs, library.FieldError{Field: fmt.Sprintf("tags[%d]", i), Code: "length",
				Message: fmt.Sprintf("A tag has 1 to %d characters that are not all spaces.", library.MaxTag)})
		}
	}
	return errs
}
