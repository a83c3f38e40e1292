package style

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// Count formats a number in a short form: 950, 12.3K, 1.2M.
func Count(n int64) string {
	switch {
	case n < 0:
		return "0"
	case n < 1000:
		return strconv.FormatInt(n, 10)
	}
	x := float64(n)
	for _, unit := range []string{"K", "M", "B"} {
		if x /= 1000; x < 999.95 || unit == "B" {
			digits := 1
			if x >= 99.95 {
				digits = 0
			}
			return strings.TrimSuffix(strconv.FormatFloat(x, 'f', digits, 64), ".0") + unit
		}
	}
	return ""
}

// Money writes dollars: two digits, four where two would show nothing.
func Money(dollars float64) string {
	switch {
	case math.IsNaN(dollars) || dollars <= 0:
		return "$0.00"
	case dollars < 0.00005:
		return "<$0.0001"
	case dollars < 0.005:
		return "$" + strconv.FormatFloat(dollars, 'f', 4, 64)
	default:
		return "$" + strconv.FormatFloat(dollars, 'f', 2, 64)
	}
}

// Duration writes a time for people: 40ms, 3.2s, 4m 5s, 2h 3m.
func Duration(d time.Duration) string {
	switch d = max(d, 0); {
	case d < time.Second:
		return strconv.FormatInt(d.Milliseconds(), 10) + "ms"
	case d < 10*time.Second:
		return strconv.FormatFloat(d.Truncate(100*time.Millisecond).Seconds(), 'f', 1, 64) + "s"
	case d < time.Minute:
		return strconv.Itoa(int(d.Seconds())) + "s"
	case d < time.Hour:
		return strconv.Itoa(int(d.Minutes())) + "m " + strconv.Itoa(int(d.Seconds())%60) + "s"
	default:
		return strconv.Itoa(int(d.Hours())) + "h " + strconv.Itoa(int(d.Minutes())%60) + "m"
	}
}
