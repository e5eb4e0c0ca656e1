package lineage

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The bounds of a time window.
const (
	shortestWindow = time.Minute
	longestWindow  = 30 * 24 * time.Hour
)

// numbers are the words for one, two and so on.
var numbers = []string{"one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"}

var (
	durationPart = regexp.MustCompile(`^(\d+(?:[.,]\d+)?|an?|half(?: an?)?|` + strings.Join(numbers, "|") + `)\s*([a-z]+)`)
	isoDuration  = regexp.MustCompile(`^p(?:(\d+)w)?(?:(\d+)d)?(?:t(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?)?$`)
)

// units are the words for a unit, without the plural's s.
var units = map[string]time.Duration{
	"s": time.Second, "sec": time.Second, "second": time.Second,
	"m": time.Minute, "min": time.Minute, "minute": time.Minute,
	"h": time.Hour, "hr": time.Hour, "hour": time.Hour,
	"d": 24 * time.Hour, "day": 24 * time.Hour,
	"w": 7 * 24 * time.Hour, "week": 7 * 24 * time.Hour,
}

// parseDuration reads a phrase such as "2 hours", "90m", "1h30m", "half an hour" or
// "PT2H". Of one it cannot read it gives a message that says what is allowed.
func parseDuration(phrase string) (d time.Duration, message string) {
	text := strings.ToLower(strings.Join(strings.Fields(phrase), " "))
	for _, filler := range []string{"±", "+/-", "within ", "the ", "last ", "about ", "around "} {
		text = strings.TrimSpace(strings.TrimPrefix(text, filler))
	}
	seconds, message := isoSeconds(text)
	if message == "" && seconds == 0 {
		seconds, message = phraseSeconds(text)
	}
	switch {
	case message != "":
		return 0, message
	case seconds < shortestWindow.Seconds() || seconds > longestWindow.Seconds():
		return 0, "Expected a time between 1 minute and 30 days."
	}
	return time.Duration(seconds * float64(time.Second)), ""
}

// isoSeconds reads the ISO 8601 form; 0 means that the text has not that form.
func isoSeconds(text string) (float64, string) {
	m := isoDuration.FindStringSubmatch(text)
	if m == nil {
		return 0, ""
	}
	sum := 0.0
	for i, unit := range []string{"w", "d", "h", "m", "s"} {
		if m[i+1] != "" {
			n, err := strconv.ParseFloat(m[i+1], 64)
			if err != nil {
				return 0, expected
			}
			sum += n * units[unit].Seconds()
		}
	}
	return sum, ""
}

const expected = "Expected a duration such as 2 hours, 90m, 1h30m or 1 day."

func phraseSeconds(text string) (sum float64, message string) {
	if text == "" {
		return 0, expected
	}
	if _, err := strconv.ParseFloat(text, 64); err == nil {
		return 0, "The number needs a unit: seconds, minutes, hours, days or weeks, for example 90 minutes."
	}
	for text != "" {
		m := durationPart.FindStringSubmatch(text)
		if m == nil {
			return 0, expected
		}
		unit, ok := units[m[2]]
		if !ok {
			unit, ok = units[strings.TrimSuffix(m[2], "s")]
		}
		switch {
		case strings.HasPrefix(m[2], "mo") || strings.HasPrefix(m[2], "year"):
			return 0, "Months and years are not supported; use days, at most 30."
		case !ok:
			return 0, "Unknown unit. Allowed are seconds, minutes, hours, days and weeks, for example 90 minutes."
		}
		sum += amount(m[1]) * unit.Seconds()
		text = strings.TrimLeft(text[len(m[0]):], " ,")
		text = strings.TrimPrefix(text, "and ")
	}
	return sum, ""
}

// amount is a number or the word for one.
func amount(s string) float64 {
	switch {
	case strings.HasPrefix(s, "half"):
		return 0.5
	case s == "a" || s == "an":
		return 1
	}
	if i := slices.Index(numbers, s); i >= 0 {
		return float64(i + 1)
	}
	n, err := strconv.ParseFloat(strings.ReplaceAll(s, ",", "."), 64)
	if err != nil { // too long for a number: beyond every bound as well
		return longestWindow.Seconds()
	}
	return n
}
