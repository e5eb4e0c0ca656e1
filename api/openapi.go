package api

import (
	"cmp"
	"encoding/json"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"vitrine/op"
)

// Document describes every route as OpenAPI 3.1: the operations from their own
// definitions, the extra routes from what they say about themselves.
func Document(cfg Config, extra []ExtraRoute) *huma.OpenAPI {
	doc := &huma.OpenAPI{
		OpenAPI: "3.1.0",
		Info: &huma.Info{Title: "Vitrine", Version: cfg.Version,
			Description: "Digital asset library for AI-generated media. Every operation is an MCP tool of the same name, with the same arguments and the same result."},
		Components: &huma.Components{
			Schemas: problemRegistry(),
			SecuritySchemes: map[string]*huma.SecurityScheme{
				"bearer": {Type: "http", Scheme: "bearer", Description: "Authorization: Bearer <API key>"},
				"key":    {Type: "apiKey", In: "header", Name: "X-API-Key"},
			},
		},
	}
	if cfg.PublicURL != "" {
		doc.Servers = []*huma.Server{{URL: strings.TrimSuffix(cfg.PublicURL, "/")}}
	}
	for _, o := range cfg.Catalog.Operations {
		doc.AddOperation(describeOperation(o))
	}
	for _, x := range extra {
		doc.AddOperation(describeExtra(x))
	}
	doc.Webhooks = map[string]*huma.PathItem{}
	for _, e := range cfg.Catalog.Events {
		doc.Webhooks[e.Name] = describeEvent(e)
	}
	doc.Tags = tagsOf(cfg.Catalog)
	return doc
}

func tagsOf(c op.Catalog) []*huma.Tag {
	tags := []*huma.Tag{}
	for _, d := range op.Domains {
		if slices.ContainsFunc(c.Operations, func(o op.Operation) bool { return o.Domain == d }) {
			tags = append(tags, &huma.Tag{Name: string(d)})
		}
	}
	return append(tags, &huma.Tag{Name: "service", Description: "Routes that are not operations."})
}

func describeOperation(o op.Operation) *huma.Operation {
	d := &huma.Operation{Method: o.Method, Path: o.Path, OperationID: o.Name, Summary: o.Title, Tags: []string{string(o.Domain)},
		Description: o.FullDoc() + "\n\nPermission: " + string(o.Permission) + ".", Security: keySecurity}
	body := &huma.Schema{Type: huma.TypeObject, Properties: map[string]*huma.Schema{}, AdditionalProperties: false}
	inPath := pathArguments(o)
	for _, name := range argumentNames(o.Input) {
		schema, required := strict(name, o.Input.Properties[name]), slices.Contains(o.Input.Required, name)
		switch {
		case inPath[name] != "":
			d.Parameters = append(d.Parameters, &huma.Param{Name: inPath[name], In: "path", Required: true, Description: schema.Description, Schema: schema})
		case o.Method == http.MethodGet || o.Method == http.MethodDelete:
			d.Parameters = append(d.Parameters, queryParameter(name, schema, required))
		default:
			body.Properties[name] = schema
			if required {
				body.Required = append(body.Required, name)
			}
		}
	}
	if rules(o, body); len(body.Properties) > 0 {
		d.RequestBody = &huma.RequestBody{Required: len(body.Required) > 0 || len(o.AnyOf) > 0 || len(o.OneOf) > 0, Content: map[string]*huma.MediaType{
			jsonType: {Schema: body, Example: exampleBody(o, inPath)}}}
	}
	d.Parameters = append(d.Parameters, headerParameters(o)...)
	d.Responses = problemResponses(o)
	done := func(words string, headers map[string]*huma.Param) *huma.Response {
		return &huma.Response{Description: words, Headers: headers, Content: map[string]*huma.MediaType{jsonType: {Schema: outputSchema(o)}}}
	}
	switch {
	case o.Creates != "":
		created := responseHeaders(o)
		created["Location"] = &huma.Param{Schema: &huma.Schema{Type: huma.TypeString, Format: "uri-reference"}, Description: "What was created."}
		d.Responses["201"] = done("Created.", created)
		if o.Output.Properties["created"] != nil {
			d.Responses["200"] = done("It was there already.", responseHeaders(o))
		}
	default:
		d.Responses[strconv.Itoa(o.SuccessStatus())] = done("Done.", responseHeaders(o))
	}
	return d
}

func queryParameter(name string, schema *huma.Schema, required bool) *huma.Param {
	p := &huma.Param{Name: name, In: "query", Required: required, Description: schema.Description, Schema: schema}
	if schema.Type == huma.TypeObject {
		explode := true
		p.Style, p.Explode = "deepObject", &explode
	}
	return p
}

var keySecurity = []map[string][]string{{"bearer": {}}, {"key": {}}}

// argumentNames returns the names in a stable order.
func argumentNames(s *huma.Schema) []string {
	names := make([]string, 0, len(s.Properties))
	for name := range s.Properties {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// pathArguments maps an argument to the placeholder that carries it.
func pathArguments(o op.Operation) map[string]string {
	in := map[string]string{}
	for _, m := range placeholders.FindAllStringSubmatch(o.Path, -1) {
		in[o.Field(m[1])] = m[1]
	}
	return in
}

// exampleBody returns the operation's example without what the path carries.
func exampleBody(o op.Operation, inPath map[string]string) any {
	if o.Example == nil {
		return nil
	}
	raw, err := json.Marshal(o.Example)
	if err != nil {
		return nil
	}
	args, err := op.ParseArguments(raw)
	if err != nil {
		return nil
	}
	for name := range inPath {
		delete(args, name)
	}
	return args
}

func headerParameters(o op.Operation) []*huma.Param {
	text := func(n int) *huma.Schema { return &huma.Schema{Type: huma.TypeString, MaxLength: &n} }
	list := []*huma.Param{{Name: "X-Tenant-ID", In: "header", Schema: &huma.Schema{Type: huma.TypeString, Format: "uuid"},
		Description: "Tenant, one of those of the key. The argument tenant_id takes precedence."}}
	if !o.ReadOnly {
		key := text(255)
		key.Pattern = "^[!-~]{1,255}$" // see op: printable ASCII without spaces
		list = append(list, &huma.Param{Name: "Idempotency-Key", In: "header", Schema: key,
			Description: "A repeat within 24 hours with the same key and the same request returns the first response."})
	}
	if o.Conditional {
		list = append(list, &huma.Param{Name: "If-Match", In: "header", Schema: text(1000),
			Description: "ETag of the version that the change is meant for; 412 when it is another by now."})
	}
	return list
}

func responseHeaders(o op.Operation) map[string]*huma.Param {
	text := &huma.Schema{Type: huma.TypeString}
	h := map[string]*huma.Param{"X-Request-Id": {Schema: text}}
	if o.Rate != "" {
		h["RateLimit"], h["RateLimit-Policy"] = &huma.Param{Schema: text}, &huma.Param{Schema: text}
	}
	if o.Method == http.MethodGet || o.Conditional {
		h["ETag"] = &huma.Param{Schema: text}
	}
	if o.Method == http.MethodGet && (o.Input.Properties["cursor"] != nil || o.Input.Properties["offset"] != nil) {
		h["Link"] = &huma.Param{Schema: text, Description: "The next page, with rel=\"next\"; absent on the last."}
	}
	return h
}

// problemResponses lists what any operation may answer, in words for people.
func problemResponses(o op.Operation) map[string]*huma.Response {
	statuses := []int{400, 401, 403, 404, 500, 503}
	if o.Method != http.MethodGet && o.Method != http.MethodDelete {
		statuses = append(statuses, 409, 413, 415, 422, 507)
	}
	if o.Method == http.MethodDelete {
		statuses = append(statuses, 409, 422)
	}
	if !o.ReadOnly || o.Method == http.MethodGet { // for If-Match
		statuses = append(statuses, 412)
	}
	if o.Rate != "" {
		statuses = append(statuses, 429)
	}
	out := map[string]*huma.Response{"default": problemResponse("Another error.")}
	for _, s := range statuses {
		out[strconv.Itoa(s)] = problemResponse(http.StatusText(s) + ".")
	}
	return out
}

func problemResponse(words string) *huma.Response {
	return &huma.Response{Description: words, Content: map[string]*huma.MediaType{
		"application/problem+json": {Schema: &huma.Schema{Ref: "#/components/schemas/Problem"}}}}
}

func problemRegistry() huma.Registry {
	r := huma.NewMapRegistry("#/components/schemas/", huma.DefaultSchemaNamer)
	r.Schema(reflect.TypeFor[op.Problem](), true, "Problem")
	return r
}

// outputSchema adds the part that only REST puts into the JSON.
func outputSchema(o op.Operation) *huma.Schema {
	if !o.Attaches {
		return o.Output
	}
	s := *o.Output
	s.Properties = make(map[string]*huma.Schema, len(o.Output.Properties)+1)
	for name, p := range o.Output.Properties {
		s.Properties[name] = p
	}
	s.Properties["attachments"] = &huma.Schema{Type: huma.TypeArray, Description: "Binary parts, such as a preview image.", Items: &huma.Schema{
		Type: huma.TypeObject, Required: []string{"mime_type", "data_base64"}, AdditionalProperties: false,
		Properties: map[string]*huma.Schema{"mime_type": {Type: huma.TypeString}, "data_base64": {Type: huma.TypeString, ContentEncoding: "base64"}}}}
	return &s
}

func schemaOrText(s *huma.Schema) *huma.Schema {
	if s == nil {
		return &huma.Schema{Type: huma.TypeString}
	}
	return s
}

func describeExtra(x ExtraRoute) *huma.Operation {
	d := &huma.Operation{Method: x.Method, Path: x.Path, OperationID: x.Name, Summary: x.Summary, Description: x.Doc, Tags: []string{x.Tag}}
	for _, m := range placeholders.FindAllStringSubmatch(x.Path, -1) {
		d.Parameters = append(d.Parameters, &huma.Param{Name: m[1], In: "path", Required: true, Schema: schemaOrText(x.PathSchemas[m[1]])})
	}
	for _, q := range x.Query {
		d.Parameters = append(d.Parameters, &huma.Param{Name: q.Name, In: "query", Required: q.Required, Description: q.Doc, Schema: schemaOrText(q.Schema)})
	}
	if x.Consumes != "" {
		d.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{x.Consumes: {}}}
	}
	done := &huma.Response{Description: "Done."}
	if x.Produces != "" {
		done.Content = map[string]*huma.MediaType{x.Produces: {}}
	}
	d.Responses = map[string]*huma.Response{strconv.Itoa(cmp.Or(x.Status, http.StatusOK)): done, "default": problemResponse("An error.")}
	d.Security = []map[string][]string{}
	if x.NeedsKey {
		d.Security = keySecurity
	}
	return d
}

// describeEvent describes the message of an event type.
func describeEvent(e op.EventType) *huma.PathItem {
	return &huma.PathItem{Post: &huma.Operation{OperationID: e.Name, Summary: e.Doc, Tags: []string{"events"},
		Description: e.Doc + " It is a message of the stream GET /api/v1/events.",
		RequestBody: &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{jsonType: {Schema: e.EventSchema()}}},
		Responses:   map[string]*huma.Response{"200": {Description: "Received."}}}}
}
