// Package op says what an operation of Vitrine is: its name, sentence, route,
// permission and hints, its typed input and output, and how a call of it runs.
//
// A verb package (op/assets, op/search, …) defines each operation once, with
// Define. From that one value come the REST route and the OpenAPI entry, the MCP
// tool with its schemas, the reference page, the schema snapshot and the
// permission matrix. Both transports hand a flat map of arguments to Call, so a
// request means the same over either. The package knows no transport, no
// database and no index.
package op

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"vitrine/library"
)

// Domain is one of the 13 groups of operations.
type Domain string

// The domains, in the order documents list them.
const (
	Search      Domain = "search"
	Assets      Domain = "assets"
	Lineage     Domain = "lineage"
	Collections Domain = "collections"
	Annotations Domain = "annotations"
	Models      Domain = "models"
	Prompts     Domain = "prompts"
	Experiments Domain = "experiments"
	Pipelines   Domain = "pipelines"
	Stages      Domain = "stages"
	Automation  Domain = "automation"
	Publishing  Domain = "publishing"
	Outreach    Domain = "outreach"
)

// Domains lists them in that order.
var Domains = []Domain{Search, Assets, Lineage, Collections, Annotations, Models, Prompts, Experiments, Pipelines, Stages, Automation, Publishing, Outreach}

// RateClass names a request budget. The empty class has none.
type RateClass string

// RateSearch is the search budget: 120 requests per minute per key.
const RateSearch RateClass = "search"

// Meta is what an operation says about itself.
type Meta struct {
	Name   string // the MCP tool's name and the OpenAPI operation id, for example SearchAssets
	Title  string // a few words for people
	Doc    string // what it does and returns, for a person or an agent choosing a tool; at most 1,000 characters
	More   string // what only documents say further: details that nobody needs to choose or call it
	Domain Domain
	Method string // HTTP method of its REST route
	Path   string // REST path with {name} for arguments, for example /api/v1/assets/{asset_h}
	Status int    // HTTP status of success; 0 means 200
	// Creates is the route of what a write creates, by the names of members of its output,
	// for example /api/v1/assets/{asset.asset_h}. The answer has it in Location, with the
	// status 201, or 200 when the member created is false.
	Creates    string
	Permission library.Permission
	Rate       RateClass
	Limit      time.Duration // how long a call may take before it is answered 503; 0 means 30 s
	RESTOnly   bool          // no MCP tool: it serves programs that move bytes, such as the importer
	// Conditional is set for a write that honors If-Match: it, or the store, calls CheckVersion
	// in the transaction that writes. Its output is Versioned, unless it deletes.
	Conditional bool
	Chained     bool // programs pass parts of its result on to other calls, so its tool has an output schema

	// AnyOf are arguments of which at least one is required, OneOf those of which exactly one
	// is. The OpenAPI document states both; tools have them in their descriptions.
	AnyOf, OneOf []string

	// The four MCP hints; every one is always sent.
	ReadOnly    bool
	Destructive bool
	Idempotent  bool
	OpenWorld   bool

	Example any // a valid input; tests run it over both transports
}

// FullDoc returns all that documents say of an operation.
func (m Meta) FullDoc() string { return strings.TrimSpace(m.Doc + " " + m.More) }

// SuccessStatus returns the HTTP status of a success, that of a creation where it creates
// something.
func (m Meta) SuccessStatus() int {
	switch {
	case m.Creates != "":
		return http.StatusCreated
	case m.Status == 0:
		return http.StatusOK
	}
	return m.Status
}

// Operation is one operation, ready to be rendered and called.
type Operation struct {
	Meta
	Input  *huma.Schema // flat object, no references
	Output *huma.Schema // flat object, no references
	// Attaches is set where outputs may carry attachments.
	Attaches bool
	// Identifiers are the places of the input that name something; see IDKind.
	Identifiers []Identifier
	// listed is how the tool lists some arguments; see listedFields.
	listed map[string]string
	call   func(ctx context.Context, actor library.Actor, raw []byte) (any, error)
	// in and out are the Go types that the schemas were made of.
	in, out reflect.Type
}

// Types returns the Go types of the input and the output, for generators of code.
func (o Operation) Types() (in, out reflect.Type) { return o.in, o.out }

// Handler is the work of an operation: typed input in, typed output out. Errors
// are *library.Error; any other error counts as a defect of ours.
type Handler[I, O any] func(ctx context.Context, actor library.Actor, in I) (O, error)

// Validator is implemented by inputs with rules across fields, such as "exactly
// one of". It runs after the schema's own checks.
type Validator interface{ Validate() []library.FieldError }

// Define makes an operation out of its description and its work. It panics on a
// description that no transport could render: that is a defect of the program.
func Define[I, O any](meta Meta, work Handler[I, O]) Operation {
	o := Operation{Meta: meta, Input: schemaOf[I](), Output: schemaOf[O](),
		Attaches: reflect.TypeFor[O]().Implements(reflect.TypeFor[Attacher]()), in: reflect.TypeFor[I](), out: reflect.TypeFor[O]()}
	if !o.Attaches && reflect.TypeFor[*O]().Implements(reflect.TypeFor[Attacher]()) {
		panic(fmt.Sprintf("operation %s: Attachments needs a value receiver, for outputs travel as values", meta.Name))
	}
	ids, err := identifiersOf(reflect.TypeFor[I](), nil)
	o.Identifiers, o.listed = ids, listedFields(reflect.TypeFor[I]())
	if err := errors.Join(err, o.check()); err != nil {
		panic(fmt.Sprintf("operation %s: %v", meta.Name, err))
	}
	o.call = func(ctx context.Context, actor library.Actor, raw []byte) (any, error) {
		var in I
		d := json.NewDecoder(bytes.NewReader(raw))
		d.UseNumber() // free objects keep seeds beyond 2^53
		if err := d.Decode(&in); err != nil {
			var wrong *json.UnmarshalTypeError
			if errors.As(err, &wrong) && wrong.Field != "" {
				return nil, library.Invalid(mismatch(wrong))
			}
			return nil, library.NewError(library.KindInvalid, library.CodeMalformedJSON,
				"The arguments do not have the shape of this operation's input; compare them with its schema.")
		}
		if v, ok := any(&in).(Validator); ok {
			if errs := v.Validate(); len(errs) > 0 {
				return nil, library.Invalid(errs...)
			}
		}
		return work(ctx, actor, in)
	}
	return o
}

// mismatch names the field whose type cannot hold a value that the schema let pass.
func mismatch(wrong *json.UnmarshalTypeError) library.FieldError {
	if strings.HasPrefix(wrong.Value, "number") {
		return library.FieldError{Field: shorten(wrong.Field), Code: "range", Message: "The number is larger than any that this field takes."}
	}
	return library.FieldError{Field: shorten(wrong.Field), Code: "type", Message: "The value is not one that this field takes; compare it with the operation's schema."}
}

// check holds what every rendering relies on.
func (o Operation) check() error {
	switch {
	case o.Name == "" || o.Title == "" || o.Doc == "" || o.Domain == "" || o.Method == "" || o.Path == "" || o.Permission == "":
		return fmt.Errorf("name, title, doc, domain, method, path and permission are all needed")
	case slices.ContainsFunc(slices.Concat(o.AnyOf, o.OneOf), func(name string) bool { return o.Input.Properties[name] == nil }):
		return fmt.Errorf("AnyOf and OneOf must name arguments")
	case len(o.Doc) > 1000:
		return fmt.Errorf("doc has %d characters; clients cut after 1,000", len(o.Doc))
	case o.ReadOnly && o.Destructive:
		return fmt.Errorf("it cannot be both read-only and destructive")
	case o.Input.Type != huma.TypeObject || o.Output.Type != huma.TypeObject:
		return fmt.Errorf("input and output must be objects")
	}
	for _, s := range []*huma.Schema{o.Input, o.Output} {
		if s.OneOf != nil || s.AnyOf != nil || s.AllOf != nil {
			return fmt.Errorf("schemas must be flat: some clients refuse a top-level choice")
		}
	}
	return nil
}

// TenantInput is embedded by every input: which tenant the call is for. It may
// always be left out; then it is the credential's default tenant.
type TenantInput struct {
	TenantID string `json:"tenant_id,omitempty" id:"tenant" format:"uuid" doc:"Tenant (workspace). Leave out for the key's default tenant."`
}

// Indexed is embedded by the output of every write that search will show later.
type Indexed struct {
	IndexToken string `json:"index_token,omitempty" doc:"Pass as min_index_token to a search that must see this write."`
}

// Undoable is embedded by the output of every write that UndoOperation can take back.
type Undoable struct {
	OperationID string `json:"operation_id,omitempty" doc:"Pass to UndoOperation to revert this write. Empty when nothing changed."`
}

// Attachment is binary content that goes beside an output: an MCP content block,
// a base64 field over REST. One without data is a link, over MCP alone.
type Attachment struct {
	MIMEType string
	Data     []byte
	URI      string // of what is no picture: where else it can be had
	Name     string // of a link
}

// Attacher is implemented by outputs that carry attachments.
type Attacher interface{ Attachments() []Attachment }
