package scene

import "vitrine/internal/sample/draw"

// figure returns a silhouette as a function over [-1,1]²: 0 outside, otherwise
// the brightness in (0,1] of that part of the figure.
func figure(key string) func(x, y float32) float32 {
	switch key {
	case "fish":
		return fishFigure
	case "rose":
		return roseFigure
	case "butterfly":
		return butterflyFigure
	case "sun":
		return sunFigure
	case "heart":
		return heartFigure
	case "moon":
		return moonFigure
	case "bird":
		return birdFigure
	default:
		return treeFigure
	}
}

func inEllipse(x, y, cx, cy, rx, ry float32) bool {
	dx, dy := (x-cx)/rx, (y-cy)/ry
	return dx*dx+dy*dy < 1
}

func fishFigure(x, y float32) float32 {
	switch {
	case inEllipse(x, y, -0.42, -0.08, 0.07, 0.07):
		return 1
	case inEllipse(x, y, -0.12, 0, 0.58, 0.32):
		return 0.62 - 0.4*y
	case x > 0.35 && x < 0.85 && draw.Abs(y) < (x-0.3)*0.85 && draw.Abs(y) > (x-0.62)*0.9:
		return 0.5
	case inEllipse(x, y, -0.02, -0.36, 0.3, 0.17), inEllipse(x, y, 0.02, 0.34, 0.2, 0.13):
		return 0.42
	}
	return 0
}

func roseFigure(x, y float32) float32 {
	if d := draw.Hypot(x, y+0.22); d < 0.56 {
		spiral := draw.Sin(draw.Atan2(y+0.22, x)*3 + d*16)
		return 0.55 + 0.25*spiral - 0.2*d
	}
	if draw.Abs(x-0.06*draw.Sin(y*5)) < 0.045 && y > 0.3 {
		return 0.3
	}
	return 0
}

func butterflyFigure(x, y float32) float32 {
	if draw.Abs(x) < 0.05 && draw.Abs(y) < 0.5 {
		return 0.3
	}
	a := draw.Abs(x)
	if inEllipse(a*0.8+y*0.6, y*0.8-a*0.6, 0.18, -0.55, 0.32, 0.46) {
		return 0.75 - 0.4*a
	}
	if inEllipse(a, y, 0.34, 0.36, 0.3, 0.3) {
		return 0.5
	}
	return 0
}

func sunFigure(x, y float32) float32 {
	d, a := draw.Hypot(x, y), draw.Atan2(y, x)
	if d < 0.36 {
		return 0.9 - 0.3*d
	}
	ray := draw.Abs(draw.Sin(a * 6))
	if d < 0.55+0.35*ray && ray > (d-0.36)*1.4 {
		return 0.62 - 0.2*d
	}
	return 0
}

func heartFigure(x, y float32) float32 {
	x, y = x*1.35, -y*1.35+0.1
	k := x*x + y*y - 0.7
	if k*k*k-x*x*y*y*y*1.6 < 0 {
		return 0.58 + 0.25*y
	}
	return 0
}

func moonFigure(x, y float32) float32 {
	if inEllipse(x, y, -0.05, 0, 0.68, 0.68) && !inEllipse(x, y, 0.22, -0.1, 0.56, 0.56) {
		return 0.85 + 0.3*x
	}
	if inEllipse(x, y, 0.42, -0.12, 0.1, 0.1) || inEllipse(x, y, 0.22, 0.3, 0.07, 0.07) {
		return 1
	}
	return 0
}

func birdFigure(x, y float32) float32 {
	switch {
	case inEllipse(x, y, -0.4, -0.28, 0.19, 0.18):
		return 0.8
	case x < -0.52 && x > -0.75 && draw.Abs(y+0.27) < (x+0.75)*0.3:
		return 1
	case inEllipse(x*0.87+y*0.5, y*0.87-x*0.5, 0.0, 0, 0.5, 0.27):
		return 0.62 - 0.3*y
	case inEllipse(x*0.6-y*0.8, y*0.6+x*0.8, 0.3, -0.05, 0.44, 0.17):
		return 0.45
	case x > 0.3 && x < 0.85 && draw.Abs(y-0.2-x*0.42) < 0.12:
		return 0.36
	}
	return 0
}

func treeFigure(x, y float32) float32 {
	if draw.Abs(x) < 0.07+0.12*draw.Smooth(0.5, 0.9, y) && y > 0 {
		return 0.25
	}
	if d := draw.Hypot(x, y+0.25); d < 0.55+0.08*draw.Sin(draw.Atan2(y+0.25, x)*7) {
		return 0.75 - 0.45*d
	}
	return 0
}
