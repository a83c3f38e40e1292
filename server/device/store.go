package device

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/atomicfile"
	"github.com/lathe-agent/lathe/internal/filelock"
	"github.com/lathe-agent/lathe/internal/filestat"
)

// Store is the file of devices.
type Store struct {
	path string
	now  func() time.Time

	mu      sync.Mutex // guards the fields below
	read    bool
	stat    filestat.Stat // of the file that content was read from
	content content
	open    map[string]map[*request]bool // by device
	polling bool
	closed  bool
	ended   sync.WaitGroup
	done    chan struct{}
}

// content is the file.
type content struct {
	Name    string   `json:"name,omitempty"` // distinguishes the cookies of servers on one host
	Devices []Device `json:"devices"`
	Links   []link   `json:"links,omitempty"`
	PushKey string   `json:"pushKey,omitempty"` // private key that signs notifications
}

// Open returns the store of a file, which is made when the first link or device is. now is the clock; nil is the
// system's.
func Open(path string, now func() time.Time) *Store {
	if now == nil {
		now = time.Now
	}
	return &Store{path: path, now: now, done: make(chan struct{})}
}

// Close ends the watch for changes of other processes.
func (s *Store) Close() {
	s.mu.Lock()
	if !s.closed {
		s.closed = true
		close(s.done)
	}
	s.mu.Unlock()
	s.ended.Wait()
}

// NewLink makes a pairing link: the token for it, and when it expires. The name is that of the device unless it
// names itself.
func (s *Store) NewLink(ctx context.Context, right Right, name string) (token string, until time.Time, err error) {
	if right < Read || right > Full {
		return "", until, lathe.Errorf(lathe.Invalid, "a device needs the right read, answer or full")
	}
	if name != "" {
		name = CleanName(name)
	}
	token = newSecret()
	err = s.change(ctx, func(c *content, now time.Time) error {
		if len(c.Links) >= mostLinks {
			return lathe.Errorf(lathe.Limited, "%d pairing links are unused; try again in two minutes", mostLinks)
		}
		until = now.Add(LinkTime)
		c.Links = append(c.Links, link{digestOf(token), name, right, lathe.TimeOf(now), lathe.TimeOf(until)})
		return nil
	})
	return token, until, err
}

// Redeem turns a link into a device and returns the secret for its cookie. A link works once. replaced is a device
// that the same browser had before, or "".
func (s *Store) Redeem(ctx context.Context, token, name, replaced string) (d Device, secret string, err error) {
	want := digestOf(token)
	s.mu.Lock()
	err = s.refresh()
	known := slices.ContainsFunc(s.content.Links, func(l link) bool { return l.Token.equals(want) })
	s.mu.Unlock()
	if err != nil {
		return d, "", err
	}
	if !known { // guesses write nothing
		return d, "", errLink
	}
	err = s.change(ctx, func(c *content, now time.Time) error {
		at := slices.IndexFunc(c.Links, func(l link) bool { return l.Token.equals(want) })
		if at < 0 {
			return errLink
		}
		l := c.Links[at]
		c.Links = slices.Delete(c.Links, at, at+1)
		if name == "" {
			name = l.Name
		}
		d, secret, err = c.add(name, l.Right, replaced, now)
		return err
	})
	return d, secret, err
}

// errLink gives no reason: whether a token was ever valid is nobody's business.
var errLink = lathe.Errorf(lathe.Denied, "This pairing link is used or expired; create a new one")

// Add makes a device without a link, for a browser that knows the password.
func (s *Store) Add(ctx context.Context, name string, right Right, replaced string) (d Device, secret string, err error) {
	err = s.change(ctx, func(c *content, now time.Time) error {
		d, secret, err = c.add(name, right, replaced, now)
		return err
	})
	return d, secret, err
}

func (c *content) add(name string, right Right, replaced string, now time.Time) (Device, string, error) {
	c.Devices = slices.DeleteFunc(c.Devices, func(d Device) bool { return replaced != "" && d.ID == replaced })
	if len(c.Devices) >= mostDevices {
		return Device{}, "", lathe.Errorf(lathe.Limited, "%d devices are paired, which is the maximum; revoke one with `lathe device revoke ID`", mostDevices)
	}
	secret := newSecret()
	d := Device{ID: newID("dev_"), Name: CleanName(name), Right: right, Created: lathe.TimeOf(now), Seen: lathe.TimeOf(now), Secret: digestOf(secret)}
	c.Devices = append(c.Devices, d)
	return d, secret, nil
}

// List returns the devices, oldest first.
func (s *Store) List() ([]Device, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.refresh()
	return slices.Clone(s.content.Devices), err
}

// Name distinguishes the cookies of stores; "" is a store without devices.
func (s *Store) Name() (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.refresh()
	return s.content.Name, err
}

// Find returns the device with a secret.
func (s *Store) Find(secret string) (d Device, ok bool) {
	want := digestOf(secret)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refresh() != nil { // a file that cannot be read authorizes nobody
		return d, false
	}
	for _, one := range s.content.Devices {
		if one.Secret.equals(want) {
			d, ok = one, true
		}
	}
	return d, ok
}

// Touch saves that a device was used.
func (s *Store) Touch(ctx context.Context, d Device) {
	now := s.now()
	if age := now.Sub(d.Seen.Std()); age < seenEvery && age > -seenEvery {
		return
	}
	_ = s.change(ctx, func(c *content, now time.Time) error { // a full disk must not lock a device out
		if at := c.index(d.ID); at >= 0 {
			c.Devices[at].Seen = lathe.TimeOf(now)
		}
		return nil
	})
}

// Revoke removes a device. Its open requests end.
func (s *Store) Revoke(ctx context.Context, id string) error {
	return s.change(ctx, func(c *content, _ time.Time) error {
		at := c.index(id)
		if at < 0 {
			return lathe.Errorf(lathe.NotFound, "device %q not found; `lathe device list` lists devices", CleanName(id))
		}
		c.Devices = slices.Delete(c.Devices, at, at+1)
		return nil
	})
}

// Subscribe sets where a device gets notifications; nil ends them.
func (s *Store) Subscribe(ctx context.Context, id string, to *Subscription) error {
	return s.change(ctx, func(c *content, _ time.Time) error {
		at := c.index(id)
		if at < 0 {
			return lathe.Errorf(lathe.NotFound, "the device is revoked")
		}
		c.Devices[at].Push = to
		return nil
	})
}

// PushKey returns the private key that signs notifications. fresh makes one at first use.
func (s *Store) PushKey(ctx context.Context, fresh func() string) (key string, err error) {
	s.mu.Lock()
	err = s.refresh()
	key = s.content.PushKey
	s.mu.Unlock()
	if err != nil || key != "" {
		return key, err
	}
	err = s.change(ctx, func(c *content, _ time.Time) error {
		if c.PushKey == "" {
			c.PushKey = fresh()
		}
		key = c.PushKey
		return nil
	})
	return key, err
}

func (c *content) index(id string) int {
	return slices.IndexFunc(c.Devices, func(d Device) bool { return d.ID == id })
}

// change edits the file under the lock that all processes take.
func (s *Store) change(ctx context.Context, edit func(c *content, now time.Time) error) error {
	if err := os.MkdirAll(filepath.Dir(s.path), 0o700); err != nil {
		return lathe.Errorf(lathe.Unavailable, "cannot create the folder for devices: %w", err)
	}
	ctx, stop := context.WithTimeout(ctx, 10*time.Second)
	defer stop()
	release, err := filelock.Lock(ctx, s.path+".lock")
	if err != nil {
		return lathe.Errorf(lathe.Unavailable, "cannot save devices: %w", err)
	}
	defer release()
	c, _, err := s.load()
	if err != nil {
		return err
	}
	now := s.now()
	c.Links = slices.DeleteFunc(c.Links, func(l link) bool {
		return !now.Before(l.Until.Std()) || l.Created.Std().After(now.Add(clockSkew))
	})
	if err := edit(&c, now); err != nil {
		return err
	}
	if c.Name == "" {
		c.Name = newID("")
	}
	data, err := json.MarshalIndent(c, "", "\t")
	if err == nil {
		err = atomicfile.Write(s.path, append(data, '\n'))
	}
	if err != nil {
		return lathe.Errorf(lathe.Unavailable, "cannot save devices: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.refresh()
}

// load reads the file.
func (s *Store) load() (c content, at filestat.Stat, err error) {
	f, err := os.Open(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return c, at, nil
	}
	if err != nil {
		return c, at, lathe.Errorf(lathe.Unavailable, "cannot read devices: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil {
		err = json.NewDecoder(f).Decode(&c)
	}
	if err != nil {
		return content{}, at, lathe.Errorf(lathe.Unavailable, "cannot read devices in %s: %w; delete the file and pair your devices again", s.path, err)
	}
	return c, filestat.Of(info), nil
}

// refresh reads the file again if it changed, and ends the requests of devices that are gone. The caller holds mu.
func (s *Store) refresh() error {
	var at filestat.Stat
	info, err := os.Stat(s.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return lathe.Errorf(lathe.Unavailable, "cannot read devices: %w", err)
	default:
		at = filestat.Of(info)
	}
	if s.read && at == s.stat {
		return nil
	}
	c, at, err := s.load()
	if err != nil {
		s.read, s.content = false, content{}
		s.endGone()
		return err
	}
	s.read, s.stat, s.content = true, at, c
	s.endGone()
	return nil
}

// Path is the file.
func (s *Store) Path() string { return s.path }
