package query

import "vitrine/mappings"

// The values of has: and is:, each with what it compiles to.

type fieldValue struct {
	name   string
	clause clause
}

// hasFieldValues are the fields of the index that has: asks for.
func hasFieldValues() []fieldValue {
	var values []fieldValue
	for _, f := range mappings.Fields() {
		switch {
		case f.Has == "":
		case f.Mapping.Type == "boolean":
			values = append(values, fieldValue{f.Has, term(f.Name, true)})
		default:
			values = append(values, fieldValue{f.Has, exists(f.Name)})
		}
	}
	return values
}

func isFieldValues() []fieldValue {
	return []fieldValue{
		{"draft", term("status", "Draft")}, {"pending", term("status", "PendingApproval")},
		{"approved", term("status", "Approved")}, {"rejected", term("status", "Rejected")}, {"archived", term("status", "Archived")},
		{"image", term("media_type", "image")}, {"video", term("media_type", "video")}, {"audio", term("media_type", "audio")},
		{"model3d", term("media_type", "model3d")}, {"document", term("media_type", "document")},
		{"ai", term("ai", true)}, {"duplicate", term("duplicate", true)}, {"private", term("visibility", "private")}, {"favorite", term("favorite", true)},
		{"untagged", mustNot(exists("tags"))}, {"tagged", exists("tags")}, {"chained", term("chain", true)},
		{"root", all(term("has_child", true), mustNot(term("has_parent", true)))},
		{"landscape", bounds("aspect", "gt", squareMax)}, {"portrait", bounds("aspect", "lt", squareMin)},
		{"square", between("aspect", squareMin, squareMax)},
	}
}

// A picture whose sides differ by at most two percent counts as square.
const (
	squareMin = 0.98
	squareMax = 1.02
)

func hasValues() []string { return stateNames(hasFieldValues()) }
func isValues() []string  { return stateNames(isFieldValues()) }

func stateNames(states []fieldValue) []string {
	names := make([]string, len(states))
	for i, s := range states {
		names[i] = s.name
	}
	return names
}

func hasClauses() map[string]clause { return stateClauses(hasFieldValues()) }
func isClauses() map[string]clause  { return stateClauses(isFieldValues()) }

func stateClauses(states []fieldValue) map[string]clause {
	clauses := make(map[string]clause, len(states))
	for _, s := range states {
		clauses[s.name] = s.clause
	}
	return clauses
}
