// Package draw is the small painter behind the sample library: a canvas of
// floating point colours with the few anti-aliased strokes, soft lights and
// noise fields that the scenes in internal/sample/scene are composed of.
//
// In come a size in pixels and strokes in pixel coordinates; out goes one
// 8-bit RGB picture (see Canvas.Finish). Everything random comes from Rand,
// so the same calls give the same bytes. The package opens no file, keeps no
// state between pictures and knows nothing of prompts or of file formats.
package draw
