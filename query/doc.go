// Package query is the search language of the library.
//
// In comes the text a person or an agent typed; out come a checked tree with
// warnings (Parse) and, for a request around it, the OpenSearch request parts
// that answer it (Compile). The way through the files is the way of the text:
//
//	lex → repair → grammar → build → passes (negate, fold, flatten) → compile
//
// The lexer takes any text, the repair turns any token list into one the grammar
// accepts, so parsing cannot fail on syntax; what had to be repaired is a
// warning, and in strict reading an error. A field of the language is declared with
// the field of the index that it is compared with, in package mappings: what people
// read about it (Reference, Summary) and how it compiles come from that row.
//
// participle parses OR, AND, NOT and groups. The lexer, the repair, runs of terms
// side by side and the values of fields are by hand: ten terms must take at most
// 60 µs of processor time, and take 50 to 54; with each term an alternative of the
// grammar they took 82 to 92 (docs/measurements/query.md).
//
// The package never touches the network, never emits regexp, query_string or
// script clauses, and never lets user text out of the tenant: the tenant filter
// is put around the compiled tree last.
package query
