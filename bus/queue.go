package bus

import "github.com/lathe-agent/lathe"

// item is one entry of a queue: an event that was published, the text so far of an open
// part, or a delta.
type item struct {
	event *lathe.Event // shared by all readers; nil for a delta

	text  *Text  // of a text so far and of a delta
	sofar string // the text up to the end of the delta; shares the memory of the text
	from  int    // where the delta begins, in bytes
	units int    // the same in UTF-16 units

	cost int // how much it counts
}

// readerEvent is the event a reader gets.
func (it item) readerEvent() lathe.Event {
	if it.event != nil {
		return *it.event
	}
	e := it.text.event
	e.Fact = &lathe.PartDelta{
		Session: e.Session,
		Message: it.text.message,
		Part:    it.text.id,
		Field:   "text",
		Delta:   it.sofar[it.from:],
		Offset:  it.units,
	}
	return e
}

// queue is what waits for one reader. Its first items may be gone already: head is where
// the rest begins. Items have a number that stays while others go, base that of items[0].
type queue struct {
	items  []item
	head   int
	base   int
	bytes  int
	deltas map[*Text]int // number of the newest delta that waits, for each text
}

func (q *queue) len() int { return len(q.items) - q.head }

func (q *queue) push(it item) {
	if q.head > len(q.items)/2 && len(q.items) == cap(q.items) {
		q.shift()
	}
	if it.event == nil {
		if q.deltas == nil {
			q.deltas = map[*Text]int{}
		}
		q.deltas[it.text] = q.base + len(q.items)
	}
	q.items = append(q.items, it)
	q.bytes += it.cost
}

// shift moves what is left to the front, in place of a larger array.
func (q *queue) shift() {
	n := copy(q.items, q.items[q.head:])
	clear(q.items[n:])
	q.items, q.base, q.head = q.items[:n], q.base+q.head, 0
}

// extend lets the waiting delta of the same text reach to the end of this one. Entries of
// other parts may stand behind it: a delta may overtake them. It may not overtake what
// tells its own part anew, so a delta that began before that is left as it is.
func (q *queue) extend(d item, told int) bool {
	n, ok := q.deltas[d.text]
	if !ok {
		return false
	}
	it := &q.items[n-q.base]
	if it.from < told {
		return false
	}
	it.sofar = d.sofar
	return true
}

// filter keeps the items that are wanted, in their order.
func (q *queue) filter(wanted func(item) bool) {
	var kept queue
	for q.len() > 0 {
		if it := q.pop(); wanted(it) {
			kept.push(it)
		}
	}
	*q = kept
}

// keptItems is how large an empty queue may stay, to spare a busy reader allocations.
const keptItems = 32

// pop removes the first item. It must exist.
func (q *queue) pop() item {
	it := q.items[q.head]
	if it.event == nil && q.deltas[it.text] == q.base+q.head {
		delete(q.deltas, it.text)
	}
	q.items[q.head] = item{}
	q.head++
	q.bytes -= it.cost
	if q.len() == 0 {
		q.base += q.head
		q.items, q.head = q.items[:0], 0
		if cap(q.items) > keptItems {
			q.items, q.deltas = nil, nil
		}
	}
	return it
}
