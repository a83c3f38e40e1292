package diff

import (
	"fmt"
	"slices"
)

// Narrow cuts a patch that holds whole files down to the lines around each change. The result is the hunks as lines
// of a patch again, for output that programs read.
func Narrow(patch string, context int) (out []string) {
	for _, f := range Parse(patch) {
		for _, h := range f.Hunks {
			out = append(out, h.narrow(context)...)
		}
	}
	return out
}

// narrow splits a hunk into several, each with some context around its changes.
func (h Hunk) narrow(context int) (out []string) {
	old, now, rows := h.Old, h.New, h.Rows
	for {
		first := slices.IndexFunc(rows, Row.changes)
		if first < 0 {
			return out
		}
		begin := max(0, first-context)
		end, last := first, first
		for end < len(rows) && end-last <= 2*context {
			if rows[end].changes() {
				last = end
			}
			end++
		}
		end = min(len(rows), last+1+context)
		a, b := sides(rows[:begin])
		old, now = old+a, now+b
		a, b = sides(rows[begin:end])
		out = append(out, fmt.Sprintf("@@ -%d,%d +%d,%d @@", old, a, now, b))
		for _, r := range rows[begin:end] {
			if r.Op == '\\' {
				r.Text = " No newline at end of file"
			}
			out = append(out, string(rune(r.Op))+r.Text)
		}
		old, now, rows = old+a, now+b, rows[end:]
	}
}

func (r Row) changes() bool { return r.Op == '+' || r.Op == '-' }

// sides counts the lines that rows have on each side.
func sides(rows []Row) (old, now int) {
	for _, r := range rows {
		old, now = old+b2i(r.Op == ' ' || r.Op == '-'), now+b2i(r.Op == ' ' || r.Op == '+')
	}
	return old, now
}
