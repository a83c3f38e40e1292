package gitobj

import (
	"container/list"
	"sync"
)

// maxCache limits the bytes of cached bases.
const maxCache = 16 << 20

// baseCache keeps objects that deltas were made against: a chain of fifty would otherwise
// be rebuilt from its beginning for each of its objects. The oldest used goes first.
type baseCache struct {
	mu    sync.Mutex // guards the rest
	items map[baseKey]*list.Element
	order list.List // of *baseItem, last used in front
	bytes int
}

type baseKey struct {
	pack *pack
	off  int64
}

type baseItem struct {
	key  baseKey
	kind Kind
	data []byte // never changed
}

func newBaseCache() *baseCache { return &baseCache{items: map[baseKey]*list.Element{}} }

func (c *baseCache) get(p *pack, off int64) (Kind, []byte, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.items[baseKey{p, off}]
	if !ok {
		return 0, nil, false
	}
	c.order.MoveToFront(e)
	item := e.Value.(*baseItem)
	return item.kind, item.data, true
}

func (c *baseCache) put(p *pack, off int64, kind Kind, data []byte) {
	if len(data) > maxCache/4 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	key := baseKey{p, off}
	if _, ok := c.items[key]; ok {
		return
	}
	c.items[key] = c.order.PushFront(&baseItem{key, kind, data})
	c.bytes += itemCost(data)
	for c.bytes > maxCache {
		last := c.order.Back()
		item := c.order.Remove(last).(*baseItem)
		delete(c.items, item.key)
		c.bytes -= itemCost(item.data)
	}
}

// itemCost counts what surrounds the data too, so that many small objects stay bounded.
func itemCost(data []byte) int { return cap(data) + 256 }
