package query

import (
	"strconv"
	"strings"

	"vitrine/library"
)

// The shortest texts that are tried as a name of one asset.
const (
	minHashBeginning = 8 // hex digits: as many as no two assets are likely to share
	minSeed          = 5 // digits: shorter numbers are words
)

// Scores of what a text names beside its words, where words are ranked by BM25.
const (
	scoreNamedFile = 25
	scoreNamedSeed = 20
)

// identifierClauses compiles what a text may be beside words: an asset's hash or its
// beginning, a seed, the path of a file, a model's file. People paste these, and
// none of them is in the words of an asset.
func (c *compiler) identifierClauses(t *Text, u clauseContext) []clause {
	var out []clause
	v := strings.ToLower(strings.TrimFunc(t.Value, isBlank))
	switch {
	case library.AssetHash(v).Valid():
		return []clause{constantScore(term("asset_h", v), scoreID)}
	case len(v) >= minHashBeginning && len(v) < 40 && strings.Trim(v, "0123456789abcdef") == "":
		out = append(out, constantScore(prefix("asset_h", v), scoreID))
	}
	if u == excluding && c.mode == Smart {
		return out
	}
	if len(v) >= minSeed && strings.Trim(v, "0123456789") == "" {
		if seed, err := strconv.ParseUint(v, 10, 64); err == nil {
			out = append(out, constantScore(term("seed", seed), scoreNamedSeed))
		}
	}
	if file := baseFilename(v); file != "" {
		out = append(out, constantScore(term("filename", file), scoreNamedFile))
	}
	if name := library.FoldModelName(v); name != "" && !strings.HasSuffix(v, name) {
		out = append(out, constantScore(term("model_names", name), scoreNamedFile))
	}
	return out
}

// baseFilename returns the last part of a path when it looks like a file's name, else nothing.
func baseFilename(path string) string {
	i := strings.LastIndexAny(path, `/\`)
	file := path[i+1:]
	if dot := strings.LastIndexByte(file, '.'); i < 0 || dot < 1 || dot == len(file)-1 {
		return ""
	}
	return file
}
