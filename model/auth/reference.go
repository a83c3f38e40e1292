package auth

import (
	"context"
	"crypto/sha256"
	"encoding/hex"

	"github.com/lathe-agent/lathe"
)

// References returns the entries that point to files of other tools, by provider ID.
func (f *File) References() map[string]Reference {
	entries, err := f.entries()
	if err != nil {
		return nil
	}
	out := map[string]Reference{}
	for id, c := range decodeAll(entries) {
		if ref, ok := c.(Reference); ok {
			out[id] = ref
		}
	}
	return out
}

// resolve reads the login that a reference points to, with the short-lived token that we keep for it.
func (f *File) resolve(ref Reference) (Credential, error) {
	if f.from.Resolve == nil {
		return nil, lathe.Errorf(lathe.Unauthorized, "this program does not read the files of %s", ref.Name)
	}
	c, err := f.from.Resolve(ref)
	if err != nil {
		return nil, err
	}
	if login, ok := c.(OAuth); ok && login.Access.IsEmpty() && !ref.Short.IsEmpty() && ref.For == digest(login.Refresh) {
		login.Access, login.Expires = ref.Short, ref.Expires
		return login, nil
	}
	return c, nil
}

// digest names a login without showing it.
func digest(s Secret) string {
	sum := sha256.Sum256([]byte(s.Reveal()))
	return hex.EncodeToString(sum[:8])
}

// renewReference gets a new short-lived token for a login that lasts, and saves it with the
// reference. A login that expires is left to its owner: its refresh token changes on use, which would
// log the user out of the other tool. The caller holds the lock.
func (f *File) renewReference(ctx context.Context, id string, ref Reference, login OAuth, renew Renew) (OAuth, error) {
	if login.Refresh.IsEmpty() {
		how := "log in again there"
		if ref.Renew != "" {
			how = "run `" + ref.Renew + "`"
		}
		return OAuth{}, authFault(id, "the %s login for %s has expired, and lathe does not renew logins of other tools: %s", ref.Name, id, how)
	}
	token, err := renew(ctx, login)
	if err != nil {
		return OAuth{}, err
	}
	ref.Short, ref.Expires, ref.For = token.Access, token.Expires, digest(login.Refresh)
	if f.from.Content != "" {
		f.mu.Lock()
		f.unsaved[clean(id)] = token
		f.mu.Unlock()
		return token, nil
	}
	return token, f.edit(put(id, ref))
}
