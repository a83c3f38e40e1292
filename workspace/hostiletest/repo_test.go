package hostiletest

import (
	"os"
	"path/filepath"
	"strings"
)

// gitFixtures are repositories whose git directory wants something.
var gitFixtures = []fixture{
	{name: "fsmonitor", inert: true, build: func(s *scene, git gitRunner) {
		git.set(s, "core.fsmonitor=TRAP", "core.fsmonitorHookVersion=2", "core.untrackedCache=true")
	}},
	{name: "hooks path", inert: true, build: func(s *scene, git gitRunner) {
		for _, hook := range []string{"post-checkout", "post-index-change", "reference-transaction", "fsmonitor-watchman"} {
			s.link("TRAP", "hooks/"+hook)
		}
		git.set(s, "core.hooksPath=hooks")
	}},
	{name: "hooks", inert: true, build: func(s *scene, _ gitRunner) {
		for _, hook := range []string{"post-checkout", "post-index-change", "reference-transaction", "pre-auto-gc"} {
			_ = os.Remove(s.path(".git/hooks/" + hook))
			s.link("TRAP", ".git/hooks/"+hook)
		}
	}},
	{name: "filters", inert: true, build: func(s *scene, git gitRunner) {
		s.put(".gitattributes", "* filter=x diff=x merge=x\n")
		s.put("file", "text")
		git.set(s, "filter.x.clean=TRAP", "filter.x.smudge=TRAP", "filter.x.process=TRAP", "filter.x.required=true",
			"diff.x.command=TRAP", "diff.x.textconv=TRAP", "merge.x.driver=TRAP", "diff.external=TRAP")
	}},
	{name: "pagers and aliases", inert: true, build: func(s *scene, git gitRunner) {
		git.set(s, "core.pager=TRAP", "pager.rev-list=TRAP", "pager.log=TRAP", "alias.rev-list=!TRAP", "alias.status=!TRAP",
			"core.editor=TRAP", "sequence.editor=TRAP", "gpg.program=TRAP", "log.showSignature=true", "core.askPass=TRAP", "credential.helper=!TRAP")
	}},
	{name: "transport commands", inert: true, build: func(s *scene, git gitRunner) {
		git.set(s, "core.sshCommand=TRAP", "core.gitProxy=TRAP", "remote.origin.url=ssh://EVIL/x", "remote.origin.uploadpack=TRAP",
			"uploadpack.packObjectsHook=TRAP", "core.alternateRefsCommand=TRAP", "protocol.ext.allow=always", "remote.x.url=ext::TRAP")
	}},
	{name: "promisor", inert: true, build: func(s *scene, git gitRunner) {
		head := git.Run(s.dir, "rev-parse", "HEAD")
		git.set(s, "core.repositoryFormatVersion=1", "extensions.partialClone=evil", "remote.evil.promisor=true",
			"remote.evil.url=ext::TRAP", "protocol.ext.allow=always")
		if err := os.Remove(s.path(".git/objects/" + head[:2] + "/" + head[2:])); err != nil {
			s.t.Fatal(err)
		}
	}},
	{name: "includes", inert: true, build: func(s *scene, git gitRunner) {
		s.put("OUTSIDE/gitconfig", "[core]\nfsmonitor = TRAP\n[remote \"origin\"]\nurl = https://EVIL/x\n")
		git.set(s, "include.path=OUTSIDE/gitconfig", "includeIf.gitdir:/.path=OUTSIDE/gitconfig", "include.path=/dev/zero")
	}},
	{name: "rewritten addresses", inert: true, build: func(s *scene, git gitRunner) {
		git.set(s, "url.ext::TRAP.insteadOf=https://example.org/", "remote.origin.url=https://example.org/x", "protocol.ext.allow=always")
	}},
	{name: "worktree everywhere", inert: true, build: func(s *scene, git gitRunner) { git.set(s, "core.worktree=/", "core.bare=false") }},
	{name: "nested bare repository", inert: true, open: "lib/bare", build: func(s *scene, git gitRunner) {
		git.Run(s.dir, "init", "-q", "--bare", s.path("lib/bare"))
		for _, setting := range []string{"core.fsmonitor=TRAP", "core.hooksPath=TRAP", "core.worktree=/", "remote.origin.url=https://EVIL/x"} {
			key, value, _ := strings.Cut(s.fill(setting), "=")
			git.Run(s.path("lib/bare"), "config", key, value)
		}
	}},
	{name: "git directory elsewhere", inert: true, build: func(s *scene, git gitRunner) {
		elsewhere := filepath.Join(s.outside, "store")
		if err := os.Rename(s.path(".git"), elsewhere); err != nil {
			s.t.Fatal(err)
		}
		s.put(".git", "gitdir: OUTSIDE/store\n")
		git.set(s, "core.fsmonitor=TRAP", "core.hooksPath=TRAP")
	}},
	{name: "git directory that is no repository", inert: true, build: func(s *scene, _ gitRunner) {
		if err := os.RemoveAll(s.path(".git")); err != nil {
			s.t.Fatal(err)
		}
		s.put(".git", "gitdir: OUTSIDE\n")
	}},
	{name: "objects elsewhere", inert: true, build: func(s *scene, git gitRunner) {
		s.put(".git/objects/info/alternates", "OUTSIDE\n/proc\n../../..\n/dev\n")
		s.put(".git/commondir", ".\n")
	}},
	{name: "id that is a path", inert: true, files: map[string]string{".git/opencode": "../../../etc/passwd\n"}},
	{name: "pipes", inert: true, keys: []string{".opencode/plugin/a.js"}, build: func(s *scene, _ gitRunner) {
		for _, name := range []string{
			"lathe.json", "opencode.jsonc", "AGENTS.md", "CLAUDE.md", ".opencode/agent/a.md", ".opencode/plugin/a.js", ".opencode/opencode.json",
			".opencode/skills/x/SKILL.md", ".git/opencode", ".git/packed-refs", ".git/shallow", ".git/refs/heads/pipe", ".git/objects/info/alternates",
			".git/objects/pack/x.idx",
		} {
			s.pipe(name)
		}
	}},
	{
		name: "settings behind a link", files: map[string]string{"OUTSIDE/other.json": `{"shell":"TRAP","model":"a/b"}`},
		build: func(s *scene, _ gitRunner) { s.link("../../outside/other.json", "lathe.json") },
		keys:  []string{"lathe.json"}, inert: false,
	},
	{
		name:  "settings behind a link inside",
		files: map[string]string{"other/x.json": `{"shell":"TRAP"}`},
		build: func(s *scene, _ gitRunner) { s.link("other/x.json", "lathe.json") },
		keys:  []string{"lathe.json: shell"},
	},
	{
		name:  "folder behind a link",
		files: map[string]string{"OUTSIDE/oc/opencode.json": `{"shell":"TRAP"}`, "OUTSIDE/oc/plugin/p.js": "TRAP", "OUTSIDE/oc/agent/a.md": "---\npermission: allow\n---\nx"},
		build: func(s *scene, _ gitRunner) { s.link("OUTSIDE/oc", ".opencode") },
		keys:  []string{".opencode/opencode.json", ".opencode/agent/a.md", ".opencode/plugin/p.js"},
	},
	{
		name: "the user's own settings behind a link",
		files: map[string]string{
			"USER/lathe.json": `{"username":"me"}`, "OUTSIDE/own/lathe.json": `{"mcp":{"mine":{"type":"local","command":["TRAP"]}}}`,
		},
		build: func(s *scene, _ gitRunner) { s.link("OUTSIDE/own", ".lathe") },
		keys:  []string{".lathe/lathe.json"},
	},
	{
		name: "secrets behind links",
		build: func(s *scene, _ gitRunner) {
			s.link("OUTSIDE/secret", "AGENTS.md")
			s.link("OUTSIDE/secret", ".opencode/agent/a.md")
		},
		keys: []string{".opencode/agent/a.md", "AGENTS.md"},
	},
	{
		name: "links in circles", inert: true,
		build: func(s *scene, _ gitRunner) {
			s.link("lathe.json", "lathe.json")
			s.link("..", ".opencode/agent/up")
			s.link(".", ".opencode/skills/here")
			s.link("../../..", ".opencode/command/top")
		},
	},
	{name: "devices", inert: true, keys: []string{".opencode/plugin/zero.js"}, build: func(s *scene, _ gitRunner) {
		s.link("/dev/zero", "lathe.json")
		s.link("/dev/stdin", "opencode.json")
		s.link("/dev/zero", "AGENTS.md")
		s.link("/dev/zero", ".opencode/plugin/zero.js")
		s.link("/dev/zero", ".git/opencode")
		s.link("/dev/tty", ".opencode/agent/tty.md")
	}},
	{name: "files without end", inert: true, build: func(s *scene, _ gitRunner) { s.link("/proc/self/pagemap", ".opencode/agent/a.md") }},
	{name: "a terabyte of settings", broken: "lathe.json", build: func(s *scene, _ gitRunner) { s.sparse("lathe.json", 1<<40) }},
	{
		name: "a terabyte of plugin", keys: []string{".opencode/plugin/big.js"}, build: func(s *scene, _ gitRunner) {
			s.sparse(".opencode/plugin/big.js", 1<<40)
			s.sparse("AGENTS.md", 1<<40)
			s.sparse(".git/packed-refs", 1<<40)
		},
	},
}
