package claudecode

import (
	"regexp"
	"strings"
)

// isPlain reports whether a matcher has only characters of names and of lists of names.
func isPlain(matcher string) bool {
	return strings.Trim(matcher, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_- ,|") == ""
}

// Matches reports whether the matcher of a hook matches a name. A list of names matches exactly; with any
// other character it is a regular expression that may match a part. An expression that Go does not know, such
// as one that looks ahead, matches everything: a hook that guards must not be left out.
func Matches(matcher, name string) bool {
	matcher = strings.TrimSpace(matcher)
	if matcher == "" || matcher == "*" {
		return true
	}
	if isPlain(matcher) {
		for _, one := range strings.FieldsFunc(matcher, func(r rune) bool { return r == '|' || r == ',' }) {
			one = strings.TrimSpace(one)
			if one == name || aliasOf(one) == name {
				return true
			}
		}
		return false
	}
	expr, err := regexp.Compile(matcher)
	return err != nil || expr.MatchString(name)
}

// aliasOf is the name by which hooks see a tool that Claude Code has further names for.
func aliasOf(name string) string {
	switch name {
	case "MultiEdit", "NotebookEdit":
		return "Edit"
	case "Agent":
		return "Task"
	default:
		return name
	}
}

// CheckMatcher says why a matcher matches everything although it does not say so.
func CheckMatcher(matcher string) error {
	if isPlain(matcher) || matcher == "*" {
		return nil
	}
	_, err := regexp.Compile(matcher)
	return err
}
