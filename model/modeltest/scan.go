package modeltest

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// scanner takes a line apart.
type scanner struct{ rest string }

// word returns what comes before the next space.
func (s *scanner) word() string {
	end := strings.IndexAny(s.rest, " \t")
	if end < 0 {
		end = len(s.rest)
	}
	word := s.rest[:end]
	s.rest = strings.TrimLeft(s.rest[end:], " \t")
	return word
}

func (s *scanner) atQuote() bool { return s.rest != "" && (s.rest[0] == '"' || s.rest[0] == '`') }

func (s *scanner) atOption(name string) bool { return strings.HasPrefix(s.rest, name+"=") }

// quoted takes a string in quotes; what says which one is missing.
func (s *scanner) quoted(what string) (string, error) {
	if !s.atQuote() {
		return "", fmt.Errorf("it needs %s in quotes", what)
	}
	prefix, err := strconv.QuotedPrefix(s.rest)
	if err != nil {
		return "", fmt.Errorf("%s has no closing quote, or an escape that Go does not have", quoteShort(s.rest))
	}
	text, err := strconv.Unquote(prefix)
	if err != nil {
		return "", fmt.Errorf("%s is not a string", quoteShort(prefix))
	}
	s.rest = strings.TrimLeft(s.rest[len(prefix):], " \t")
	return text, nil
}

// pair returns name=value; the value may stand in quotes.
func (s *scanner) pair() (name, value string, err error) {
	name, rest, ok := strings.Cut(s.rest, "=")
	if !ok || name == "" || strings.ContainsAny(name, " \t\"`{") {
		return "", "", fmt.Errorf("%s is not name=value", quoteShort(s.rest))
	}
	s.rest = rest
	if s.atQuote() {
		value, err = s.quoted("the value")
		return name, value, err
	}
	return name, s.word(), nil
}

// option takes name=value if it comes next.
func (s *scanner) option(name string) (value string, ok bool, err error) {
	if !s.atOption(name) {
		return "", false, nil
	}
	_, value, err = s.pair()
	return value, true, err
}

// arguments takes a JSON value, or anything in quotes; nothing is {}.
func (s *scanner) arguments() (string, error) {
	switch {
	case s.rest == "":
		return "{}", nil
	case s.atQuote():
		return s.quoted("the arguments")
	}
	d := json.NewDecoder(strings.NewReader(s.rest))
	var raw json.RawMessage
	if err := d.Decode(&raw); err != nil {
		return "", fmt.Errorf("the arguments are not JSON; quote them if that is intended: %w", err)
	}
	s.rest = strings.TrimLeft(s.rest[d.InputOffset():], " \t")
	return string(raw), nil
}

// source takes an address and its title.
func (s *scanner) source() (Source, error) {
	out := Source{URL: s.word()}
	if out.URL == "" || strings.ContainsAny(out.URL, "\"`") {
		return out, errors.New("it needs an address and a title in quotes")
	}
	var err error
	out.Title, err = s.quoted("the title")
	return out, err
}

func (s *scanner) number(what string) (int, error) {
	word := s.word()
	n, err := strconv.Atoi(word)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("it needs a number: %s", what)
	}
	return n, nil
}

func (s *scanner) duration() (time.Duration, error) {
	d, err := time.ParseDuration(s.word())
	if err != nil || d < 0 {
		return 0, errors.New("it needs a time, like 50ms")
	}
	return d, nil
}

func quoteShort(s string) string {
	if len(s) > 40 {
		s = s[:40] + "…"
	}
	return strconv.Quote(s)
}
