package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"strings"

	"github.com/lathe-agent/lathe/internal/phrase"
)

// sanitize makes a part of a tool's name: what is outside [A-Za-z0-9_-] becomes _, counted as
// UTF-16 does, so that names are those of OpenCode.
func sanitize(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
			b.WriteRune(r)
		case r > 0xFFFF:
			b.WriteString("__")
		default:
			b.WriteByte('_')
		}
	}
	return b.String()
}

// mostName is the longest name of a tool that every provider takes.
const mostName = 64

// toolName is the name under which a model knows a tool of the server with a prefix. One that would
// begin like those of another server has - there instead of _: server a with a tool b_c beside a server a_b
// could else take the name, and the rules, of that one's tool c. One that is too long for providers ends in a mark of
// the whole, so that two of them stay two.
func toolName(prefixes []string, prefix, name string) string {
	full := prefix + "_" + sanitize(name)
	for _, other := range prefixes {
		if len(other) > len(prefix) && strings.HasPrefix(full, other+"_") {
			full = full[:len(other)] + "-" + full[len(other)+1:]
		}
	}
	if len(full) <= mostName {
		return full
	}
	sum := sha256.Sum256([]byte(full))
	return full[:mostName-9] + "_" + hex.EncodeToString(sum[:4])
}

// escapes are terminal sequences: control sequences, control strings up to their end or where they were left open, and
// what else begins with an escape.
var escapes = phrase.Regexp(`\x1b(?:\[[ -?]*[@-~]?|[\]P_^X][^\x07\n\x1b]*(?:\x07|\x1b\\)?|[\x00-\x7f]?)`)

// clean takes out of a text what is not for reading: terminal sequences, control characters,
// marks that turn or hide other characters, bytes that are no text.
func clean(s string) string {
	if strings.IndexByte(s, 0x1b) >= 0 { // which few have
		s = escapes().ReplaceAllString(s, "")
	}
	return strings.Map(func(r rune) rune {
		if unseen(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, ""))
}

func unseen(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r < 0x20, r >= 0x7f && r <= 0x9f:
		return true
	case r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069: // they turn the direction of others
		return true
	}
	return r >= 0xe0000 && r <= 0xe007f // a text that no one sees and models read
}

// line is a text as one line of a message.
func line(s string, most int) string {
	return phrase.Shorten(strings.Join(strings.Fields(clean(s)), " "), most)
}

// leastSecret is the length from which a value is looked for in texts: shorter ones are words.
const leastSecret = 6

// hide takes secrets out of a text that is shown.
func hide(s string, secrets []string) string {
	for _, secret := range secrets {
		if len(secret) < leastSecret {
			continue
		}
		s = strings.ReplaceAll(s, secret, "[secret]")
		s = strings.ReplaceAll(s, url.QueryEscape(secret), "[secret]")
	}
	return s
}
