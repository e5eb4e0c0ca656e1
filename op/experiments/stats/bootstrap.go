package stats

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// Interval is an estimate with its confidence interval.
type Interval struct {
	Estimate, Low, High float64
}

// resamples is how many bootstrap samples an interval takes.
const resamples = 4000

// BootstrapMean returns the mean of values with a bias-corrected and accelerated (BCa)
// bootstrap interval. The values are independent of each other: one per run, not one per
// evaluator. It is false for fewer than two values, which have no interval.
func BootstrapMean(values []float64) (Interval, bool) {
	n := len(values)
	if n < 2 {
		return Interval{Mean(values), math.NaN(), math.NaN()}, false
	}
	mean := Mean(values)
	if slices.Min(values) == slices.Max(values) {
		return Interval{mean, mean, mean}, true
	}
	r := generator()
	means := make([]float64, resamples)
	below := 0.0
	for i := range means {
		sum := 0.0
		for range n {
			sum += values[r.IntN(n)]
		}
		means[i] = sum / float64(n)
		switch {
		case means[i] < mean:
			below++
		case means[i] == mean:
			below += 0.5
		}
	}
	slices.Sort(means)
	bias := distuv.UnitNormal.Quantile(min(max(below/resamples, 1/float64(resamples)), 1-1/float64(resamples)))
	acceleration := jackknifeAcceleration(values, mean)
	at := func(tail float64) float64 {
		z := bias + distuv.UnitNormal.Quantile(tail)
		return quantile(means, distuv.UnitNormal.CDF(bias+z/(1-acceleration*z)))
	}
	return Interval{mean, at((1 - Level) / 2), at((1 + Level) / 2)}, true
}

// jackknifeAcceleration returns how fast the standard error of the mean changes with it.
func jackknifeAcceleration(values []float64, mean float64) float64 {
	n := float64(len(values))
	squares, cubes := 0.0, 0.0
	for _, v := range values {
		d := (v - mean) / (n - 1) // the mean less the mean without v has this size
		squares += d * d
		cubes += d * d * d
	}
	if squares == 0 {
		return 0
	}
	return cubes / (6 * math.Pow(squares, 1.5))
}

// quantile interpolates in sorted values.
func quantile(sorted []float64, p float64) float64 {
	at := min(max(p, 0), 1) * float64(len(sorted)-1)
	i := int(at)
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
}
