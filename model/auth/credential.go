// Package auth stores the credentials of providers.
//
// It owns the credential file in OpenCode's format, which neither a crash nor a second process
// can damage, and the renewal of tokens that expire. It has the logins that vendors document:
// their table (method.go), the flows (browser.go, device.go) and the questions both ask
// (client.go). A File contacts no provider itself: the function that renews a token is an
// argument. Nothing here reads the environment: content that replaces the file is an argument
// too. A [Secret] is never printed by accident.
//
// A File is safe for use by many goroutines and, by a lock beside the file, processes. A
// Client is a value without state.
// Start reading at [File], then at [Client.Login].
package auth

import (
	"cmp"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/lathe-agent/lathe"
)

// hidden is the printed form of a secret.
const hidden = "[secret]"

// Secret is text that no formatting, logging or encoding shows. The zero value is empty.
type Secret struct {
	text *string // behind a pointer, so that not even reflection of a struct around it prints it
}

// NewSecret hides a text.
func NewSecret(text string) Secret {
	if text == "" {
		return Secret{}
	}
	return Secret{&text}
}

// Reveal returns the text, for the one place that needs it.
func (s Secret) Reveal() string {
	if s.text == nil {
		return ""
	}
	return *s.text
}

// IsEmpty reports whether there is no text.
func (s Secret) IsEmpty() bool { return s.text == nil }

// Format shows a mark for every verb.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(s.String())) }

// String shows a mark.
func (s Secret) String() string {
	if s.IsEmpty() {
		return ""
	}
	return hidden
}

// GoString shows a mark.
func (s Secret) GoString() string { return s.String() }

// LogValue shows a mark.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText shows a mark: the file is written by this package alone.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// ParseKey reads a key as people paste and pipe it: it trims white space, and refuses
// characters that cannot be sent in a header. The error shows nothing of it.
func ParseKey(text string) (Secret, error) {
	text = strings.TrimSpace(strings.TrimPrefix(text, "\uFEFF"))
	switch {
	case text == "":
		return Secret{}, lathe.Errorf(lathe.Invalid, "the key is empty")
	case strings.ContainsAny(text, "\r\n"):
		return Secret{}, lathe.Errorf(lathe.Invalid, "the key has more than one line; enter the key alone")
	case strings.ContainsAny(text, " \t"):
		return Secret{}, lathe.Errorf(lathe.Invalid, "the key contains a space; enter the key alone, without Bearer")
	case strings.ContainsAny(text, "\"'`"):
		return Secret{}, lathe.Errorf(lathe.Invalid, "the key is quoted; enter the key alone")
	case strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' }):
		return Secret{}, lathe.Errorf(lathe.Invalid, "the key contains invalid characters; copy it again")
	}
	return NewSecret(text), nil
}

// Credential is what lets us use a provider. Sealed.
type Credential interface{ credential() }

type (
	// Key is an API key.
	Key struct {
		Key      Secret
		Metadata map[string]string // such as a resource name
	}
	// OAuth is a token that expires, and the one that renews it.
	OAuth struct {
		Refresh, Access Secret
		Expires         time.Time // zero: it does not
		AccountID       string
		EnterpriseURL   string
		ClientID        string // of the app that logged in, which alone can renew
	}
	// WellKnown is a token of an organisation's server, for the variable it names.
	WellKnown struct {
		Variable string
		Token    Secret
	}
	// Reference points to a login in a file of another tool. lathe reads that file each time and never
	// writes it.
	Reference struct {
		Tool, Name string // the tool's ID and its name for people
		Path       string // its file
		Entry      string // the login in the file, if it has several
		Renew      string // the tool's command that renews the login
		// Short is the short-lived token that the provider gave for the login, and For the digest of
		// the login that it was given for: a new login of the tool makes it worthless.
		Short   Secret
		Expires time.Time
		For     string
	}
)

func (Key) credential()       {}
func (OAuth) credential()     {}
func (WellKnown) credential() {}
func (Reference) credential() {}

// margin is how long before its end a token counts as expired, so that it does not end on
// the way.
const margin = time.Minute

// Expired reports whether the token must be renewed before use.
func (o OAuth) Expired(now time.Time) bool {
	return o.Access.IsEmpty() || !o.Expires.IsZero() && now.Add(margin).After(o.Expires)
}

// wire is an entry of the file.
type wire struct {
	Type          string            `json:"type"`
	Key           string            `json:"key"`
	Metadata      map[string]string `json:"metadata"`
	Refresh       *string           `json:"refresh"`
	Access        *string           `json:"access"`
	Expires       *float64          `json:"expires"`
	AccountID     string            `json:"accountId"`
	EnterpriseURL string            `json:"enterpriseUrl"`
	ClientID      string            `json:"clientId"`
	Token         string            `json:"token"`
}

// wireReference is an entry that points to a file of another tool.
type wireReference struct {
	Tool    string   `json:"tool"`
	Name    string   `json:"name"`
	Path    string   `json:"path"`
	Entry   string   `json:"entry"`
	Renew   string   `json:"renew"`
	Token   string   `json:"token"`
	Expires *float64 `json:"expires"`
	For     string   `json:"for"`
}

func decodeReference(raw json.RawMessage) (c Credential, ok bool) {
	var w wireReference
	if json.Unmarshal(raw, &w) != nil || w.Tool == "" || w.Path == "" {
		return nil, false
	}
	return Reference{
		Tool: w.Tool, Name: cmp.Or(w.Name, w.Tool), Path: w.Path, Entry: w.Entry, Renew: w.Renew,
		Short: NewSecret(w.Token), Expires: until(w.Expires), For: w.For,
	}, true
}

// until reads a time in milliseconds; zero is no time.
func until(ms *float64) time.Time {
	if ms == nil || *ms <= 0 || *ms >= 1<<53 {
		return time.Time{}
	}
	return time.UnixMilli(int64(*ms))
}

// decode reads an entry; ok is false for one that is not valid.
func decode(raw json.RawMessage) (c Credential, ok bool) {
	var w wire
	if json.Unmarshal(raw, &w) != nil {
		return nil, false
	}
	switch {
	case w.Type == "api" && w.Key != "":
		return Key{Key: NewSecret(w.Key), Metadata: w.Metadata}, true
	case w.Type == "oauth" && w.Refresh != nil && w.Access != nil && w.Expires != nil:
		return OAuth{
			Refresh: NewSecret(*w.Refresh), Access: NewSecret(*w.Access), Expires: until(w.Expires),
			AccountID: w.AccountID, EnterpriseURL: w.EnterpriseURL, ClientID: w.ClientID,
		}, true
	case w.Type == "wellknown" && w.Key != "" && w.Token != "":
		return WellKnown{Variable: w.Key, Token: NewSecret(w.Token)}, true
	case w.Type == "reference":
		return decodeReference(raw)
	}
	return nil, false
}

// encode writes an entry over an older one of the same type, whose unknown members stay.
func encode(c Credential, old json.RawMessage) (json.RawMessage, error) {
	members := map[string]any{}
	switch c := c.(type) {
	case Key:
		members["type"], members["key"] = "api", c.Key.Reveal()
		members["metadata"] = c.Metadata
		if len(c.Metadata) == 0 {
			members["metadata"] = nil
		}
	case OAuth:
		members["type"], members["refresh"], members["access"] = "oauth", c.Refresh.Reveal(), c.Access.Reveal()
		members["expires"] = millis(c.Expires)
		members["accountId"], members["enterpriseUrl"] = orNil(c.AccountID), orNil(c.EnterpriseURL)
		members["clientId"] = orNil(c.ClientID)
	case WellKnown:
		members["type"], members["key"], members["token"] = "wellknown", c.Variable, c.Token.Reveal()
	case Reference:
		members["type"], members["tool"], members["name"], members["path"] = "reference", c.Tool, c.Name, c.Path
		members["entry"], members["renew"] = orNil(c.Entry), orNil(c.Renew)
		members["token"], members["for"], members["expires"] = orNil(c.Short.Reveal()), orNil(c.For), nil
		if !c.Short.IsEmpty() {
			members["expires"] = millis(c.Expires)
		}
	}
	var before map[string]json.RawMessage
	var kind any
	if json.Unmarshal(old, &before) == nil && json.Unmarshal(before["type"], &kind) == nil && kind == members["type"] {
		for k, v := range before {
			if _, known := members[k]; !known {
				members[k] = v
			}
		}
	}
	for k, v := range members {
		if v == nil {
			delete(members, k)
		}
	}
	return json.Marshal(members)
}

func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func orNil(s string) any {
	if s == "" {
		return nil
	}
	return s
}
