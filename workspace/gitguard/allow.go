package gitguard

import (
	_ "embed"
	"slices"
	"strconv"
	"strings"

	"github.com/lathe-agent/lathe/internal/phrase"
)

// allowed reports whether a value may be taken over from a command. Whatever names a program, a
// file that git reads settings from, or a place where it looks for either is missing here.
func allowed(key, value string) bool {
	section, sub, name := splitKey(key)
	return fits(ruleFor(section, sub, name), value) && (sub == "" || safeSubsection(sub))
}

// removable reports whether a setting may be removed: those that can be set, and all that goes
// with a branch, a remote or a submodule.
func removable(key string) bool {
	section, sub, name := splitKey(key)
	return sub != "" && slices.Contains([]string{"branch", "remote", "submodule"}, section) || ruleFor(section, sub, name) != nil
}

// splitKey cuts section.Sub.Section.name; the subsection may be empty and may have dots.
func splitKey(key string) (section, sub, name string) {
	section, rest, _ := strings.Cut(key, ".")
	if i := strings.LastIndexByte(rest, '.'); i >= 0 {
		return section, rest[:i], rest[i+1:]
	}
	return section, "", rest
}

// safeSubsection refuses names that other programs would take for an option or a helper.
func safeSubsection(sub string) bool {
	return !strings.HasPrefix(sub, "-") && !strings.Contains(sub, "::") && oneLine(sub)
}

// ruleFor finds the rule of a key; nil means that it is not allowed at all. "*" stands for a
// subsection.
func ruleFor(section, sub, name string) []string {
	key := section + "." + name
	if sub != "" {
		key = section + ".*." + name
	}
	if r := rules()[key]; r != nil {
		return r
	}
	if sub == "" && (section == "advice" || section == "color") {
		return []string{"true", "false", "auto", "always", "never"}
	}
	return nil
}

//go:embed allow.txt
var allowText string

var rules = phrase.WordLists(allowText)

// plainCore are the settings of core that git itself writes into a new repository. They say what
// its files are like.
var plainCore = phrase.WordLists(plainText)

//go:embed allow_new.txt
var plainText string

// fits reports whether a rule allows a value: it is one of its words, or what the word says.
func fits(rule []string, value string) bool {
	if len(rule) != 1 {
		return slices.Contains(rule, strings.ToLower(value))
	}
	switch rule[0] {
	case "<truth>":
		return slices.Contains([]string{"true", "false", "yes", "no", "on", "off", "0", "1"}, strings.ToLower(value))
	case "<number>":
		n, err := strconv.Atoi(value)
		return err == nil && n >= 0
	case "<line>":
		return oneLine(value)
	case "<text>":
		return text(value)
	case "<ref>":
		return refName(value)
	case "<refspec>":
		return refspec(value)
	case "<url>":
		return PlainURL(value)
	case "<remote>": // its name, and what may stand in its place: an address
		return value == "." || PlainURL(value)
	}
	return false
}

// oneLine allows what a person calls something.
func oneLine(v string) bool {
	return len(v) <= 1000 && !strings.ContainsFunc(v, func(r rune) bool { return r < ' ' || r == 0x7f })
}

func text(v string) bool {
	return len(v) <= 10_000 && !strings.ContainsFunc(v, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r == 0x7f })
}

func refName(v string) bool {
	return v != "" && oneLine(v) && !strings.HasPrefix(v, "-") && !strings.ContainsAny(v, " ~^:?*[\\!")
}

func refspec(v string) bool {
	v = strings.TrimPrefix(v, "+")
	v = strings.TrimPrefix(v, "^")
	return oneLine(v) && !strings.HasPrefix(v, "-") && !strings.Contains(v, "::") && !strings.Contains(v, "!")
}

var helper = phrase.Regexp(`^[A-Za-z0-9+.-]*::`)

// PlainURL reports whether git reaches an address by itself: by its own protocol, by ssh, or as
// a path on this machine. Other schemes, and helper::address, run a program of that name.
func PlainURL(v string) bool {
	if v == "" || len(v) > 2000 || !oneLine(v) || strings.HasPrefix(v, "-") || helper().MatchString(v) {
		return false
	}
	scheme, rest, ok := strings.Cut(v, "://")
	if !ok {
		host, _, remote := strings.Cut(v, ":")
		return !remote || strings.Contains(host, "/") || plainHost(host)
	}
	switch strings.ToLower(scheme) {
	case "file":
		return strings.HasPrefix(rest, "/")
	case "https", "http", "ssh", "git", "git+ssh", "ssh+git", "ftp", "ftps":
		host, _, _ := strings.Cut(rest, "/")
		return plainHost(host)
	}
	return false
}

// plainHost refuses one that ssh would take for an option, also after the name of a user.
func plainHost(host string) bool {
	if i := strings.LastIndexByte(host, '@'); i >= 0 {
		if strings.HasPrefix(host, "-") {
			return false
		}
		host = host[i+1:]
	}
	return host != "" && !strings.HasPrefix(host, "-") && !strings.HasPrefix(strings.ToLower(host), "%2d") && !strings.ContainsAny(host, " \\\"'`$;&|<>()")
}
