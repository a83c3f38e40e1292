package report

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/tui/style"
)

// signs mark the parts of the bar, also without colors, in the order of a request.
const (
	signs     = "█▓▒▞▚■" // one for each part
	freeSign  = "·"      // tokens that nothing uses yet
	spareSign = "░"      // tokens that the answer needs
)

// maxLargest is how many single consumers are listed.
const maxLargest = 8

// Context renders what fills the context window.
func Context(c api.ContextUse, width int) []Row {
	width = max(width, 20)
	model := clean(c.Model.Provider + "/" + c.Model.Model)
	head := style.Count(int64(c.Used)) + " tokens"
	if c.Window > 0 {
		head = style.Count(int64(c.Used)) + " of " + style.Count(int64(c.Window)) + " tokens, " + share(c.Used, c.Window)
	}
	out := []Row{pair(Row{{model, Heading}}, Span{head, Normal}, width), nil}
	if c.Window > 0 {
		out = append(out, bar(c, width), nil)
	}
	free := max(0, c.Window-c.Reserve-c.Used)
	for i, p := range c.Parts {
		out = append(out, legend(string(partSign(i)), Part+Tone(i), counted(p), p.Tokens, c.Window, width))
	}
	if c.Window > 0 {
		out = append(out, legend(freeSign, Muted, "Free", free, c.Window, width),
			legend(spareSign, Muted, "Reserved for the answer", c.Reserve, c.Window, width))
	}
	if len(c.Largest) > 0 {
		out = append(out, nil, say("Largest", Heading))
		for _, p := range c.Largest[:min(len(c.Largest), maxLargest)] {
			out = append(out, pair(Row{{"  " + clean(p.Name), Normal}}, Span{style.Count(int64(p.Tokens)), Muted}, width))
		}
	}
	return append(append(out, nil), contextNote(c, width)...)
}

// contextNote says how exact the numbers are and when the history is compacted.
func contextNote(c api.ContextUse, width int) []Row {
	text := "Estimated: the provider has counted no request yet."
	if c.Measured {
		text = "The total is the provider's count of the last request, the parts are estimates."
	}
	if c.Window == 0 {
		text += " The context window of this model is not known, so the history is compacted only by /compact."
	} else if c.CompactAt > 0 {
		text += " lathe compacts the history at " + style.Count(int64(c.CompactAt)) + " tokens. /compact does it now."
	} else {
		text += " Automatic compaction is off. /compact shortens the history."
	}
	return wrap(text, "", Muted, width)
}

// partSign is the sign of a part. A server of a later version may send more parts than there are signs.
func partSign(i int) rune { return []rune(signs)[min(i, len([]rune(signs))-1)] }

// counted is the name of a part, with the number of things in it.
func counted(p api.ContextPart) string {
	if p.Count > 0 {
		return clean(p.Name) + " (" + strconv.Itoa(p.Count) + ")"
	}
	return clean(p.Name)
}

// legend is a line of the list below the bar: sign, name, tokens and share of the window.
func legend(sign string, t Tone, name string, tokens, window, width int) Row {
	end := fmt.Sprintf("%7s", style.Count(int64(tokens)))
	if window > 0 {
		end += fmt.Sprintf("%7s", share(tokens, window))
	}
	return pair(Row{{sign + " ", t}, {name, Normal}}, Span{end, Muted}, min(width, 60))
}

// share is a part in percent.
func share(part, all int) string {
	if part <= 0 || all <= 0 {
		return "0%"
	}
	if p := float64(part) * 100 / float64(all); p < 9.95 {
		return strconv.FormatFloat(p, 'f', 1, 64) + "%"
	}
	return strconv.Itoa((part*100+all/2)/all) + "%"
}

// bar is the window with its parts from the left and the reserve at the right. A part that is there has one cell at
// least, as long as there are cells.
func bar(c api.ContextUse, width int) Row {
	cells := func(tokens int) int {
		if tokens <= 0 {
			return 0
		}
		return max(1, int(int64(tokens)*int64(width)/int64(c.Window)))
	}
	left := width
	take := func(n int) int { n = min(n, left); left -= n; return n }
	var out Row
	for i, p := range c.Parts {
		out = append(out, Span{strings.Repeat(string(partSign(i)), take(cells(p.Tokens))), Part + Tone(i)})
	}
	spare := take(cells(c.Reserve))
	return append(out, Span{strings.Repeat(freeSign, left), Muted}, Span{strings.Repeat(spareSign, spare), Muted})
}
