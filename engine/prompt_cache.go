package engine

import (
	"slices"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/compact"
	"github.com/lathe-agent/lathe/engine/history"
	"github.com/lathe-agent/lathe/model"
)

// PromptCache is how long providers that charge for it are asked to remember a prompt.
type PromptCache string

// The choices of a prompt cache. Auto, as the zero value, is an hour for headless turns that wait long for
// their tools, where the price says that it pays, and else what the model's client does best with.
const (
	CacheAuto PromptCache = "auto"
	CacheFive PromptCache = "5m"
	CacheHour PromptCache = "1h"
	CacheOff  PromptCache = "off"
)

// withPromptCache is the model with the cache that a turn should have; waits says that a tool of the turn
// took longer than the short cache lasts.
func withPromptCache(m *Model, choice PromptCache, waits bool) *Model {
	if m == nil || m.Cache == model.NoCache { // it has none
		return m
	}
	ttl := m.Cache
	switch choice {
	case CacheFive:
		ttl = model.CacheFive
	case CacheHour:
		ttl = model.CacheHour
	case CacheOff:
		ttl = model.NoCache
	default:
		if waits && m.Price.HourCacheSaves() {
			ttl = model.CacheHour
		}
	}
	if ttl == m.Cache {
		return m
	}
	own := *m
	own.Cache = ttl
	if ttl == model.CacheHour {
		own.Price = m.Price.WithHourCache()
	}
	return &own
}

// hasLongWait reports whether a call among messages took longer than providers remember a prompt.
func hasLongWait(messages []*history.Message) bool {
	return slices.ContainsFunc(history.Calls(messages), func(c *lathe.ToolCall) bool {
		switch s := c.State.(type) {
		case *lathe.Completed:
			return s.End-s.Start > lathe.Time(compact.CacheTime.Milliseconds())
		case *lathe.Failed:
			return s.End-s.Start > lathe.Time(compact.CacheTime.Milliseconds())
		default: // it has not ended
			return false
		}
	})
}
