// Package device keeps the browsers that may use a server without its password: paired devices, their rights, the
// links that pair them, and where they want notifications.
//
// A device has a secret in a cookie. The file of a Store holds only hashes of secrets and of links, so reading it
// gives no access. All processes with one data folder share the file: each change is made under a lock between them
// and replaces the file at once. A Store is safe for use by many goroutines. It starts one goroutine, which notices
// devices that another process revoked while a request of them is open; Close waits for it.
//
// Start reading at Store.
package device

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"strings"
	"time"
	"unicode"

	"github.com/lathe-agent/lathe"
)

// Device is a paired browser.
type Device struct {
	ID      string        `json:"id"` // dev_…
	Name    string        `json:"name"`
	Right   Right         `json:"right"`
	Created lathe.Time    `json:"created"`
	Seen    lathe.Time    `json:"seen"` // exact to a quarter of an hour
	Secret  digest        `json:"secret"`
	Push    *Subscription `json:"push,omitempty"`
}

// Subscription is where and about what a device wants notifications.
type Subscription struct {
	Endpoint string   `json:"endpoint"`
	Key      string   `json:"p256dh"`
	Auth     string   `json:"auth"`
	Kinds    []string `json:"kinds"`
}

// link is a pairing link that was not used yet.
type link struct {
	Token   digest     `json:"token"`
	Name    string     `json:"name,omitempty"`
	Right   Right      `json:"right"`
	Created lathe.Time `json:"created"`
	Until   lathe.Time `json:"until"`
}

// LinkTime is how long a pairing link can be used.
const LinkTime = 2 * time.Minute

const (
	mostDevices = 100
	mostLinks   = 20
	mostName    = 64 // characters
	seenEvery   = 15 * time.Minute
	// clockSkew is how far in the future a link may have been made: by another process, or before the clock was set
	// back.
	clockSkew = time.Minute
)

// digest is the hash of a secret of 256 bits. A fast hash is enough for those.
type digest string

func digestOf(secret string) digest {
	sum := sha256.Sum256([]byte(secret))
	return digest(hex.EncodeToString(sum[:]))
}

// equals compares in constant time.
func (d digest) equals(other digest) bool {
	return subtle.ConstantTimeCompare([]byte(d), []byte(other)) == 1
}

// newSecret returns 256 random bits.
func newSecret() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // it never fails
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// newID returns a short random name.
func newID(prefix string) string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // it never fails
	return prefix + hex.EncodeToString(b[:])
}

// CleanName makes a name of a device fit for lists: printable, on one line and short.
func CleanName(name string) string {
	name = strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return ' '
		}
		if r == unicode.ReplacementChar || !unicode.IsGraphic(r) {
			return -1
		}
		return r
	}, name)
	name = strings.Join(strings.Fields(name), " ")
	if runes := []rune(name); len(runes) > mostName {
		name = strings.TrimSpace(string(runes[:mostName-1])) + "…"
	}
	if name == "" {
		return "unnamed device"
	}
	return name
}
