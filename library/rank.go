package library

import (
	"math/big"
	"math/rand/v2"
	"strings"
)

// A rank is a place in an order that people change: a number in base 36, twelve digits
// and a fraction without a trailing zero. Ranks compare as bytes. There is always a rank
// between two others, so nothing is renumbered when something comes between.
const (
	rankDigits = 12
	rankBase   = 36
	rankGap    = rankBase * rankBase * rankBase * rankBase // between things that are appended
)

// Ranks returns n ranks in order, all of them after lo and before hi. An empty lo or hi
// is no bound. The places within the gaps are random: of two things that are put in the
// same place, where neither knows of the other, both keep a rank of their own. It
// returns nil when lo is not before hi.
func Ranks(lo, hi string, n int) []string {
	if lo != "" && hi != "" && lo >= hi {
		return nil
	}
	digits := max(len(lo), len(hi), rankDigits)
	gap := power(digits - rankDigits)
	gap.Mul(gap, big.NewInt(rankGap))
	span := new(big.Int).Mul(gap, big.NewInt(int64(n+1)))
	from, to := rankNumber(lo, digits), rankNumber(hi, digits)
	switch {
	case lo == "" && hi == "":
		from = new(big.Int).Rsh(power(digits), 1)
		to = new(big.Int).Add(from, span)
	case hi == "":
		to = new(big.Int).Add(from, span)
	case lo == "":
		if from = new(big.Int).Sub(to, span); from.Sign() < 0 {
			from.SetInt64(0)
		}
	}
	width := new(big.Int).Sub(to, from)
	for enough := big.NewInt(2 * int64(n+1)); width.Cmp(enough) < 0; digits++ {
		from.Mul(from, big.NewInt(rankBase))
		width.Mul(width, big.NewInt(rankBase))
	}
	step := new(big.Int).Div(width, big.NewInt(int64(n+1)))
	ranks := make([]string, n)
	at := new(big.Int).Set(from)
	for i := range ranks {
		at.Add(at, step)
		ranks[i] = rankText(new(big.Int).Add(at, below(step)), digits)
	}
	return ranks
}

// below returns a random number from 0 to n-1; of a large n it uses the last digits.
func below(n *big.Int) *big.Int {
	if n.IsInt64() {
		return big.NewInt(rand.Int64N(n.Int64()))
	}
	return big.NewInt(rand.Int64())
}

func power(n int) *big.Int {
	return new(big.Int).Exp(big.NewInt(rankBase), big.NewInt(int64(n)), nil)
}

// rankNumber reads a rank as a number of so many digits; 0 for none.
func rankNumber(rank string, digits int) *big.Int {
	n := new(big.Int)
	if rank != "" {
		n.SetString(rank+strings.Repeat("0", digits-len(rank)), rankBase)
	}
	return n
}

func rankText(n *big.Int, digits int) string {
	text := n.Text(rankBase)
	text = strings.Repeat("0", max(digits-len(text), 0)) + text
	return text[:rankDigits] + strings.TrimRight(text[rankDigits:], "0")
}
