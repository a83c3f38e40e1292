// Package fence limits the effects of a node by time. A node that shares its database with others may act only while
// its lease there is valid. A fence is that time limit on the machine's own clock, for code that cannot
// ask the database: before a command starts, before a file is replaced, and in the launcher of a running command.
//
// The driver of the database owns the fence and extends it. A nil fence never expires: a program on a database of
// its own has none. A fence is safe for use by many goroutines.
package fence

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

// ErrExpired is the error of a fence whose limit has passed.
var ErrExpired = errors.New("this node lost its lease in the database, so another node may continue the session; nothing was changed")

// Fence is the time until which this node may cause effects.
type Fence struct {
	until atomic.Int64 // of Now

	mu       sync.Mutex // guards the field below
	onExtend []func(until time.Duration)
}

// New returns a fence that has expired, until the first Extend.
func New() *Fence { return &Fence{} }

// Extend moves the limit. until is measured by Now, from before the database was asked, so that the node's view ends
// first. It never moves back.
func (f *Fence) Extend(until time.Duration) {
	for {
		old := f.until.Load()
		if int64(until) <= old {
			return
		}
		if f.until.CompareAndSwap(old, int64(until)) {
			break
		}
	}
	f.mu.Lock()
	told := f.onExtend
	f.mu.Unlock()
	for _, g := range told {
		g(until)
	}
}

// OnExtend calls g after each Extend, in its goroutine. g must not block.
func (f *Fence) OnExtend(g func(until time.Duration)) {
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.onExtend = append(f.onExtend[:len(f.onExtend):len(f.onExtend)], g)
}

// Until returns the limit, measured by Now. 0 means that there is none, or that it was never extended.
func (f *Fence) Until() time.Duration {
	if f == nil {
		return 0
	}
	return time.Duration(f.until.Load())
}

// Left returns how long the fence is still valid, at most 0 after its end. A nil fence has no end.
func (f *Fence) Left() time.Duration {
	if f == nil {
		return time.Hour
	}
	return f.Until() - Now()
}

// contextKey is the key of a fence in a context.
type contextKey struct{}

// NewContext returns a context for work that ends at a fence.
func NewContext(ctx context.Context, f *Fence) context.Context {
	if f == nil {
		return ctx
	}
	return context.WithValue(ctx, contextKey{}, f)
}

// FromContext returns the fence of a context, or nil.
func FromContext(ctx context.Context) *Fence {
	f, _ := ctx.Value(contextKey{}).(*Fence)
	return f
}

// Valid returns an error once the limit has passed.
func (f *Fence) Valid() error {
	if f.Left() > 0 {
		return nil
	}
	return ErrExpired
}
