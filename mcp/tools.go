package mcp

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"vitrine/library"
	"vitrine/op"
)

// addTools renders every operation as a tool, except those that are of REST alone.
func (e *Endpoint) addTools(s *server.MCPServer) {
	seen := map[string]bool{}
	for _, o := range e.cfg.Catalog.Operations {
		if o.RESTOnly {
			continue
		}
		if seen[o.Name] {
			panic("mcp: two tools are called " + o.Name)
		}
		seen[o.Name] = true
		e.tools[o.Name] = toolOf(o)
		s.AddTool(minimalTool(o), e.callTool(o))
	}
}

// minimalTool is what mcp-go gets to know of a tool. It reads the schemas of a tool
// through at every call, for annotations that ours do not have; lists show the
// whole tool, see filterTools.
func minimalTool(o op.Operation) mcp.Tool {
	return mcp.Tool{Name: o.Name, RawInputSchema: json.RawMessage(`{"type":"object"}`)}
}

// toolOf describes an operation to a client. All four hints are always sent: what
// is left out counts as "writes, destroys, reaches outside".
func toolOf(o op.Operation) mcp.Tool {
	return mcp.Tool{
		Name: o.Name, Title: o.Title, Description: o.Doc, RawInputSchema: o.ToolInput(), RawOutputSchema: o.ToolOutput(),
		Annotations: mcp.ToolAnnotation{ReadOnlyHint: &o.ReadOnly, DestructiveHint: &o.Destructive,
			IdempotentHint: &o.Idempotent, OpenWorldHint: &o.OpenWorld},
	}
}

// filterTools leaves out of a list what the credential may not call or its tenant does not have, and describes
// the rest in full. A call of a hidden tool still says which permission is missing.
func (e *Endpoint) filterTools(ctx context.Context, _ any, _ *mcp.ListToolsRequest, result *mcp.ListToolsResult) {
	actor := stateOf(ctx).actor
	shown := make([]mcp.Tool, 0, len(result.Tools))
	for _, t := range result.Tools {
		if o, ok := e.cfg.Catalog.Find(t.Name); ok && actor.Can(o.Permission) && e.cfg.Caller.OffersDomain(ctx, actor.Tenant, o.Domain) {
			shown = append(shown, e.tools[t.Name])
		}
	}
	result.Tools = shown
}

// refuseUnknownTool words the protocol error of a tool that there is not.
func (e *Endpoint) refuseUnknownTool(ctx context.Context, id any, request *mcp.CallToolRequest) {
	name := request.Params.Name
	if _, known := e.tools[name]; known {
		return
	}
	message := "There is no such tool."
	if near := op.Nearest(name, slices.Sorted(maps.Keys(e.tools))); near != "" {
		message += " Did you mean " + near + "?"
	}
	v := stateOf(ctx)
	details := mcp.NewJSONRPCErrorDetails(mcp.INVALID_PARAMS, message+" tools/list has all of them.", nil)
	v.writer.id, v.writer.protocolErr = id, &details
}

// callTool answers tools/call for one operation. Errors are results with isError, so
// that the model sees them; protocol errors are mcp-go's.
func (e *Endpoint) callTool(o op.Operation) server.ToolHandlerFunc {
	return func(ctx context.Context, request mcp.CallToolRequest) (result *mcp.CallToolResult, err error) {
		v := stateOf(ctx)
		defer func() {
			if p := recover(); p != nil {
				result, err = e.errorResult(ctx, fmt.Errorf("panic in %s: %v\n%s", o.Name, p, debug.Stack())), nil
			}
		}()
		args, err := toolArguments(request.Params.RawArguments)
		if err != nil {
			return e.errorResult(ctx, err), nil
		}
		key, err := idempotencyKey(request.Params.Meta)
		if err != nil {
			return e.errorResult(ctx, err), nil
		}
		if listen := v.writer.progressFunc(request.Params.Meta); listen != nil {
			ctx = op.WithProgress(ctx, listen)
		}
		res, err := e.cfg.Caller.Call(ctx, o, v.actor, args, op.CallOptions{Transport: "mcp", IdempotencyKey: key})
		if err != nil {
			return e.errorResult(ctx, err), nil
		}
		encoded, err := op.EncodeOutput(res.Value)
		if err != nil {
			return e.errorResult(ctx, err), nil
		}
		return withAttachments(v.writer.result(encoded, op.Text(res.Value)), op.Attachments(res.Value)), nil
	}
}

// toolArguments reads arguments with their numbers exact; none at all is an
// empty object.
func toolArguments(raw json.RawMessage) (map[string]any, error) {
	if string(raw) == "null" {
		raw = nil
	}
	return op.ParseArguments(raw)
}

// idempotencyKey reads _meta.idempotency_key, the twin of REST's header.
func idempotencyKey(meta *mcp.Meta) (string, error) {
	switch key := meta.GetMetaField("idempotency_key").(type) {
	case nil:
		return "", nil
	case string:
		return key, nil
	}
	return "", library.Invalid(library.FieldError{Field: "_meta.idempotency_key", Code: "type", Message: "Expected a string."})
}

// withAttachments adds images as blocks that a model can look at, and other files as
// embedded resources or links, which clients store and no model reads.
func withAttachments(r *mcp.CallToolResult, list []op.Attachment) *mcp.CallToolResult {
	for _, a := range list {
		switch data := base64.StdEncoding.EncodeToString(a.Data); {
		case strings.HasPrefix(a.MIMEType, "image/"):
			r.Content = append(r.Content, mcp.NewImageContent(data, a.MIMEType))
		case a.Data != nil:
			r.Content = append(r.Content, mcp.NewEmbeddedResource(mcp.BlobResourceContents{URI: a.URI, MIMEType: a.MIMEType, Blob: data}))
		default:
			r.Content = append(r.Content, mcp.NewResourceLink(a.URI, a.Name, "", a.MIMEType))
		}
	}
	return r
}

// errorResult returns an error as a result: the problem that REST sends, as one line of
// JSON. It is text alone, since clients check structured content against the schema of
// the tool's success, and throw the error away with what does not fit.
func (e *Endpoint) errorResult(ctx context.Context, err error) *mcp.CallToolResult {
	e.logError(ctx, err)
	encoded, encodeErr := op.EncodeOutput(op.ProblemOf(err, op.RequestID(ctx)))
	if encodeErr != nil { // only structured detail can fail to encode
		encoded, _ = op.EncodeOutput(op.ProblemOf(encodeErr, op.RequestID(ctx)))
	}
	return stateOf(ctx).writer.errorResult(encoded)
}

// logError writes what the client must not see.
func (e *Endpoint) logError(ctx context.Context, err error) {
	f := library.AsError(err)
	if ctx.Err() != nil || f.Cause == nil && f.Kind != library.KindInternal {
		return
	}
	level := slog.LevelWarn
	if f.Kind == library.KindInternal {
		level = slog.LevelError
	}
	e.log.Log(ctx, level, "request failed", "request_id", op.RequestID(ctx), "code", f.Code, "cause", f.Cause)
}
