package strip

import "image"

// span is which source pixels an output pixel covers along one side: those from first on,
// each with its share.
type span struct {
	first  int
	shares []float32
}

// spans divides n source pixels among m output pixels.
func spans(n, m int) []span {
	out := make([]span, m)
	for i := range out {
		from, to := float64(i)*float64(n)/float64(m), float64(i+1)*float64(n)/float64(m)
		out[i].first = int(from)
		for p := int(from); float64(p) < to && p < n; p++ {
			share := min(to, float64(p+1)) - max(from, float64(p))
			out[i].shares = append(out[i].shares, float32(share/(to-from)))
		}
	}
	return out
}

// shrink returns a picture in which every pixel is the mean of the area that it covers,
// weighted by how opaque that is.
func shrink(m *image.NRGBA, w, h int) *image.NRGBA {
	out := image.NewNRGBA(image.Rect(0, 0, w, h))
	across, down := spans(m.Rect.Dx(), w), spans(m.Rect.Dy(), h)
	sum := make([]float32, 4*w)
	for y, rows := range down {
		clear(sum)
		for i, share := range rows.shares {
			row := m.Pix[(rows.first+i)*m.Stride:]
			for x, columns := range across {
				for k, part := range columns.shares {
					px := row[4*(columns.first+k):][:4]
					a := float32(px[3]) * part * share
					s := sum[4*x:][:4]
					s[0] += float32(px[0]) * a
					s[1] += float32(px[1]) * a
					s[2] += float32(px[2]) * a
					s[3] += a
				}
			}
		}
		line := out.Pix[y*out.Stride:]
		for x := range w {
			s, px := sum[4*x:][:4], line[4*x:][:4]
			if s[3] <= 0 {
				continue
			}
			for k := range 3 {
				px[k] = uint8(min(255, s[k]/s[3]+0.5))
			}
			px[3] = uint8(min(255, s[3]+0.5))
		}
	}
	return out
}
