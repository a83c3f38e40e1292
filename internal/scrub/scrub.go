// Package scrub takes secrets out of HTTP traffic before it is stored or shown.
//
// It knows the names of headers and query parameters that carry credentials or identify a user,
// for every provider and gateway at once: a name too many costs nothing, one too few is a leak.
// It does not guess at texts that look like keys: it knows the values that were sent as
// secrets, and removes them everywhere.
package scrub

import (
	"bytes"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// Mark stands where a secret stood.
const Mark = "[scrubbed]"

// shortest is the length from which a value is looked for elsewhere: shorter ones are part of
// ordinary words.
const shortest = 6

// IsSecret reports whether a header or parameter of that name carries a secret that must not be
// stored.
func IsSecret(name string) bool {
	name = strings.ToLower(name)
	if strings.Contains(name, "ratelimit") { // these count tokens of another sort
		return false
	}
	for _, word := range []string{"auth", "key", "token", "secret", "cookie", "credential", "signature", "password", "organization", "project"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
}

// Header returns a copy without the secret members.
func Header(h http.Header) http.Header {
	out := http.Header{}
	for name, values := range h {
		if !IsSecret(name) {
			out[name] = slices.Clone(values)
		}
	}
	return out
}

// Query returns a copy without the secret members.
func Query(q url.Values) url.Values {
	out := url.Values{}
	for name, values := range q {
		if !IsSecret(name) {
			out[name] = slices.Clone(values)
		}
	}
	return out
}

// Secrets returns the values a request carries as secrets, longest first.
func Secrets(h http.Header, u *url.URL) []string {
	var out []string
	add := func(name string, values []string) {
		if !IsSecret(name) {
			return
		}
		for _, v := range values {
			for _, word := range append(strings.Fields(v), v) { // "Bearer <key>"
				if len(word) >= shortest && !slices.Contains([]string{"Bearer", "bearer"}, word) {
					out = append(out, word)
				}
			}
		}
	}
	for name, values := range h {
		add(name, values)
	}
	if u != nil {
		for name, values := range u.Query() {
			add(name, values)
		}
		if password, ok := u.User.Password(); ok {
			add("password", []string{password})
		}
	}
	slices.SortFunc(out, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	return slices.Compact(out)
}

// Bytes replaces the secrets that stand in data, also as a query has them. It returns data
// itself when there are none.
func Bytes(data []byte, secrets []string) []byte {
	for _, s := range secrets {
		for _, form := range []string{s, url.QueryEscape(s)} {
			if bytes.Contains(data, []byte(form)) {
				data = bytes.ReplaceAll(data, []byte(form), []byte(Mark))
			}
		}
	}
	return data
}

// String is Bytes for a string.
func String(s string, secrets []string) string { return string(Bytes([]byte(s), secrets)) }
