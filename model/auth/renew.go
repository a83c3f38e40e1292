package auth

import (
	"context"
	"time"

	"github.com/lathe-agent/lathe"
)

// Renew asks a provider for a new token.
type Renew func(ctx context.Context, old OAuth) (OAuth, error)

// FreshToken returns a token that can be used, renewed if need be. However many goroutines and
// processes ask at once, one renews and the others get what it got.
func (f *File) FreshToken(ctx context.Context, id string, now func() time.Time, renew Renew) (OAuth, error) {
	token, err := f.token(id)
	if err != nil || !token.Expired(now()) {
		return token, err
	}
	release, err := f.lock(ctx)
	if err != nil {
		return OAuth{}, err
	}
	defer release()
	token, err = f.token(id) // someone may have renewed it meanwhile
	if err != nil || !token.Expired(now()) {
		return token, err
	}
	if ref, ok := f.References()[clean(id)]; ok {
		return f.renewReference(ctx, id, ref, token, renew)
	}
	if !f.owns(id) {
		return OAuth{}, missing(id, "the OpenCode login for %s has expired: renew it in OpenCode, or run \"lathe auth login %s\"")
	}
	token, err = renew(ctx, token)
	if err != nil {
		return OAuth{}, err
	}
	f.mu.Lock() // the old one is worth nothing now: whatever happens, this one must not be lost
	f.unsaved[clean(id)] = token
	f.mu.Unlock()
	if f.from.Content != "" {
		return token, nil
	}
	return token, f.edit(put(id, token))
}

// owns reports whether the entry is our own to renew.
func (f *File) owns(id string) bool {
	entries, err := f.entries()
	if err != nil {
		return false
	}
	_, ok := decodeAll(entries)[clean(id)]
	return ok
}

func (f *File) token(id string) (OAuth, error) {
	c, err := f.Credential(id)
	if err != nil {
		return OAuth{}, err
	}
	if ref, ok := c.(Reference); ok {
		_, err := f.resolve(ref)
		return OAuth{}, authFault(id, "cannot use the %s login for %s: %w", ref.Name, id, err)
	}
	token, ok := c.(OAuth)
	if !ok {
		return OAuth{}, missing(id, "not logged in to %s: run \"lathe auth login %s\"")
	}
	return token, nil
}

func missing(id, format string) error { return authFault(id, format, id, id) }

// authFault is an error that messages show as a missing login.
func authFault(id, format string, args ...any) error {
	e := lathe.Errorf(lathe.Unauthorized, format, args...)
	e.Fault = &lathe.ProviderAuthFault{ProviderID: id, Message: e.Message}
	return e
}
