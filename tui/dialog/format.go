package dialog

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tui/style"
)

// day is the heading of a day as seen from now, in now's zone.
func day(t, now time.Time) string {
	if t.IsZero() {
		return "Earlier"
	}
	t = t.In(now.Location())
	midnight := func(x time.Time) time.Time { return time.Date(x.Year(), x.Month(), x.Day(), 0, 0, 0, 0, time.UTC) }
	switch days := int(midnight(now).Sub(midnight(t)).Hours() / 24); {
	case days == 0:
		return "Today"
	case days == 1:
		return "Yesterday"
	case days > 1 && days < 7:
		return t.Format("Monday")
	case t.Year() == now.Year():
		return t.Format("Mon 2 January")
	default:
		return t.Format("2 January 2006")
	}
}

// age writes how long ago a time was: now, 5m, 3h, 2d, 6w, 1y.
func age(t, now time.Time) string {
	switch d := now.Sub(t); {
	case d < time.Minute:
		return "now"
	case d < time.Hour:
		return strconv.Itoa(int(d.Minutes())) + "m"
	case d < 24*time.Hour:
		return strconv.Itoa(int(d.Hours())) + "h"
	case d < 14*24*time.Hour:
		return strconv.Itoa(int(d.Hours()/24)) + "d"
	case d < 365*24*time.Hour:
		return strconv.Itoa(int(d.Hours()/24/7)) + "w"
	default:
		return strconv.Itoa(int(d.Hours()/24/365)) + "y"
	}
}

// FirstWords is the first line of the first prompt, "" without one.
func FirstWords(all []lathe.Message) string {
	for _, m := range all {
		if isUser(m) {
			return promptText(m)
		}
	}
	return ""
}

// tokens writes a number of tokens: 128k, 1M.
func tokens(n int) string {
	switch {
	case n <= 0:
		return ""
	case n < 1000:
		return strconv.Itoa(n)
	case n < 999_500:
		return strconv.Itoa((n+500)/1000) + "k"
	default:
		return strings.TrimSuffix(strconv.FormatFloat(float64(n)/1e6, 'f', 1, 64), ".0") + "M"
	}
}

// price writes dollars for a million tokens, in and out; "" where that is not known.
func price(m lathe.Model) string {
	switch {
	case m.IsFree():
		return "free"
	case !m.IsPriced():
		return ""
	}
	return dollars(m.InputPrice) + "/" + dollars(m.OutputPrice)
}

func dollars(v float64) string {
	text := strconv.FormatFloat(v, 'f', 2, 64)
	if v > 0 && v < 0.01 {
		text = strconv.FormatFloat(v, 'g', 2, 64)
	}
	if strings.Contains(text, ".") {
		text = strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
	}
	return "$" + text
}

// promptText is the first line of a prompt, or its file names.
func promptText(m lathe.Message) string {
	var files []string
	for _, p := range m.Parts {
		switch b := p.Body.(type) {
		case *lathe.Text:
			if !b.Synthetic.On() && !b.Ignored.On() {
				if line := style.FirstLine(b.Text); line != "" {
					return line
				}
			}
		case *lathe.File:
			files = append(files, cmp.Or(b.Filename, b.Mime))
		default:
		}
	}
	if len(files) > 0 {
		return "[" + strings.Join(files, ", ") + "]"
	}
	return "(no text)"
}

func isUser(m lathe.Message) bool {
	_, ok := m.Data.(*lathe.User)
	return ok
}
