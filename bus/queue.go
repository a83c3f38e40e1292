package bus

import "github.com/lathe-agent/lathe"

// item is one entry of a queue: an event that was published, the text so far of an open
// part, or a delta.
type item struct {
	event *lathe.Event // shared by all readers; nil for a delta

	text  *Text  // for a text so far or a delta
	sofar string // the text up to the end of the delta; shares the memory of the text
	from  int    // offset of the delta in bytes
	units int    // the same in UTF-16 units

	cost int // counted against the limit
}

// readerEvent is the event for the reader.
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

// queue has the unread items of one reader. items[:head] were already read. Each item has a
// fixed number; base is the number of items[0].
type queue struct {
	items  []item
	head   int
	base   int
	bytes  int
	deltas map[*Text]int // number of the newest queued delta of each text
}

func (q *queue) len() int { return len(q.items) - q.head }

// push appends an item and remembers the position of a delta, so that extend can find it.
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

// shift moves the rest to the front, instead of a larger array.
func (q *queue) shift() {
	n := copy(q.items, q.items[q.head:])
	clear(q.items[n:])
	q.items, q.base, q.head = q.items[:n], q.base+q.head, 0
}

// extend extends the queued delta of the same text to the end of this one. The text may
// overtake items of other parts. It must not overtake a newer update of its own part, so a
// delta from before that update is not extended.
func (q *queue) extend(d item, published int) bool {
	n, ok := q.deltas[d.text]
	if !ok {
		return false
	}
	it := &q.items[n-q.base]
	if it.from < published {
		return false
	}
	it.sofar = d.sofar
	return true
}

// filter removes all items but the wanted ones.
func (q *queue) filter(wanted func(item) bool) {
	var rest queue
	for q.len() > 0 {
		if it := q.pop(); wanted(it) {
			rest.push(it)
		}
	}
	*q = rest
}

// idleCapacity is the largest capacity of an empty queue, to save allocations for a busy reader.
const idleCapacity = 32

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
		if cap(q.items) > idleCapacity {
			q.items, q.deltas = nil, nil
		}
	}
	return it
}
