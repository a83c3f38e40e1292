package editor

import "slices"

// MaxHistory is the size of the prompt history, in prompts.
const MaxHistory = 200

// history holds the sent prompts and the current position.
type history struct {
	all   []Draft // oldest first
	at    int     // how far back; 0 is the current draft
	draft Draft   // the unsent draft when the user went back
}

// SetHistory sets the sent prompts, oldest first.
func (dc *document) SetHistory(all []Draft) {
	if len(all) > MaxHistory {
		all = all[len(all)-MaxHistory:]
	}
	dc.endSearch()
	dc.hist = history{all: slices.Clone(all)}
}

// remember adds a draft, unless it is the last one again.
func (h *history) remember(d Draft) {
	h.at = 0
	if n := len(h.all); n > 0 && h.all[n-1].Input == d.Input && h.all[n-1].Mode == d.Mode {
		h.all[n-1] = d
		return
	}
	h.all = append(h.all, d)
	if len(h.all) > MaxHistory {
		h.all = slices.Delete(h.all, 0, len(h.all)-MaxHistory)
	}
}

// recall goes n steps back, or forth when it is negative; false when there is nothing.
func (dc *document) recall(n int) bool {
	h := &dc.hist
	to := h.at + n
	if to < 0 || to > len(h.all) {
		return false
	}
	if h.at == 0 {
		h.draft = dc.Draft()
	}
	d := h.draft
	if to > 0 {
		d = h.all[len(h.all)-to]
	}
	h.at = to
	dc.editAlone(pos{}, dc.buf.end(), d.lines()) // so that undo restores the replaced text
	dc.shell = d.Mode == shellMode
	if n > 0 {
		dc.moveTo(dc.rowEnd(pos{})) // so that the next key up goes further back
	}
	return true
}
