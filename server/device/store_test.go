package device_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/server/device"
)

// clock is a time that a test sets.
type clock struct {
	mu sync.Mutex // guards at
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// open returns two stores of one file, as two processes have them, and their clock.
func open(t *testing.T) (one, two *device.Store, at *clock, path string) {
	t.Helper()
	at = &clock{at: time.Date(2026, 11, 18, 12, 0, 0, 0, time.UTC)}
	path = filepath.Join(t.TempDir(), "data", "devices.json")
	one, two = device.Open(path, at.now), device.Open(path, at.now)
	t.Cleanup(one.Close)
	t.Cleanup(two.Close)
	return one, two, at, path
}

func link(t *testing.T, s *device.Store, r device.Right) string {
	t.Helper()
	token, _, err := s.NewLink(t.Context(), r, "")
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func TestStore_LinkWorksOnce(t *testing.T) {
	one, two, _, path := open(t)
	token := link(t, one, device.Answer)
	d, secret, err := two.Redeem(t.Context(), token, "phone", "")
	if err != nil || d.Right != device.Answer || d.Name != "phone" {
		t.Fatalf("%+v, %v", d, err)
	}
	if got, ok := one.Find(secret); !ok || got.ID != d.ID {
		t.Errorf("the other process finds %+v, %v", got, ok)
	}
	for _, s := range []*device.Store{one, two} {
		if _, _, err := s.Redeem(t.Context(), token, "thief", ""); lathe.CodeOf(err) != lathe.Denied {
			t.Errorf("used again: %v", err)
		}
	}
	for _, wrong := range []string{"", token[1:], token + "x", string(d.Secret)} {
		if _, ok := one.Find(wrong); ok {
			t.Errorf("%q is a secret", wrong)
		}
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if text, err := os.ReadFile(path); err != nil || strings.Contains(string(text), secret) || strings.Contains(string(text), token) {
		t.Errorf("the file has a secret: %s, %v", text, err)
	}
}

// Of many who redeem a link at once one gets in.
func TestStore_LinkRace(t *testing.T) {
	one, two, _, _ := open(t)
	token := link(t, one, device.Full)
	var all sync.WaitGroup
	won := make(chan string, 20)
	for i := range 20 {
		all.Go(func() {
			if _, secret, err := []*device.Store{one, two}[i%2].Redeem(t.Context(), token, "x", ""); err == nil {
				won <- secret
			}
		})
	}
	all.Wait()
	if len(won) != 1 {
		t.Errorf("%d devices from one link", len(won))
	}
}

func TestStore_LinkExpires(t *testing.T) {
	for _, c := range []struct {
		later time.Duration
		ok    bool
	}{{device.LinkTime - time.Second, true}, {device.LinkTime, false}, {24 * time.Hour, false}, {-time.Second, true}, {-time.Hour, false}} {
		s, _, at, _ := open(t)
		token := link(t, s, device.Read)
		at.add(c.later) // also a clock that is set back
		if _, _, err := s.Redeem(t.Context(), token, "", ""); (err == nil) != c.ok {
			t.Errorf("after %v: %v", c.later, err)
		}
	}
}

func TestStore_Limits(t *testing.T) {
	s, _, _, _ := open(t)
	for range 20 {
		link(t, s, device.Read)
	}
	if _, _, err := s.NewLink(t.Context(), device.Read, ""); lathe.CodeOf(err) != lathe.Limited {
		t.Errorf("one link more: %v", err)
	}
	for _, r := range []device.Right{0, device.Anyone, device.Full + 1} {
		if _, _, err := s.NewLink(t.Context(), r, ""); lathe.CodeOf(err) != lathe.Invalid {
			t.Errorf("the right %v: %v", r, err)
		}
	}
}

// A revoked device is gone for all processes, and its open requests end.
func TestStore_Revoke(t *testing.T) {
	one, two, _, _ := open(t)
	d, secret, err := one.Add(t.Context(), "laptop", device.Full, "")
	if err != nil {
		t.Fatal(err)
	}
	other, otherSecret, err := one.Add(t.Context(), "phone", device.Full, "")
	if err != nil {
		t.Fatal(err)
	}
	held, release, ok := one.Hold(t.Context(), d.ID)
	stays, releaseOther, _ := one.Hold(t.Context(), other.ID)
	defer release()
	defer releaseOther()
	if !ok || held.Err() != nil {
		t.Fatal("a paired device is refused")
	}
	if err := two.Revoke(t.Context(), d.ID); err != nil {
		t.Fatal(err)
	}
	<-held.Done() // or the test does not end
	if cause := context.Cause(held); !errors.Is(cause, device.ErrRevoked) {
		t.Error(cause)
	}
	if _, ok := one.Find(secret); ok {
		t.Error("a stolen cookie works after the device was revoked")
	}
	if _, _, ok := one.Hold(t.Context(), d.ID); ok {
		t.Error("a request that was on its way continues")
	}
	if _, ok := one.Find(otherSecret); !ok || stays.Err() != nil {
		t.Error("another device was revoked too")
	}
	if err := two.Revoke(t.Context(), d.ID); lathe.CodeOf(err) != lathe.NotFound {
		t.Error(err)
	}
}

// A file that is broken admits nobody, and says so.
func TestStore_BrokenFile(t *testing.T) {
	s, _, _, path := open(t)
	d, secret, err := s.Add(t.Context(), "x", device.Full, "")
	if err != nil {
		t.Fatal(err)
	}
	held, release, _ := s.Hold(t.Context(), d.ID)
	defer release()
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"", "{", `{"devices":[{"id":"dev_1","right":"anyone"}]}`, strings.Replace(string(good), `"full"`, `"all"`, 1)} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, ok := s.Find(secret); ok {
			t.Errorf("%.40q: admitted", text)
		}
		if _, err := s.List(); err == nil || !strings.Contains(err.Error(), "delete the file") {
			t.Errorf("%.40q: %v", text, err)
		}
		if _, _, err := s.Add(t.Context(), "y", device.Full, ""); err == nil {
			t.Errorf("%.40q was replaced", text)
		}
	}
	if held.Err() == nil {
		t.Error("a request of a device that is not known any more continues")
	}
	if err := os.WriteFile(path, good, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, ok := s.Find(secret); !ok {
		t.Error("the whole file does not admit its device")
	}
}

func TestStore_Touch(t *testing.T) {
	s, _, at, path := open(t)
	d, _, err := s.Add(t.Context(), "x", device.Full, "")
	if err != nil {
		t.Fatal(err)
	}
	before, _ := os.Stat(path)
	at.add(14 * time.Minute)
	s.Touch(t.Context(), d)
	if after, _ := os.Stat(path); !os.SameFile(before, after) {
		t.Error("each request writes")
	}
	at.add(time.Minute)
	s.Touch(t.Context(), d)
	if all, err := s.List(); err != nil || all[0].Seen != lathe.TimeOf(at.now()) {
		t.Errorf("%+v, %v", all, err)
	}
}

// Pairing again in one browser leaves one device.
func TestStore_Replaces(t *testing.T) {
	s, _, _, _ := open(t)
	d, old, err := s.Add(t.Context(), "x", device.Full, "")
	if err != nil {
		t.Fatal(err)
	}
	if _, fresh, err := s.Redeem(t.Context(), link(t, s, device.Read), "x", d.ID); err != nil || fresh == old {
		t.Fatal(err)
	}
	if _, ok := s.Find(old); ok {
		t.Error("the old cookie still works")
	}
	if all, err := s.List(); err != nil || len(all) != 1 || all[0].Right != device.Read {
		t.Errorf("%+v, %v", all, err)
	}
}

func TestCleanName(t *testing.T) {
	for name, want := range map[string]string{
		"Anna's phone": "Anna's phone", "": "unnamed device", " \t\n": "unnamed device", "a\x1b[31m\x00b\u202ec\u2028d": "a[31mbc d",
		"\xff\xfe": "unnamed device", strings.Repeat("x", 200): strings.Repeat("x", 63) + "…", "日本": "日本",
	} {
		if got := device.CleanName(name); got != want {
			t.Errorf("%q: %q, not %q", name, got, want)
		}
	}
}

func TestAttempts(t *testing.T) {
	var a device.Attempts
	now := time.Date(2026, 11, 18, 12, 0, 0, 0, time.UTC)
	for i := range 10 {
		if a.Begin("1", now) != 0 {
			t.Fatalf("attempt %d is refused", i)
		}
	}
	if wait := a.Begin("1", now.Add(20*time.Second)); wait != 40*time.Second {
		t.Errorf("wait %v", wait)
	}
	if a.Begin("2", now) != 0 {
		t.Error("another address is refused")
	}
	for i := range 200 { // many addresses share the limit of all
		a.Begin(fmt.Sprint("many", i), now)
	}
	if a.Begin("new", now) == 0 {
		t.Error("no limit for all")
	}
	if a.Begin("1", now.Add(time.Minute)) != 0 || a.Begin("1", now.Add(-time.Hour)) != 0 {
		t.Error("the limit does not end, or a clock that is set back locks out")
	}
	for range 50 { // who is right is not limited
		if a.Begin("right", now.Add(-time.Hour)) != 0 {
			t.Fatal("a right attempt counts")
		}
		a.Forgive("right")
	}
}
