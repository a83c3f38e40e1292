package gitguard

import (
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/lathe-agent/lathe/internal/phrase"
)

// allowed reports whether a value may be taken over from a command. Whatever names a program, a
// file that git reads settings from, or a place where it looks for either is missing here.
func allowed(key, value string) bool {
	section, sub, name := splitKey(key)
	check := ruleFor(section, sub, name)
	return check != nil && check(value) && (sub == "" || safeSubsection(sub))
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

type rule func(value string) bool

// ruleFor finds the rule of a key; nil is that it is not allowed at all. "*" stands for a subsection.
func ruleFor(section, sub, name string) rule {
	key := section + "." + name
	if sub != "" {
		key = section + ".*." + name
	}
	if r := rules()[key]; r != nil {
		return r
	}
	if sub == "" && (section == "advice" || section == "color") {
		return oneOf("true", "false", "auto", "always", "never")
	}
	return nil
}

var rules = sync.OnceValue(func() map[string]rule {
	truth := oneOf("true", "false", "yes", "no", "on", "off", "0", "1")
	rebase := oneOf("true", "false", "merges", "m", "interactive", "i")
	fastForward := oneOf("true", "false", "only", "no")
	return map[string]rule{
		"branch.*.remote": remoteName, "branch.*.pushremote": remoteName, "branch.*.merge": refName, "branch.*.rebase": rebase,
		"branch.*.description": text, "branch.*.gh-merge-base": refName, "branch.*.vscode-merge-base": refName,
		"branch.autosetupmerge": oneOf("true", "false", "always", "inherit", "simple"), "branch.autosetuprebase": oneOf("always", "never", "local", "remote"),
		"branch.sort": oneOf("refname", "-refname", "committerdate", "-committerdate", "authordate", "-authordate"),

		"remote.*.url": PlainURL, "remote.*.pushurl": PlainURL, "remote.*.fetch": refspec, "remote.*.push": refspec,
		"remote.*.tagopt": oneOf("--tags", "--no-tags"), "remote.*.prune": truth, "remote.*.prunetags": truth, "remote.*.mirror": truth,
		"remote.*.skipfetchall": truth, "remote.*.skipdefaultupdate": truth, "remote.*.gh-resolved": refName, "remote.pushdefault": remoteName,

		"remote.*.promisor": truth, "remote.*.partialclonefilter": refspec,

		"submodule.*.url": PlainURL, "submodule.*.active": truth, "submodule.*.branch": refName,
		"submodule.*.update": oneOf("checkout", "rebase", "merge", "none"), "submodule.*.shallow": truth,
		"submodule.*.ignore": oneOf("all", "dirty", "untracked", "none"), "submodule.*.fetchrecursesubmodules": oneOf("true", "false", "on-demand"),
		"submodule.active": oneLine,

		"user.name": oneLine, "user.email": oneLine, "author.name": oneLine, "author.email": oneLine, "committer.name": oneLine, "committer.email": oneLine,

		"init.defaultbranch": refName, "pull.rebase": rebase, "pull.ff": fastForward, "merge.ff": fastForward,
		"merge.conflictstyle": oneOf("merge", "diff3", "zdiff3"), "push.default": oneOf("nothing", "current", "upstream", "tracking", "simple", "matching"),
		"push.autosetupremote": truth, "push.followtags": truth, "fetch.prune": truth, "fetch.prunetags": truth,
		"rebase.autostash": truth, "rebase.autosquash": truth, "rebase.updaterefs": truth, "rerere.enabled": truth, "rerere.autoupdate": truth,
		"commit.verbose": truth, "status.showuntrackedfiles": oneOf("no", "normal", "all"), "gc.auto": number, "maintenance.auto": truth,
		"lfs.repositoryformatversion": number, "lfs.*.access": oneOf("basic", "private", "negotiate", "none"),
	}
})

// plainCore are the settings of core that git itself writes into a new repository. They say what
// its files are like.
var plainCore = sync.OnceValue(func() map[string]rule {
	truth := oneOf("true", "false")
	return map[string]rule{
		"core.bare": truth, "core.repositoryformatversion": number, "core.filemode": truth, "core.logallrefupdates": oneOf("true", "false", "always"),
		"core.ignorecase": truth, "core.precomposeunicode": truth, "core.symlinks": truth,
		"core.autocrlf": oneOf("true", "false", "input"), "core.eol": oneOf("lf", "crlf", "native"), "core.safecrlf": oneOf("true", "false", "warn"),
		"core.sparsecheckout": truth, "core.sparsecheckoutcone": truth,
		"extensions.objectformat": oneOf("sha1", "sha256"), "extensions.refstorage": oneOf("files", "reftable"), "extensions.partialclone": refName,
	}
})

func oneOf(values ...string) rule {
	return func(v string) bool { return slices.Contains(values, strings.ToLower(v)) }
}

func number(v string) bool {
	n, err := strconv.Atoi(v)
	return err == nil && n >= 0
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

// remoteName allows the name of a remote, and what may stand in its place: an address.
func remoteName(v string) bool { return v == "." || PlainURL(v) }

var helper = phrase.Regexp(`^[A-Za-z0-9+.-]*::`)

// PlainURL reports whether git reaches an address by itself: by a protocol of its own, by ssh, or
// as a path of this machine. Other schemes, and helper::address, run a program of that name.
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

// plainHost refuses one that ssh would take for an option, also behind the name of a user.
func plainHost(host string) bool {
	if i := strings.LastIndexByte(host, '@'); i >= 0 {
		if strings.HasPrefix(host, "-") {
			return false
		}
		host = host[i+1:]
	}
	return host != "" && !strings.HasPrefix(host, "-") && !strings.HasPrefix(strings.ToLower(host), "%2d") && !strings.ContainsAny(host, " \\\"'`$;&|<>()")
}
