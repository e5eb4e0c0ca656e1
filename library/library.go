// Package library holds the nouns of Vitrine: plain types, the names they go by,
// and the rules about them that need no input or output.
//
// It imports nothing else of the project, so every other package can speak in
// its words. It never touches a database, a file, the network or a clock.
package library
