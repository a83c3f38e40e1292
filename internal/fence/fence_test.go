package fence_test

import (
	"errors"
	"testing"
	"time"

	"github.com/lathe-agent/lathe/internal/fence"
)

func TestFence_IsValidUntilItsLimit(t *testing.T) {
	var none *fence.Fence
	if err := none.Valid(); err != nil || none.Until() != 0 {
		t.Errorf("without a fence: %v, until %v", err, none.Until())
	}
	f := fence.New()
	if !errors.Is(f.Valid(), fence.ErrExpired) {
		t.Errorf("valid before its first extension: %v", f.Valid())
	}
	var told []time.Duration
	f.OnExtend(func(u time.Duration) { told = append(told, u) })
	limit := fence.Now() + time.Hour
	f.Extend(limit)
	f.Extend(limit - time.Minute) // a late answer of the database
	if err := f.Valid(); err != nil || f.Until() != limit || len(told) != 1 {
		t.Errorf("extended: %v, until %v of %v, told %v", err, f.Until(), limit, told)
	}
	late := fence.New()
	late.Extend(fence.Now())
	if late.Valid() == nil || late.Left() > 0 {
		t.Error("valid at its limit")
	}
}
