package history

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lathe-agent/lathe"
)

func testCache(t *testing.T) *Cache {
	t.Helper()
	start := time.Now()
	k := NewCache(func() lathe.Time { return lathe.Time(time.Since(start).Milliseconds()) }, func() {})
	t.Cleanup(func() { k.Close() })
	return k
}

func remembered(id lathe.SessionID, bytes int) *Conversation {
	return &Conversation{Session: lathe.Session{ID: id}, bytes: bytes}
}

func TestMemories_LetGoAfterMinutes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := testCache(t)
		k.Put(remembered("a", 10))
		time.Sleep(2 * time.Minute)
		k.Put(remembered("b", 10))
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if k.Take("a") != nil {
			t.Error("one that nobody used for four minutes is still there")
		}
		if m := k.Take("b"); m == nil || k.Take("b") != nil {
			t.Error("one of two minutes is not there, or there twice")
		}
		if n := held(k); n != 0 {
			t.Errorf("%d bytes are counted for nothing", n)
		}
		k.Put(remembered("c", 10))
		time.Sleep(2 * memoryTime)
		synctest.Wait()
		if waits(k) || len(k.byID) != 0 {
			t.Error("it waits for nothing")
		}
	})
}

// held is how many bytes a cache keeps, and waits whether it has something to do later.
func held(k *Cache) int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.bytes
}

func waits(k *Cache) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.timer != nil
}

// Memory is given back once after a busy time, also if all its sessions were deleted. Then nothing wakes the process.
func TestMemories_Rest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := testCache(t)
		var idles atomic.Int64
		k.onIdle = func() { idles.Add(1) }
		k.Put(remembered("a", 10))
		time.Sleep(memoryTime - time.Second)
		k.Put(remembered("b", 10))
		k.Forget("b")
		if n := held(k); k.Take("b") != nil || n != 10 {
			t.Errorf("a session that was deleted is kept: %d bytes", n)
		}
		time.Sleep(memoryTime - time.Second)
		synctest.Wait()
		if idles.Load() != 0 {
			t.Error("it rests while it is busy")
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if idles.Load() != 1 || waits(k) {
			t.Errorf("it gave memory back %d times; a timer is left: %v", idles.Load(), waits(k))
		}
		time.Sleep(10 * memoryTime)
		k.Put(remembered("c", 10))
		k.Forget("c")
		time.Sleep(memoryTime)
		synctest.Wait()
		if idles.Load() != 2 {
			t.Errorf("after a second busy time it gave memory back %d times", idles.Load())
		}
	})
}

func TestMemories_AreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := testCache(t)
		k.Put(remembered("a", memoryBytes/2))
		time.Sleep(time.Second)
		k.Put(remembered("b", memoryBytes/2))
		time.Sleep(time.Second)
		k.Put(remembered("b", memoryBytes/2)) // again: it counts once
		if k.Take("a") == nil {
			t.Fatal("what fits was let go")
		}
		time.Sleep(time.Second)
		k.Put(remembered("a", memoryBytes/2))
		time.Sleep(time.Second)
		k.Put(remembered("c", memoryBytes/4))
		if k.Take("b") != nil || k.Take("a") == nil || k.Take("c") == nil {
			t.Error("not the oldest went")
		}
		k.Put(remembered("d", memoryBytes*2))
		if k.Take("d") != nil {
			t.Error("one that is too large is kept")
		}
	})
}

// Events come in the order of their numbers, but those of a runner's own commits are taken
// in at once and then once more; older ones must not undo newer ones.
func TestMemory_OlderWordsChangeNothing(t *testing.T) {
	m := New(new(atomic.Int64))
	msg := func(finish string) lathe.Fact {
		return &lathe.MessageChanged{Info: lathe.Message{ID: "m", Created: 1, Data: &lathe.Assistant{Finish: finish}}}
	}
	part := func(text string) lathe.Fact {
		return &lathe.PartChanged{Part: lathe.Part{ID: "p", Message: "m", Body: &lathe.Text{Text: text}}}
	}
	for _, ev := range []lathe.Event{
		{Seq: 1, Fact: msg("")},
		{Seq: 2, Fact: part("a")},
		{Seq: 5, Fact: part("ab")},
		{Seq: 6, Fact: msg("stop")},
		{Seq: 1, Fact: msg("")},
		{Seq: 2, Fact: part("a")},
		{Seq: 5, Fact: part("a?")},
	} {
		m.Apply(ev)
	}
	h := m.ByID["m"]
	if got := h.Data.(*lathe.Assistant).Finish; got != "stop" || len(h.Parts) != 1 || h.Parts[0].GrowingText() != "ab" {
		t.Errorf("finish %q, parts %v", got, h.Parts)
	}
	before := h.version
	m.Apply(lathe.Event{Seq: 6, Fact: msg("stop")})
	if h.version != before {
		t.Error("a repeated event makes it convert the message again")
	}
	m.Apply(lathe.Event{Seq: 7, Fact: &lathe.PartRemoved{Message: "m", Part: "p"}})
	m.Apply(lathe.Event{Seq: 5, Fact: part("ab")})
	m.Apply(lathe.Event{Seq: 8, Fact: &lathe.MessageRemoved{Message: "m"}})
	m.Apply(lathe.Event{Seq: 6, Fact: msg("stop")})
	if len(m.Messages) != 0 {
		t.Errorf("what was removed is there again: %v", m.History())
	}
}

// Messages stand by time, then id, also when a prompt moves to the end.
func TestMemory_Order(t *testing.T) {
	m := New(new(atomic.Int64))
	put := func(seq int64, id lathe.MessageID, at lathe.Time) {
		m.Apply(lathe.Event{Seq: seq, Fact: &lathe.MessageChanged{Info: lathe.Message{ID: id, Created: at, Data: &lathe.User{}}}})
	}
	put(1, "z", 1)
	put(2, "b", 5)
	put(3, "a", 5)
	put(4, "q", 2)
	put(5, "q", 9)
	got := ""
	for _, msg := range m.History() {
		got += string(msg.ID)
	}
	if got != "zabq" {
		t.Errorf("they stand as %s", got)
	}
}
