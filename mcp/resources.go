package mcp

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"vitrine/library"
	"vitrine/op"
)

// errProtocol ends a handler whose answer stands in the reply.
var errProtocol = errors.New("refused")

// addResources renders resources, and templates where the URI has a {name}.
func (e *Endpoint) addResources(s *server.MCPServer) {
	for _, r := range e.cfg.Catalog.Resources {
		if strings.Contains(r.URI, "{") {
			t := mcp.NewResourceTemplate(r.URI, r.Name, mcp.WithTemplateDescription(r.Doc), mcp.WithTemplateMIMEType(r.MIMEType))
			t.Title = r.Title
			s.AddResourceTemplate(t, server.ResourceTemplateHandlerFunc(e.readResource(r)))
			continue
		}
		res := mcp.NewResource(r.URI, r.Name, mcp.WithResourceDescription(r.Doc), mcp.WithMIMEType(r.MIMEType))
		res.Title = r.Title
		s.AddResource(res, e.readResource(r))
	}
}

// filterResources leaves out of a list what the credential may not read.
func (e *Endpoint) filterResources(ctx context.Context, _ any, _ *mcp.ListResourcesRequest, result *mcp.ListResourcesResult) {
	result.Resources = slices.DeleteFunc(slices.Clone(result.Resources), func(r mcp.Resource) bool { return !e.canRead(ctx, r.URI) })
}

// filterTemplates does the same for templates.
func (e *Endpoint) filterTemplates(ctx context.Context, _ any, _ *mcp.ListResourceTemplatesRequest, result *mcp.ListResourceTemplatesResult) {
	result.ResourceTemplates = slices.DeleteFunc(slices.Clone(result.ResourceTemplates), func(r mcp.ResourceTemplate) bool { return !e.canRead(ctx, r.URITemplate.Raw()) })
}

func (e *Endpoint) canRead(ctx context.Context, uri string) bool {
	i := slices.IndexFunc(e.cfg.Catalog.Resources, func(r op.Resource) bool { return r.URI == uri })
	return i >= 0 && hasPermission(stateOf(ctx).actor, e.cfg.Catalog.Resources[i])
}

func hasPermission(actor library.Actor, r op.Resource) bool {
	return r.Permission == "" || actor.Can(r.Permission)
}

// readResource answers resources/read for one resource.
func (e *Endpoint) readResource(r op.Resource) server.ResourceHandlerFunc {
	return func(ctx context.Context, request mcp.ReadResourceRequest) (contents []mcp.ResourceContents, err error) {
		v := stateOf(ctx)
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("panic in %s: %v\n%s", r.URI, p, debug.Stack())
			}
			if err != nil {
				contents, err = nil, e.protocolError(ctx, err)
			}
		}()
		if !hasPermission(v.actor, r) {
			return nil, op.MissingPermission(r.Permission, "this resource")
		}
		value, err := r.Read(ctx, v.actor, variables(request.Params.Arguments))
		if err != nil {
			return nil, err
		}
		text, ok := value.(string)
		if !ok {
			encoded, err := op.EncodeOutput(value)
			if err != nil {
				return nil, err
			}
			text = string(encoded)
		}
		return []mcp.ResourceContents{mcp.TextResourceContents{URI: request.Params.URI, MIMEType: r.MIMEType, Text: library.VisibleText(text)}}, nil
	}
}

// variables returns a template's values as text.
func variables(args map[string]any) map[string]string {
	vars := make(map[string]string, len(args))
	for name, v := range args {
		switch v := v.(type) {
		case string:
			vars[name] = v
		case []string:
			vars[name] = strings.Join(v, ",")
		}
	}
	return vars
}

// protocolError notes the protocol error that stands for an error, with the error's
// problem as its data. What does not exist has a code of its own in the older
// revisions.
func (e *Endpoint) protocolError(ctx context.Context, err error) error {
	e.logError(ctx, err)
	v, f := stateOf(ctx), library.AsError(err)
	code := mcp.INVALID_PARAMS
	switch f.Kind {
	case library.KindNotFound:
		if !v.modern {
			code = mcp.RESOURCE_NOT_FOUND
		}
	case library.KindInternal, library.KindUnavailable, library.KindRateLimited, library.KindStorageFull:
		code = mcp.INTERNAL_ERROR
	}
	details := mcp.NewJSONRPCErrorDetails(code, f.Detail, op.ProblemOf(err, op.RequestID(ctx)))
	v.writer.protocolErr = &details
	return errProtocol
}

// addPrompts renders prompts.
func (e *Endpoint) addPrompts(s *server.MCPServer) {
	for _, p := range e.cfg.Catalog.Prompts {
		m := mcp.Prompt{Name: p.Name, Title: p.Title, Description: p.Doc}
		for _, a := range p.Arguments {
			m.Arguments = append(m.Arguments, mcp.PromptArgument{Name: a.Name, Description: a.Doc, Required: a.Required})
		}
		s.AddPrompt(m, e.getPrompt(p))
	}
}

// getPrompt answers prompts/get for one prompt.
func (e *Endpoint) getPrompt(p op.Prompt) server.PromptHandlerFunc {
	return func(ctx context.Context, request mcp.GetPromptRequest) (result *mcp.GetPromptResult, err error) {
		defer func() {
			if r := recover(); r != nil {
				result, err = nil, e.protocolError(ctx, fmt.Errorf("panic in prompt %s: %v\n%s", p.Name, r, debug.Stack()))
			}
		}()
		var errs []library.FieldError
		for _, a := range p.Arguments {
			if a.Required && strings.TrimSpace(request.Params.Arguments[a.Name]) == "" {
				errs = append(errs, library.FieldError{Field: a.Name, Code: "required", Message: "It is required.", Hint: a.Doc})
			}
		}
		if len(errs) > 0 {
			return nil, e.protocolError(ctx, library.Invalid(errs...))
		}
		return &mcp.GetPromptResult{Description: p.Doc, Messages: []mcp.PromptMessage{
			mcp.NewPromptMessage(mcp.RoleUser, mcp.NewTextContent(p.Render(request.Params.Arguments)))}}, nil
	}
}
