package secret

import (
	"regexp"
	"strings"
	"sync"

	"github.com/lathe-agent/lathe/internal/phrase"
)

// Format is the syntax by which the secrets of a file are found.
type Format string

const (
	// Lines is a file of single settings, as .npmrc or pip.conf: lines with secrets go.
	Lines Format = "lines"
	// XML is one with elements for passwords, whose contents go.
	XML Format = "xml"
	// JSON is one of which nothing stays.
	JSON Format = "json"
)

var (
	secretLine = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)_auth|auth_?token|_?password|passwd|secret|credential|token|api_?key|private_?key|certfile|keyfile|\bkey\s*[:=]|://[^/\s"']*@|` +
			`BEGIN [A-Z ]*PRIVATE|^\s*"?BUNDLE_[A-Z0-9_]*__`)
	})
	secretElement = phrase.Regexp(`(?is)<(?:password|passphrase|privateKey)\b[^>]*>[^<]*</[^>]*>|<add\b[^>]*password[^>]*>|<apikeys>.*?</apikeys>`)
	urlUser       = phrase.Regexp(`://[^/\s@"'<>]+@`)
)

// Redact returns what of a file is no secret, in a form that its programs can read.
func Redact(f Format, text string) string {
	switch f {
	case JSON:
		return "{}\n"
	case XML:
		return urlUser().ReplaceAllString(secretElement().ReplaceAllString(text, ""), "://")
	}
	var out strings.Builder
	dropping := false
	for line := range strings.Lines(text) {
		// A value may continue in indented lines, or after a line that ends with \.
		continued := strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t")
		if secretLine().MatchString(line) || dropping && continued {
			dropping = true
			continue
		}
		dropping = false
		out.WriteString(line)
	}
	return out.String()
}
