package memory

// Memory of golang.org/x/image/vp8l, in bytes for each pixel: the picture, half of
// it once more where two pixels share a byte, and three pictures that are smaller by
// four in both directions for its transforms and its choice of codes.
const losslessPixel = 4 + 2 + 3*4/16.0

// LosslessWebP returns the bytes that golang.org/x/image/vp8l takes to decode so many
// pixels out of so much data. A file may have 2600 sets of five prefix codes, of up
// to 77 kB each: a few MB where they have a single symbol, which costs no data, and
// else no more than 340 bytes for one of data.
func LosslessWebP(pixels, data int64) int64 {
	return int64(losslessPixel*float64(pixels)) + min(8<<20+340*data, 208<<20)
}
