package dialog

import (
	"math"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe/tui/fuzzy"
	"github.com/lathe-agent/lathe/tui/key"
	"github.com/lathe-agent/lathe/tui/style"
)

// Mark stands before an entry.
type Mark uint8

// The marks of entries.
const (
	NoMark  Mark = iota
	Current      // the one in use
	Running      // in progress
	Done         // connected, switched on, ready
	Failed
	Starred
	Waiting     // for the user
	Interrupted // cut off, can be resumed
)

// Item is an entry of a list. Its texts may come from anywhere.
type Item struct {
	ID     string // not shown; may repeat in another group
	Title  string
	Detail string // after the title, if it fits
	Right  string // at the right edge
	Group  string // heading; entries of a group stand together
	Search string // hidden search words
	Mark   Mark
	Tint   style.Color // of the mark and, where there is none, of a dot
}

// Extra is an additional key for an entry.
type Extra struct {
	Name    key.Name
	Label   string // a word or two for the footer
	Confirm string // when set, the key must be pressed twice, and this is shown after the first
	Any     bool   // works without a selected entry
}

// Options configure a List.
type Options struct {
	Title, Placeholder string
	Empty              string        // shown without entries
	NoMatch            func() string // shown when the filter leaves none; nil is "No matches."
	Items              []Item
	Extras             []Extra
	Selected           string // an entry's id; "" is the first
	Last               bool   // without Selected begin at the end
	Live               bool   // sends Moved when the cursor moves
	Ask                bool   // sends Query when the filter changes
	Remote             bool   // the answer to Query has the entries: none is filtered here
	Text               string // in the filter at the beginning
	Wide               bool
	// Preview is a text about the entry under the cursor, below the list; nil has none.
	Preview func(id string) string
}

// List is entries to pick from, with a filter. Make one with NewList.
type List struct {
	keys *key.Map
	o    Options

	query Field
	texts []fuzzy.Text // of the entries, made when first needed
	match fuzzy.Matcher
	words fuzzy.Query
	hits  []int // entries that fit the query, best first; all without one
	asked string

	rows      []row
	at        int // row under the cursor, -1 when there is none to choose
	top       int // first row shown
	maxHeight int // largest number of rows so far: the box must not shrink while typing

	signs     bool // some entry has a mark, so all are indented
	armed     pendingConfirm
	drawn     bool // since the entries were set; the height is unknown before
	navigated bool // the user moved the cursor since the query changed
	frame     int
	loading   bool

	seen   drawnAt
	corner corner
}

// row is a row of the list: an entry, a heading or a gap.
type row struct {
	kind rowKind
	item int // for a heading, the first entry below it
}

type rowKind uint8

const (
	rowItem rowKind = iota
	rowHead
	rowGap
)

// pendingConfirm is the action that the next press of the key confirms.
type pendingConfirm struct {
	id   string
	name key.Name
}

// drawnAt holds the positions of the last drawing, and the largest number of rows about an entry.
type drawnAt struct{ first, count, field, cursor, about int }

// NewList makes a list.
func NewList(m *key.Map, o Options) *List {
	l := &List{keys: m, o: o, at: -1}
	l.query.Paste(o.Text)
	l.signs = slices.ContainsFunc(o.Items, hasSign)
	l.filter()
	l.selectID(o.Selected)
	return l
}

// SetItems replaces the entries. The query stays, and so does the selected entry if the user moved to
// it; otherwise the cursor starts over.
func (l *List) SetItems(items []Item) {
	was, had := l.current()
	had = had && (l.navigated || l.words == nil)
	at, top, press := l.at, l.top, l.armed
	l.o.Items, l.texts, l.hits, l.asked, l.armed = items, nil, nil, "", pendingConfirm{}
	l.signs = slices.ContainsFunc(items, hasSign)
	l.filter()
	switch {
	case !had:
		if l.words == nil {
			l.selectID(l.o.Selected)
		}
		l.drawn = false
		return
	case l.selectRow(func(it *Item) bool { return it.ID == was.ID && it.Group == was.Group }), l.selectID(was.ID):
		l.armed = press // updates must not cancel a pending confirmation
	default:
		l.at = l.nearestItem(min(at, len(l.rows)-1), -1)
	}
	l.top = top
	l.reveal()
}

// current is the entry under the cursor.
func (l *List) current() (it Item, ok bool) {
	if l.at < 0 || l.at >= len(l.rows) {
		return Item{}, false
	}
	return l.o.Items[l.rows[l.at].item], true
}

// markCurrent marks the entry that is in use.
func markCurrent(items []Item, current string) []Item {
	for i := range items {
		if items[i].ID == current {
			items[i].Mark = Current
		}
	}
	return items
}

func hasSign(it Item) bool { return it.Mark != NoMark || it.Tint.IsSet() }

// SetLoading says that entries are still being fetched.
func (l *List) SetLoading(on bool) { l.loading = on }

// SetFrame animates the marks of running entries.
func (l *List) SetFrame(n int) { l.frame = n }

// Selected is the entry under the cursor.
func (l *List) Selected() (id string, ok bool) {
	it, ok := l.current()
	return it.ID, ok
}

// Text is the text of the filter.
func (l *List) Text() string { return l.query.Text() }

// filter finds the entries that match the query. A longer query searches only the previous matches.
func (l *List) filter() {
	query := l.query.Text()
	if l.asked == "" || !strings.HasPrefix(query, l.asked) {
		l.hits = l.hits[:0]
		for i := range l.o.Items {
			l.hits = append(l.hits, i)
		}
	}
	l.words, l.asked = fuzzy.NewQuery(query), query
	if len(l.words) == 0 || l.o.Remote {
		l.words, l.asked = nil, ""
	} else {
		l.indexTexts()
		l.rank()
	}
	l.layout()
}

func (l *List) indexTexts() {
	if l.texts != nil {
		return
	}
	l.texts = make([]fuzzy.Text, len(l.o.Items))
	for i, it := range l.o.Items {
		l.texts[i] = fuzzy.NewText(style.FirstLine(it.Title), it.Detail, it.Group, it.Search)
	}
}

// rank leaves of the hits what fits, the best first. Score and place are packed into one number, since sorting
// numbers is several times faster than sorting with a function.
func (l *List) rank() {
	packed := make([]uint64, 0, len(l.hits))
	for _, i := range l.hits {
		if s, ok := l.match.Score(l.words, &l.texts[i]); ok {
			packed = append(packed, uint64(math.MaxInt32-min(s, math.MaxInt32))<<32|uint64(uint32(i)))
		}
	}
	slices.Sort(packed)
	l.hits = l.hits[:0]
	for _, p := range packed {
		l.hits = append(l.hits, int(uint32(p)))
	}
}

// layout makes rows: with headings, or when something is searched for the best first, each entry once.
func (l *List) layout() {
	l.rows = l.rows[:0]
	var had map[string]bool
	if l.words != nil {
		had = make(map[string]bool, len(l.hits))
	}
	group := ""
	for n, i := range l.hits {
		it := &l.o.Items[i]
		if had != nil {
			if had[it.ID] {
				continue
			}
			had[it.ID] = true
		} else if it.Group != "" && (n == 0 || it.Group != group) {
			if n > 0 {
				l.rows = append(l.rows, row{kind: rowGap})
			}
			l.rows = append(l.rows, row{rowHead, i})
		}
		group = it.Group
		l.rows = append(l.rows, row{rowItem, i})
	}
	l.at, l.top = l.nearestItem(0, 1), 0
	if l.words == nil && l.o.Last && l.o.Selected == "" {
		l.at = l.nearestItem(len(l.rows)-1, -1)
		l.reveal()
	}
}

// nearestItem is the nearest row from one on that can be chosen, in a direction and then in the other; -1 is none.
func (l *List) nearestItem(from, step int) int {
	for _, d := range [...]int{step, -step} {
		for i := max(from, 0); i >= 0 && i < len(l.rows); i += d {
			if l.rows[i].kind == rowItem {
				return i
			}
		}
	}
	return -1
}

func (l *List) selectID(id string) bool {
	return id != "" && l.selectRow(func(it *Item) bool { return it.ID == id })
}

func (l *List) selectRow(is func(*Item) bool) bool {
	for i, r := range l.rows {
		if r.kind == rowItem && is(&l.o.Items[r.item]) {
			l.at = i
			l.reveal()
			return true
		}
	}
	return false
}

// reveal scrolls as little as needed to show the row under the cursor, with its heading if it is the first below it.
func (l *List) reveal() {
	l.scrollToCursor()
	if l.at > 0 && l.at == l.top && l.rows[l.at-1].kind == rowHead && l.seen.count > 1 {
		l.top--
	}
}

// scrollToCursor scrolls as little as needed to show the row under the cursor.
func (l *List) scrollToCursor() {
	n := max(1, l.seen.count)
	if l.at >= 0 {
		l.top = max(min(l.top, l.at), l.at-n+1)
	}
	l.top = max(0, min(l.top, len(l.rows)-n))
}

// Extras are the keys of its own.
func (l *List) Extras() []Extra { return l.o.Extras }

// IsFiltered reports whether the filter has text.
func (l *List) IsFiltered() bool { return l.query.Text() != "" }

// Key takes a key.
func (l *List) Key(k tea.KeyPressMsg) Result {
	was := l.armed
	l.armed = pendingConfirm{}
	if Closes(k) {
		return Closed{}
	}
	for _, e := range l.o.Extras {
		if l.keys.Match(k, e.Name) {
			return l.extra(e, was)
		}
	}
	if name, ok := l.keys.First(k, key.DialogSelectSubmit, key.DialogSelectPrev, key.DialogSelectNext,
		key.DialogSelectPageUp, key.DialogSelectPageDown, key.DialogSelectHome, key.DialogSelectEnd); ok {
		return l.do(name)
	}
	before := l.query.Text()
	if !l.query.Key(l.keys, k) || l.query.Text() == before {
		return None{}
	}
	return l.typed()
}

// Paste puts a text into the filter. It never chooses.
func (l *List) Paste(text string) Result {
	l.armed = pendingConfirm{}
	before := l.query.Text()
	if l.query.Paste(text); l.query.Text() == before {
		return None{}
	}
	return l.typed()
}

func (l *List) typed() Result {
	was, _ := l.Selected()
	l.navigated = false
	l.filter()
	if l.o.Ask {
		return Query{l.query.Text()}
	}
	return l.moved(was)
}

func (l *List) moved(was string) Result {
	if now, _ := l.Selected(); l.o.Live && now != was {
		return Moved{now}
	}
	return None{}
}

// extra handles an extra key. One that needs a confirmation only arms itself at the first press.
func (l *List) extra(e Extra, was pendingConfirm) Result {
	id, ok := l.Selected()
	if !ok && !e.Any {
		return None{}
	}
	if now := (pendingConfirm{id, e.Name}); e.Confirm != "" && was != now {
		l.armed = now
		return None{}
	}
	return Chosen{id, e.Name}
}

// do runs a named navigation key.
func (l *List) do(name key.Name) Result {
	was, ok := l.Selected()
	page := max(1, l.seen.count-1)
	switch name {
	case key.DialogSelectSubmit:
		if !ok {
			return None{}
		}
		return Chosen{ID: was}
	case key.DialogSelectPrev:
		l.step(-1)
	case key.DialogSelectNext:
		l.step(1)
	case key.DialogSelectPageUp:
		l.at = l.nearestItem(max(0, l.at-page), -1)
	case key.DialogSelectPageDown:
		l.at = l.nearestItem(min(len(l.rows)-1, l.at+page), 1)
	case key.DialogSelectHome:
		l.at, l.top = l.nearestItem(0, 1), 0
	case key.DialogSelectEnd:
		l.at = l.nearestItem(len(l.rows)-1, -1)
	}
	l.navigated = true
	l.reveal()
	return l.moved(was)
}

// step goes to the entry before or behind, and around at the ends.
func (l *List) step(d int) {
	for i := l.at + d; i >= 0 && i < len(l.rows); i += d {
		if l.rows[i].kind == rowItem {
			l.at = i
			return
		}
	}
	if d > 0 {
		l.at, l.top = l.nearestItem(0, 1), 0
	} else {
		l.at = l.nearestItem(len(l.rows)-1, -1)
	}
}

// Click chooses an entry, or puts the cursor into the filter.
func (l *List) Click(x, y int) Result {
	l.armed = pendingConfirm{}
	if l.corner.hit(x, y) {
		return Closed{}
	}
	if y == l.seen.field {
		l.query.Click(x - fieldColumn)
		return None{}
	}
	i := l.top + y - l.seen.first
	if y < l.seen.first || y >= l.seen.first+l.seen.count || i >= len(l.rows) || x < 0 {
		return None{}
	}
	r := l.rows[i]
	if r.kind != rowItem {
		return None{}
	}
	l.at, l.navigated = i, true
	return Chosen{ID: l.o.Items[r.item].ID}
}

// Wheel scrolls; the cursor stays visible.
func (l *List) Wheel(dy int) Result {
	l.armed = pendingConfirm{}
	was, _ := l.Selected()
	n := max(1, l.seen.count)
	l.top, l.navigated = max(0, min(l.top+dy, len(l.rows)-n)), true
	if l.at >= 0 {
		if l.at < l.top {
			l.at = l.nearestItem(l.top, 1)
		}
		if l.at >= l.top+n {
			l.at = l.nearestItem(l.top+n-1, -1)
		}
	}
	return l.moved(was)
}
