// Package grant defines the rules that people save when they answer a permission request: for the session or for
// the project. It proposes patterns, checks edited ones and says in words what a pattern covers.
//
// It is pure. Start at Proposals.
package grant

import (
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/lathe-agent/lathe"
)

// Scope is how long a grant lasts.
type Scope string

// The scopes of grants.
const (
	Session Scope = "session" // the session and its subagents, until it is deleted
	Project Scope = "project" // every session of the project, until it is revoked
)

// Grant is a saved rule that allows something.
type Grant struct {
	Permission string          `json:"permission"`
	Pattern    string          `json:"pattern"`
	Session    lathe.SessionID `json:"sessionID,omitempty"` // the root session; "" for a grant of the project
}

// Scope returns how long the grant lasts.
func (g Grant) Scope() Scope {
	if g.Session != "" {
		return Session
	}
	return Project
}

// unsaved is the permission that is given for one call at a time, or by a rule in the config.
const unsaved = "sandbox"

// CanSave reports whether an answer to the request may be saved.
func CanSave(r lathe.PermissionRequest) bool { return r.Permission != unsaved && len(r.Always) > 0 }

// maxPattern is the longest pattern in bytes: a user must be able to read all of it.
const maxPattern = 1000

// Check refuses a grant that a user cannot read or that no request proposes: without a pattern, with hidden characters, for
// several permissions or for the permission sandbox.
func Check(permission, pattern string) error {
	switch {
	case permission == "" || strings.ContainsAny(permission, "*?") || strings.ContainsFunc(permission, isHidden):
		return lathe.Errorf(lathe.Invalid, "a saved permission must name one permission, such as bash, not %q", permission)
	case permission == unsaved:
		return lathe.Errorf(lathe.Invalid, "the permission sandbox is never saved; allow the call once, or add a rule to your config")
	case strings.TrimSpace(pattern) == "":
		return lathe.Errorf(lathe.Invalid, "the pattern is empty; enter one, or * for everything")
	case pattern != strings.TrimSpace(pattern):
		return lathe.Errorf(lathe.Invalid, "the pattern begins or ends with a space; remove it")
	case len(pattern) > maxPattern:
		return lathe.Errorf(lathe.Invalid, "the pattern has %d bytes, more than %d; shorten it with *", len(pattern), maxPattern)
	case !utf8.ValidString(pattern) || strings.ContainsFunc(pattern, isHidden):
		return lathe.Errorf(lathe.Invalid, "the pattern contains control or invisible characters; remove them")
	}
	return nil
}

// isHidden reports whether a character is not seen, or looks like a plain space.
func isHidden(r rune) bool {
	return r != ' ' && !unicode.IsGraphic(r) || unicode.Is(unicode.Zs, r) && r != ' '
}

// CheckAnswer checks the patterns that an answer to a request would save. Each must match a part of the request, so that a
// typo saves nothing.
func CheckAnswer(r lathe.PermissionRequest, patterns []string) error {
	if !CanSave(r) {
		return lathe.Errorf(lathe.Invalid, "the answer to this request cannot be saved; allow it once")
	}
	for _, pattern := range patterns {
		if slices.Contains(r.Always, pattern) {
			continue // proposed by the tool
		}
		if err := Check(r.Permission, pattern); err != nil {
			return err
		}
		if !slices.ContainsFunc(r.Patterns, func(s string) bool { return lathe.Wildcard(pattern, s) }) {
			return lathe.Errorf(lathe.Invalid, "the pattern %q does not match this request; change it, or allow the request once", pattern)
		}
	}
	return nil
}

// Proposals returns the patterns to offer for a request: the usual ones first, then alternatives. No proposal for edits
// covers every file.
func Proposals(r lathe.PermissionRequest) [][]string {
	if !CanSave(r) {
		return nil
	}
	if r.Permission != "edit" {
		all := [][]string{r.Always}
		if exact := literals(r.Patterns); r.Permission == "bash" && !slices.Equal(exact, r.Always) && checkAll(r.Permission, exact) {
			all = append(all, exact)
		}
		return all
	}
	files, folders := literals(r.Patterns), []string{}
	for _, file := range files {
		dir := path.Dir(strings.ReplaceAll(file, `\`, "/"))
		if dir == "." || dir == "/" || dir == ".." {
			folders = appendNew(folders, file) // a pattern for the whole project is never a default
			continue
		}
		folders = appendNew(folders, dir+"/*")
	}
	if slices.Equal(files, folders) {
		return [][]string{files}
	}
	return [][]string{files, folders}
}

// ForSession returns the patterns to offer for a session: for edits the folders of the files.
func ForSession(r lathe.PermissionRequest) []string {
	all := Proposals(r)
	switch {
	case len(all) == 0:
		return nil
	case r.Permission == "edit":
		return all[len(all)-1]
	default:
		return all[0]
	}
}

func checkAll(permission string, patterns []string) bool {
	return !slices.ContainsFunc(patterns, func(p string) bool { return Check(permission, p) != nil })
}

// literals are patterns for exact texts. Patterns have no escapes, so a * in a text becomes a ?, which covers less.
func literals(texts []string) (out []string) {
	for _, s := range texts {
		out = appendNew(out, strings.ReplaceAll(s, "*", "?"))
	}
	return out
}

func appendNew(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

// Describe says in words what a pattern covers.
func Describe(permission, pattern string) string {
	rest, open := strings.CutSuffix(pattern, "*")
	inside := strings.ContainsAny(rest, "*?")
	switch {
	case pattern == "*" && permission == "bash":
		return "every command"
	case pattern == "*" && permission == "edit":
		return "every file in the project"
	case strings.Trim(pattern, "*") == "":
		return "everything that needs " + permission
	case open && !inside && strings.HasSuffix(rest, "/"):
		return "everything below " + rest
	case open && !inside && permission == "bash" && strings.HasSuffix(rest, " "):
		return strings.TrimSuffix(rest, " ") + " with any arguments"
	case open && !inside:
		return "everything that begins with " + rest
	case open || inside:
		return "everything that matches; * is any text, ? one character"
	case permission == "bash":
		return "this exact command"
	case permission == "edit", permission == "read":
		return "this file"
	default:
		return "exactly this"
	}
}
