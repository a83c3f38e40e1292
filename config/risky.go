package config

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// The conditions under which a value of a project needs trust.

// equals asks for one value; the others only switch something off.
func equals(value string) func(*node) bool {
	return func(n *node) bool { return n.text == value }
}

func anyOf(asks ...func(*node) bool) func(*node) bool {
	return func(n *node) bool {
		return slices.ContainsFunc(asks, func(ask func(*node) bool) bool { return ask(n) })
	}
}

// runsShell reports whether a template puts in the output of a command. Arguments are put in
// first, and a missing one leaves nothing between the two signs.
func runsShell(n *node) bool { return shellMark().MatchString(n.text) }

var shellMark = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("!(\\$(\\d+|ARGUMENTS))*`") })

func isAddress(n *node) bool {
	return strings.HasPrefix(n.text, "http://") || strings.HasPrefix(n.text, "https://")
}

// isOutside reports whether a path leads out of the project: what lies there is not the
// project's to show to a model.
func isOutside(n *node) bool {
	path := filepath.ToSlash(n.text)
	return filepath.VolumeName(n.text) != "" || strings.HasPrefix(path, "/") || strings.HasPrefix(path, "~") || strings.HasPrefix(path, "$HOME") ||
		slices.Contains(strings.Split(path, "/"), "..")
}

// isRepository reports whether a reference in short form is a repository: what is not
// written as a path is.
func isRepository(n *node) bool { return n.kind == isString && !isPath(n.text) }

func isPath(s string) bool {
	return filepath.VolumeName(s) != "" || strings.HasPrefix(s, ".") || strings.HasPrefix(s, "/") || strings.HasPrefix(s, "~") || strings.HasPrefix(s, "$HOME")
}

// holdsAddress reports whether an address stands anywhere in a value. Providers have
// options that make them call others.
func holdsAddress(n *node) bool {
	return strings.Contains(n.text, "://") || slices.ContainsFunc(n.items, holdsAddress) ||
		slices.ContainsFunc(n.members, func(m member) bool { return strings.Contains(m.key, "://") || holdsAddress(m.val) })
}
