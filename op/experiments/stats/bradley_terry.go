package stats

import (
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"
)

// normalQuantile is how many standard errors an interval reaches to each side.
var normalQuantile = distuv.UnitNormal.Quantile((1 + Level) / 2)

// priorWeight is the weight of the squared log-strengths where comparisons alone have no best
// fit: that of a normal prior with a standard deviation of 1.
const priorWeight = 0.5

// pairCount is how often two items were compared, by outcome.
type pairCount struct {
	a, b             int
	aWon, bWon, tied float64
}

func (p pairCount) total() float64 { return p.aWon + p.bWon + p.tied }

// strengthFit is a fitted model of n items: their log-strengths and, where there are ties,
// the logarithm of the tie parameter behind them.
type strengthFit struct {
	n           int
	params      []float64
	pairs       []pairCount
	weight      float64 // of the squares of all parameters
	regularized bool
	inverse     *mat.SymDense // of the information, the mean of the strengths held
}

// fitStrengths finds the parameters of the highest likelihood. The items are connected.
func fitStrengths(n int, comparisons []Comparison) *strengthFit {
	f := &strengthFit{n: n, pairs: countPairs(n, comparisons)}
	won, tied := 0.0, 0.0
	for _, p := range f.pairs {
		won, tied = won+p.aWon+p.bWon, tied+p.tied
	}
	f.params = make([]float64, n)
	if tied > 0 {
		f.params = make([]float64, n+1)
	}
	if len(components(n, comparisons, true)) > 1 || won == 0 {
		f.regularized, f.weight = true, priorWeight
	}
	f.climb()
	return f
}

func countPairs(n int, comparisons []Comparison) []pairCount {
	at := map[[2]int]int{}
	var pairs []pairCount
	for _, c := range comparisons {
		lo, hi := min(c.A, c.B), max(c.A, c.B)
		i, ok := at[[2]int{lo, hi}]
		if !ok {
			i = len(pairs)
			at[[2]int{lo, hi}], pairs = i, append(pairs, pairCount{a: lo, b: hi})
		}
		switch c.Won {
		case Tie:
			pairs[i].tied++
		case lo:
			pairs[i].aWon++
		default:
			pairs[i].bWon++
		}
	}
	return pairs
}

// climb takes Newton steps, halved where they overshoot, up the likelihood, which has one
// top.
func (f *strengthFit) climb() {
	const most, precision = 200, 1e-10
	best := f.likelihood(f.params)
	for range most {
		gradient, information := f.derivatives()
		var factor mat.Cholesky
		if !factor.Factorize(information) {
			break
		}
		var step mat.VecDense
		if factor.SolveVecTo(&step, mat.NewVecDense(len(gradient), gradient)) != nil {
			break
		}
		next, size := make([]float64, len(f.params)), 1.0
		for ; size > 1e-6; size /= 2 {
			for i := range next {
				next[i] = f.params[i] + size*step.AtVec(i)
			}
			if l := f.likelihood(next); l >= best-1e-12 {
				best = l
				break
			}
		}
		copy(f.params, next)
		if mat.Norm(&step, math.Inf(1))*size < precision {
			break
		}
	}
	_, information := f.derivatives()
	var factor mat.Cholesky
	f.inverse = mat.NewSymDense(len(f.params), nil)
	if factor.Factorize(information) {
		_ = factor.InverseTo(f.inverse) // an ill-conditioned one has wide intervals, which is what is so
	}
}

// odds returns the probabilities that a wins, b wins and neither does.
func (f *strengthFit) odds(params []float64, a, b int) (pa, pb, tie float64) {
	ua, ub, ut := params[a], params[b], math.Inf(-1)
	if len(params) > f.n {
		ut = params[f.n] + (ua+ub)/2
	}
	top := max(ua, ub, ut)
	pa, pb, tie = math.Exp(ua-top), math.Exp(ub-top), math.Exp(ut-top)
	sum := pa + pb + tie
	return pa / sum, pb / sum, tie / sum
}

func (f *strengthFit) likelihood(params []float64) float64 {
	l := 0.0
	for _, p := range f.pairs {
		pa, pb, tie := f.odds(params, p.a, p.b)
		for _, o := range [...]struct{ n, p float64 }{{p.aWon, pa}, {p.bWon, pb}, {p.tied, tie}} {
			if o.n > 0 {
				l += o.n * math.Log(max(o.p, 1e-300))
			}
		}
	}
	for _, x := range params {
		l -= f.weight * x * x
	}
	return l
}

// derivatives returns the gradient of the likelihood and the information, which is its
// negative curvature. The strengths count by their differences alone; adding the direction
// in which all grow keeps the information invertible and their mean where it is.
func (f *strengthFit) derivatives() ([]float64, *mat.SymDense) {
	size := len(f.params)
	gradient, information := make([]float64, size), mat.NewSymDense(size, nil)
	for i, x := range f.params {
		gradient[i] = -2 * f.weight * x
		information.SetSym(i, i, 2*f.weight)
	}
	for i := range f.n {
		for j := i; j < f.n; j++ {
			information.SetSym(i, j, information.At(i, j)+1/float64(f.n))
		}
	}
	for _, p := range f.pairs {
		pa, pb, tie := f.odds(f.params, p.a, p.b)
		// What each outcome adds to the exponent, by parameter: a, b, and the tie's.
		outcomes := [...]struct {
			n, p float64
			x    [3]float64
		}{{p.aWon, pa, [3]float64{1, 0, 0}}, {p.bWon, pb, [3]float64{0, 1, 0}}, {p.tied, tie, [3]float64{0.5, 0.5, 1}}}
		mean := [3]float64{pa + tie/2, pb + tie/2, tie}
		at := [3]int{p.a, p.b, f.n}
		used := 2
		if size > f.n {
			used = 3
		}
		for i := range used {
			for _, o := range outcomes {
				gradient[at[i]] += o.n * (o.x[i] - mean[i])
			}
			for j := i; j < used; j++ {
				covariance := -mean[i] * mean[j]
				for _, o := range outcomes {
					covariance += o.p * o.x[i] * o.x[j]
				}
				information.SetSym(at[i], at[j], information.At(at[i], at[j])+p.total()*covariance)
			}
		}
	}
	return gradient, information
}

// theta returns the log-strength of an item; the mean of all is 0.
func (f *strengthFit) theta(i int) float64 { return f.params[i] - Mean(f.params[:f.n]) }

// covariance returns the covariance of two log-strengths around their mean.
func (f *strengthFit) covariance(i, j int) float64 {
	return f.inverse.At(i, j) - 1/(float64(f.n)*(1+2*f.weight)) // less the direction that was added
}

func (f *strengthFit) standardError(i int) float64 { return math.Sqrt(max(f.covariance(i, i), 0)) }

// tieRatio returns how often equal items tie, as a share of how often one of them wins.
func (f *strengthFit) tieRatio() float64 {
	if len(f.params) == f.n {
		return 0
	}
	return math.Exp(f.params[f.n]) / 2
}
