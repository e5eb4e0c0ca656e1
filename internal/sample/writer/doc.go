// Package writer saves pictures the way image generators save them: the same
// containers, chunks, key names, number formats and escapes, so that a reader
// of generation data can be tried on files nobody has to share.
//
// In come a draw.Picture and a Job, the settings of one imagined generation;
// out go the bytes of one PNG or JPEG file and the Facts a reader must find
// in them. The layouts were taken from files the tools wrote; the graphs,
// model names and prompts are our own. The package draws nothing, names no
// file and touches no disk.
package writer
