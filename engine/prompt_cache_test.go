package engine

import (
	"testing"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/history"
	"github.com/lathe-agent/lathe/model"
)

func TestPromptCache(t *testing.T) {
	paid := model.Price{Input: 300, Output: 1500, CacheRead: 30, CacheWrite: 375}
	for _, c := range []struct {
		name   string
		price  model.Price
		own    model.CacheTTL
		choice PromptCache
		waits  bool
		want   model.CacheTTL
		write  lathe.Money
	}{
		{"as the client does best", paid, model.CacheFive, CacheAuto, false, model.CacheFive, 375},
		{"a long wait", paid, model.CacheFive, CacheAuto, true, model.CacheHour, 600},
		{"a long wait, writes are free", model.Price{Input: 300, CacheRead: 30}, model.CacheFive, CacheAuto, true, model.CacheFive, 0},
		{"a long wait, reads are dear", model.Price{Input: 300, CacheRead: 300, CacheWrite: 375}, model.CacheFive, CacheAuto, true, model.CacheFive, 375},
		{"chosen", paid, model.CacheFive, CacheHour, false, model.CacheHour, 600},
		{"chosen short", paid, model.CacheHour, CacheFive, true, model.CacheFive, 375},
		{"off", paid, model.CacheFive, CacheOff, true, model.NoCache, 375},
		{"a model without one", paid, model.NoCache, CacheHour, true, model.NoCache, 375},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := &Model{Price: c.price, Cache: c.own}
			got := withPromptCache(m, c.choice, c.waits)
			if got.Cache != c.want || got.Price.CacheWrite != c.write {
				t.Errorf("%s, a write costs %d; want %s, %d", got.Cache, got.Price.CacheWrite, c.want, c.write)
			}
			if m.Cache != c.own || m.Price.CacheWrite != c.price.CacheWrite {
				t.Error("the model of others was changed")
			}
		})
	}
	if withPromptCache(nil, CacheHour, true) != nil {
		t.Error("no model")
	}
}

func TestPromptCache_LongWait(t *testing.T) {
	turn := func(took time.Duration) []*history.Message {
		call := &lathe.ToolCall{State: &lathe.Completed{Start: 1000, End: 1000 + lathe.Time(took.Milliseconds())}}
		return []*history.Message{{Message: lathe.Message{Parts: []lathe.Part{{Body: call}}}}}
	}
	if hasLongWait(turn(4*time.Minute)) || !hasLongWait(turn(6*time.Minute)) {
		t.Error("a wait is long when it outlasts the short cache")
	}
}
