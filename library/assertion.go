package library

import "encoding/json"

// AssertedPrompt returns the prompt of an uploader's claim, which is JSON, under the names
// that clients use; empty where it has none.
func AssertedPrompt(claim []byte) string {
	var c map[string]any
	if json.Unmarshal(claim, &c) != nil {
		return ""
	}
	for _, name := range []string{"prompt", "positive", "prompt_text", "positive_prompt"} {
		if s, ok := c[name].(string); ok && s != "" {
			return s
		}
	}
	return ""
}
