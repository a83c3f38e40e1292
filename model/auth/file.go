package auth

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/atomicfile"
	"github.com/lathe-agent/lathe/internal/filelock"
)

// Source is where credentials come from.
type Source struct {
	Path string
	// Content, when it is not empty, stands for the file, which is then neither read nor
	// written.
	Content string
	// Borrowed is another program's file, in which what Path lacks is looked up. It is never
	// written, and its tokens are not renewed: that would end them for their owner.
	Borrowed string
	// Resolve reads the login that a reference points to; nil finds none. Package othertool has one. A
	// refresh token in its result must be one that does not change when it is used.
	Resolve func(Reference) (Credential, error)
}

// File is the credential file.
type File struct {
	from Source
	turn chan struct{} // held by the one goroutine that changes something

	mu      sync.Mutex       // guards unsaved
	unsaved map[string]OAuth // renewed, but not written down
}

// Open returns the file; nothing is read yet, and it need not exist.
func Open(s Source) *File {
	return &File{from: s, turn: make(chan struct{}, 1), unsaved: map[string]OAuth{}}
}

// All returns every valid credential by provider id. Entries that are not valid are passed
// over. A reference stands for the login that it points to, unless that cannot be read.
func (f *File) All() (map[string]Credential, error) {
	entries, err := f.entries()
	if err != nil {
		return nil, err
	}
	out := map[string]Credential{}
	if f.from.Content == "" && f.from.Borrowed != "" {
		if borrowed, err := load(f.from.Borrowed); err == nil { // another's file may be as it likes
			maps.Copy(out, decodeAll(borrowed))
		}
	}
	maps.Copy(out, decodeAll(entries))
	for id, c := range out {
		if ref, ok := c.(Reference); ok {
			if login, err := f.resolve(ref); err == nil { // FreshToken reports the error to whoever needs the login
				out[id] = login
			}
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for id, token := range f.unsaved {
		if stored, ok := out[id].(OAuth); ok && stored.Expires.Before(token.Expires) {
			out[id] = token
		}
	}
	return out, nil
}

// InvalidIDs returns the ids of entries that are not valid, so that the user can be warned.
func (f *File) InvalidIDs() ([]string, error) {
	entries, err := f.entries()
	if err != nil {
		return nil, err
	}
	known := decodeAll(entries)
	var out []string
	for _, key := range slices.Sorted(maps.Keys(entries)) {
		if known[clean(key)] == nil {
			out = append(out, key)
		}
	}
	return out, nil
}

// Borrowed returns the provider IDs that are only in OpenCode's file.
func (f *File) Borrowed() ([]string, error) {
	all, err := f.All()
	if err != nil {
		return nil, err
	}
	var out []string
	for _, id := range slices.Sorted(maps.Keys(all)) {
		if !f.owns(id) {
			out = append(out, id)
		}
	}
	return out, nil
}

// FixPermissions takes from others the right to read the file, and reports whether they had it.
func (f *File) FixPermissions() (fixed bool, err error) {
	if f.from.Content != "" || runtime.GOOS == "windows" { // rights are not bits there
		return false, nil
	}
	info, err := os.Stat(f.from.Path)
	if err != nil || !info.Mode().IsRegular() || info.Mode().Perm()&0o077 == 0 {
		return false, nil // reading says what else is wrong
	}
	if _, foreign := stranger(info); foreign {
		return false, nil
	}
	if err := os.Chmod(f.from.Path, 0o600); err != nil {
		return false, lathe.Errorf(lathe.Unavailable, "other users can read your credentials: %w", err)
	}
	return true, nil
}

// Credential returns the credential of one provider, nil if there is none.
func (f *File) Credential(id string) (Credential, error) {
	all, err := f.All()
	return all[clean(id)], err
}

// Set saves a credential and replaces the previous one.
func (f *File) Set(ctx context.Context, id string, c Credential) error {
	return f.change(ctx, put(id, c))
}

func put(id string, c Credential) func(map[string]json.RawMessage) error {
	return func(entries map[string]json.RawMessage) error {
		raw, err := encode(c, take(entries, id))
		entries[clean(id)] = raw
		return err
	}
}

// Remove deletes the credential of a provider.
func (f *File) Remove(ctx context.Context, id string) error {
	return f.change(ctx, func(entries map[string]json.RawMessage) error {
		if take(entries, id) == nil {
			return lathe.Errorf(lathe.NotFound, "no credential for %s; \"lathe auth list\" shows the saved ones", id)
		}
		return nil
	})
}

// clean takes the slashes off the end of an id: addresses are ids too.
func clean(id string) string { return strings.TrimRight(id, "/") }

// take removes an entry in all its spellings and returns the one that counted.
func take(entries map[string]json.RawMessage, id string) (found json.RawMessage) {
	id = clean(id)
	for _, key := range slices.Sorted(maps.Keys(entries)) { // without slashes comes first
		if clean(key) == id {
			if found == nil {
				found = entries[key]
			}
			delete(entries, key)
		}
	}
	return found
}

func decodeAll(entries map[string]json.RawMessage) map[string]Credential {
	out := map[string]Credential{}
	for _, key := range slices.Sorted(maps.Keys(entries)) {
		id := clean(key)
		if _, taken := out[id]; taken || id == "" {
			continue
		}
		if c, ok := decode(entries[key]); ok {
			out[id] = c
		}
	}
	return out
}

func (f *File) entries() (map[string]json.RawMessage, error) {
	if f.from.Content != "" {
		return parse([]byte(f.from.Content), "the credentials in the environment")
	}
	return load(f.from.Path)
}

// mostCredentials is the largest file that is read, in bytes.
const mostCredentials = 16 << 20

// load reads the credential file; a missing file has no entries. It refuses anything but a regular file of sane size.
func load(path string) (map[string]json.RawMessage, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return map[string]json.RawMessage{}, nil
	case err != nil:
		return nil, lathe.Errorf(lathe.Unavailable, "read the credentials: %w", err)
	case !info.Mode().IsRegular() || info.Size() > mostCredentials: // a pipe would never end
		return nil, lathe.Errorf(lathe.Invalid, "%s is not a credential file (%s); move it away", path, kind(info))
	}
	if uid, foreign := stranger(info); foreign {
		return nil, lathe.Errorf(lathe.Denied, "%s belongs to another user (uid %d), and lathe reads only your own credentials; move it away, or make it yours with `sudo chown $USER %s`", path, uid, path)
	}
	src, err := os.ReadFile(path)
	if err != nil {
		return nil, lathe.Errorf(lathe.Unavailable, "read the credentials: %w", err)
	}
	return parse(src, path)
}

func kind(info fs.FileInfo) string {
	switch {
	case info.IsDir():
		return "it is a folder"
	case info.Mode().IsRegular():
		return "it is too large"
	}
	return "it is a device or a pipe"
}

// parse reads the entries. What the file holds is not in the error.
func parse(src []byte, where string) (map[string]json.RawMessage, error) {
	entries := map[string]json.RawMessage{}
	if len(src) == 0 {
		return entries, nil
	}
	if json.Unmarshal(src, &entries) != nil || entries == nil {
		return nil, lathe.Errorf(lathe.Invalid, "%s is not a JSON object of credentials; fix it, or move it away and log in again", where)
	}
	return entries, nil
}

// change edits the entries and writes them, under an exclusive lock.
func (f *File) change(ctx context.Context, edit func(map[string]json.RawMessage) error) error {
	if f.from.Content != "" {
		return lathe.Errorf(lathe.Conflict, "the credentials come from the environment and cannot be changed; unset LATHE_AUTH_CONTENT (or OPENCODE_AUTH_CONTENT) to use the file")
	}
	release, err := f.lock(ctx)
	if err != nil {
		return err
	}
	defer release()
	return f.edit(edit)
}

// edit is change for a caller that holds the lock.
func (f *File) edit(edit func(map[string]json.RawMessage) error) error {
	entries, err := load(f.from.Path)
	if err != nil {
		return err
	}
	if err := edit(entries); err != nil {
		return err
	}
	text, err := json.MarshalIndent(entries, "", "  ")
	if err != nil {
		return lathe.Errorf(lathe.Internal, "write the credentials: %w", err)
	}
	if err := replace(f.from.Path, append(text, '\n')); err != nil {
		return lathe.Errorf(lathe.Unavailable, "write the credentials: %w", err)
	}
	return nil
}

// lock keeps other goroutines and processes out until released.
func (f *File) lock(ctx context.Context) (release func(), err error) {
	select {
	case f.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if f.from.Content != "" { // there is no file to share
		return func() { <-f.turn }, nil
	}
	if err = os.MkdirAll(filepath.Dir(f.from.Path), 0o700); err == nil {
		var unlock func()
		if unlock, err = filelock.Lock(ctx, f.from.Path+".lock"); err == nil {
			return func() { unlock(); <-f.turn }, nil
		}
	}
	<-f.turn
	if ctx.Err() != nil {
		return nil, err
	}
	return nil, lathe.Errorf(lathe.Unavailable, "lock the credentials: %w", err)
}

// replace puts the file in place; a link stays one.
func replace(path string, text []byte) error {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	return atomicfile.Write(path, text)
}
