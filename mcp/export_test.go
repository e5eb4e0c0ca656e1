package mcp

import (
	"encoding/json"

	"vitrine/op"
)

// ToolJSON returns a tool as lists show it.
func ToolJSON(o op.Operation) (json.RawMessage, error) { return json.Marshal(toolOf(o)) }
