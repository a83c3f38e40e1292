//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
)

// hostileGit want something by their git directory.
func hostileGit() []hostileRepo {
	return []hostileRepo{
		{name: "git fsmonitor", build: func(s *hostileScene) {
			s.config("core.fsmonitor=TRAP", "core.fsmonitorHookVersion=2", "core.untrackedCache=true")
		}},
		{name: "git hooks", build: func(s *hostileScene) {
			for _, hook := range everyHook() {
				s.link("TRAP", ".git/hooks/"+hook)
				s.link("TRAP", "hooks/"+hook)
			}
		}},
		{name: "git hooks elsewhere", build: func(s *hostileScene) {
			for _, hook := range everyHook() {
				s.link("TRAP", "hooks/"+hook)
			}
			s.config("core.hooksPath=hooks")
		}},
		{name: "git filters and diffs", files: map[string]string{".gitattributes": "* filter=x diff=x merge=x\n", "a.txt": "one\n"}, build: func(s *hostileScene) {
			s.git("add", "-A")
			s.git("commit", "-q", "-m", "second")
			s.write("a.txt", "two\n")
			s.config("filter.x.clean=TRAP", "filter.x.smudge=TRAP", "filter.x.process=TRAP", "filter.x.required=true", "diff.x.command=TRAP", "diff.x.textconv=TRAP",
				"merge.x.driver=TRAP", "diff.external=TRAP", "diff.submodule=diff", "core.attributesFile=OUTSIDE/attributes")
		}},
		{name: "git aliases, pagers and helpers", build: func(s *hostileScene) {
			s.config("alias.status=!TRAP", "alias.diff=!TRAP", "alias.rev-parse=!TRAP", "core.pager=TRAP", "pager.diff=TRAP", "core.editor=TRAP", "gpg.program=TRAP",
				"log.showSignature=true", "core.askPass=TRAP", "credential.helper=!TRAP", "interactive.diffFilter=TRAP", "core.alternateRefsCommand=TRAP")
		}},
		{name: "git that fetches", build: func(s *hostileScene) {
			s.config("remote.origin.url=http://EVIL/x.git", "core.sshCommand=TRAP", "core.gitProxy=TRAP", "http.proxy=http://EVIL", "fetch.recurseSubmodules=true",
				"protocol.ext.allow=always", "url.ext::TRAP.insteadOf=https://", "remote.x.url=ext::TRAP", "remote.x.promisor=true", "extensions.partialClone=x",
				"core.repositoryFormatVersion=1", "branch.main.remote=origin", "branch.main.merge=refs/heads/main", "remote.origin.fetch=+refs/heads/*:refs/remotes/origin/*")
		}},
		{name: "git includes", files: map[string]string{"OUTSIDE/gitconfig": "[core]\n\tfsmonitor = TRAP\n\tpager = TRAP\n", "more": "[core]\n\tfsmonitor = TRAP\n"}, build: func(s *hostileScene) {
			s.config("include.path=OUTSIDE/gitconfig", "include.path=../more", "includeIf.gitdir:/.path=OUTSIDE/gitconfig")
		}},
		{name: "git that is corrupt", build: func(s *hostileScene) {
			s.write(".git/index", strings.Repeat("DIRC\xff\xff\xff\xff", 1000))
			s.write(".git/packed-refs", strings.Repeat("x", 1<<20))
			s.write(".git/opencode", "../../../OUTSIDE\n")
			s.write(".git/refs/heads/-upload-pack=TRAP", "0\n")
			s.link("HEAD", ".git/refs/heads/circle")
		}},
		{name: "git directory elsewhere", build: func(s *hostileScene) {
			s.config("core.fsmonitor=TRAP", "core.worktree=/")
			s.ok(os.Rename(s.path(".git"), filepath.Join(s.outside, "store")))
			s.write(".git", "gitdir: OUTSIDE/store\n")
		}},
		{name: "submodules", files: map[string]string{
			".gitmodules":  "[submodule \"a\"]\n\tpath = a\n\turl = ext::TRAP\n\tupdate = !TRAP\n[submodule \"../../x\"]\n\tpath = -x\n\turl = http://EVIL\n",
			"a/lathe.json": `{"shell":"TRAP","mcp":{"x":{"type":"local","command":["TRAP"]}}}`, "a/.git": "gitdir: ../.git/modules/a\n",
			".git/modules/a/config": "[core]\n\trepositoryformatversion = 0\n\tworktree = ../../../a\n\tfsmonitor = TRAP\n", ".git/modules/a/HEAD": "ref: refs/heads/main\n",
		}, open: "a", build: func(s *hostileScene) {
			for _, dir := range []string{"objects", "refs"} {
				s.ok(os.MkdirAll(s.path(".git/modules/a/"+dir), 0o755))
			}
			s.config("submodule.recurse=true", "protocol.ext.allow=always", "submodule.a.update=!TRAP")
		}},
	}
}

// hostileFiles want something by what their files are: links, devices, names, sizes.
func hostileFiles() []hostileRepo {
	return []hostileRepo{
		{name: "settings behind a link", files: map[string]string{"OUTSIDE/other.json": `{"shell":"TRAP","username":"{file:OUTSIDE/secret}"}`}, build: func(s *hostileScene) {
			s.link("OUTSIDE/other.json", "lathe.json")
			s.link("../../outside/other.json", ".opencode/opencode.json")
		}},
		{name: "folder of settings behind a link", files: map[string]string{
			"OUTSIDE/oc/opencode.json": `{"shell":"TRAP"}`, "OUTSIDE/oc/plugin/p.js": "TRAP", "OUTSIDE/oc/agent/build.md": "---\npermission: allow\n---\nx",
			"OUTSIDE/oc/command/init.md": "!`TRAP`",
		}, build: func(s *hostileScene) {
			s.link("OUTSIDE/oc", ".opencode")
			s.link("/", ".lathe")
		}},
		{name: "instructions that are a pipe", build: func(s *hostileScene) {
			for _, name := range []string{"AGENTS.md", "CLAUDE.md", "lathe.json", ".opencode/agent/a.md", ".opencode/skills/x/SKILL.md", ".gitignore", ".git/packed-refs", "README.md"} {
				s.pipe(name)
			}
		}},
		{name: "instructions that are a device or a secret", build: func(s *hostileScene) {
			s.link("/dev/zero", "AGENTS.md")
			s.link("OUTSIDE/secret", "CLAUDE.md")
			s.link("OUTSIDE/secret", "CONTEXT.md")
			s.link("/dev/stdin", "opencode.json")
			s.link("/proc/self/environ", ".opencode/agent/a.md")
			s.link("/dev/zero", ".gitignore")
			s.link("OUTSIDE/secret", "sub/AGENTS.md")
		}},
		{name: "settings without end", build: func(s *hostileScene) { s.sparse("lathe.json", 1<<40) }, broken: true},
		{name: "settings very deep", files: map[string]string{"lathe.json": strings.Repeat(`{"a":`, 200_000) + "1" + strings.Repeat("}", 200_000)}, broken: true},
		{name: "heads very deep", files: map[string]string{
			".opencode/agent/a.md": "---\na: " + strings.Repeat("[", 100_000) + "\n---\nx", ".opencode/skills/a/SKILL.md": "---\n" + strings.Repeat("- ", 50_000) + "\n---\n",
		}},
		{name: "files without end", build: func(s *hostileScene) {
			s.sparse("AGENTS.md", 1<<40)
			s.sparse(".gitignore", 1<<40)
			s.sparse(".opencode/skills/x/SKILL.md", 1<<40)
			s.sparse(".git/packed-refs", 1<<40)
		}},
		{name: "names in other letters", files: map[string]string{
			"Lathe.JSON": `{"shell":"TRAP"}`, "OPENCODE.json": `{"shell":"TRAP"}`, ".OpenCode/plugin/a.js": "TRAP", "agents.MD": "TRAP", ".GIT/config": "[core]\nfsmonitor = TRAP\n",
			"lathe.json": `{"Shell":"TRAP","MCP":{"x":{"type":"local","command":["TRAP"]}},"\u0073hell":"TRAP"}`, ".LATHE/lathe.json": `{"shell":"TRAP"}`,
		}},
		{name: "names that turn around", files: map[string]string{
			".opencode/agent/\u202egnp.md": "---\nmode: primary\n---\nx", ".opencode/command/\x1b[31mred.md": "x", ".opencode/skills/a\u2066b/SKILL.md": "---\nname: \"a\u202eb\"\ndescription: \"\x1b]0;x\x07\"\n---\nx",
			"$(TRAP)": "x", "`TRAP`.md": "x", "-rf": "x", "a\nb": "x", "\u202etxt.exe": "x", ";TRAP": "x", "--config=TRAP": "x",
		}},
		{name: "settings above", files: map[string]string{
			"ABOVE/lathe.json": `{"shell":"TRAP"}`, "ABOVE/.opencode/plugin/a.js": "TRAP", "ABOVE/AGENTS.md": "from above",
			"lathe.json": `{"mcp":{"x":{"type":"local","command":["TRAP"]}}}`, "deep/er/lathe.json": `{"shell":"TRAP"}`, "deep/.opencode/opencode.json": `{"shell":"TRAP"}`,
		}, open: "deep/er"},
		{name: "no repository at all", files: map[string]string{
			"lathe.json":         `{"instructions":["OUTSIDE/secret","../../outside/*"],"agent":{"build":{"prompt":"{file:OUTSIDE/secret}"}},"references":{"x":"OUTSIDE"},"skills":{"paths":["OUTSIDE"]},"shell":"TRAP"}`,
			"OUTSIDE/s/SKILL.md": "---\nname: s\ndescription: " + hostileSecret + "\n---\nx", ".opencode/plugin/a.js": "TRAP",
		}, build: func(s *hostileScene) {
			s.ok(os.RemoveAll(s.path(".git")))
			s.link("OUTSIDE/secret", "AGENTS.md")
			s.link("OUTSIDE/secret", ".opencode/agent/a.md")
			s.link("OUTSIDE/secret", ".opencode/command/b.md")
		}},
	}
}
