package pngrow

// unfilter undoes a row's prediction in place (PNG specification, section 9). Both
// rows begin with their filter's number; pixel is the distance to the left
// neighbour in bytes. It reports false for a filter that does not exist.
func unfilter(row, above []byte, pixel int) bool {
	kind, row, above := row[0], row[1:], above[1:]
	above = above[:len(row)]
	switch kind {
	case 0:
	case 1:
		for i := pixel; i < len(row); i++ {
			row[i] += row[i-pixel]
		}
	case 2:
		for i, v := range above {
			row[i] += v
		}
	case 3:
		for i := range min(pixel, len(row)) {
			row[i] += above[i] / 2
		}
		for i := pixel; i < len(row); i++ {
			row[i] += byte((int(row[i-pixel]) + int(above[i])) / 2)
		}
	case 4:
		unfilterPaeth(row, above, pixel)
	default:
		return false
	}
	return true
}

// unfilterPaeth goes through one channel at a time, so that the left neighbours
// stay in registers.
func unfilterPaeth(row, above []byte, pixel int) {
	for c := range min(pixel, len(row)) {
		left, corner := 0, 0
		for i := c; i < len(row); i += pixel {
			up := int(above[i])
			// The neighbour that is nearest to left + up − corner.
			toLeft, toUp := up-corner, left-corner
			toCorner := abs(toLeft + toUp)
			toLeft, toUp = abs(toLeft), abs(toUp)
			nearest := corner
			switch {
			case toLeft <= toUp && toLeft <= toCorner:
				nearest = left
			case toUp <= toCorner:
				nearest = up
			}
			left = int(row[i]+byte(nearest)) & 0xff
			row[i] = byte(left)
			corner = up
		}
	}
}

func abs(n int) int { return max(n, -n) }
