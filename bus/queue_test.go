package bus

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestQueue_Property compares the queue with a plain list.
func TestQueue_Property(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		texts := []*Text{{}, {}, {}}
		whole := []string{"", "", ""}
		var q queue
		var list []item
		find := func(text *Text) int {
			return slices.IndexFunc(list, func(it item) bool { return it.text == text })
		}
		for range rapid.IntRange(0, 200).Draw(t, "steps") {
			switch rapid.IntRange(0, 3).Draw(t, "step") {
			case 0:
				it := item{text: &Text{}, sofar: "other", cost: 7}
				q.push(it)
				list = append(list, it)
			case 1, 2:
				i := rapid.IntRange(0, 2).Draw(t, "text")
				d := item{text: texts[i], from: len(whole[i]), cost: 1}
				whole[i] += "x"
				d.sofar = whole[i]
				if at := find(texts[i]); at >= 0 {
					list[at].sofar = d.sofar
				} else {
					list = append(list, d)
				}
				if !q.extend(d, 0) {
					q.push(d)
				}
			case 3:
				for range rapid.IntRange(0, 5).Draw(t, "pops") {
					if q.len() == 0 {
						break
					}
					if got := q.pop(); got != list[0] {
						t.Fatalf("popped %+v, want %+v", got, list[0])
					}
					list = list[1:]
				}
			}
			bytes := 0
			for _, it := range list {
				bytes += it.cost
			}
			if q.len() != len(list) || q.bytes != bytes {
				t.Fatalf("%d items of %d bytes, want %d of %d", q.len(), q.bytes, len(list), bytes)
			}
		}
		keep := func(it item) bool { return it.text != texts[0] }
		q.filter(keep)
		for _, want := range list {
			if keep(want) && q.pop() != want {
				t.Fatalf("after the filter: want %+v", want)
			}
		}
		if q.len() != 0 || q.bytes != 0 || len(q.deltas) != 0 {
			t.Fatalf("left over: %+v", q)
		}
	})
}
