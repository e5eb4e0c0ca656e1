// Package scene invents pictures. A Spec is the idea of one picture: what is
// to be seen, in which colours, at which time of day, in which manner. It has
// two readers that never meet: Draw paints it and Prompt words it. Because
// both read the same idea a prompt truly describes its picture, and a search
// for "red stained glass fish" has something to find.
//
// In come random numbers and a size; out go a draw.Picture and texts. The
// package writes no file and knows nothing of generators or their formats.
// To add a kind of picture, write its paint function and one row in kinds.
package scene
