package confine

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe/tool/bash"

	"github.com/lathe-agent/lathe/config"
	"github.com/lathe-agent/lathe/config/datadir"
	"github.com/lathe-agent/lathe/internal/atomicfile"
	"github.com/lathe-agent/lathe/sandbox"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/workspace/secret"
)

// guardHome keeps a command from the user's credentials and from the caches of tools.
func (f *Policy) guardHome(p *sandbox.Profile, call *tool.Call, at datadir.Folders, box config.Sandbox, line bash.Line) {
	f.hideSecrets(p, at, box.Read, openedTo(box.Credentials, line))
	if !line.ReadsOnly { // else the caches stay read-only: overlays take time to make
		f.addCaches(p, at, rootOf(call))
	}
	if p.Network.None() {
		return
	}
	if !p.Network.Limited { // SSH leads nowhere then, and what GnuPG has looks keys up
		f.reachAgents(p, box, line)
	}
	if place := placeOfGit(rootOf(call)); place.Common != "" && pushes(line) && (line.Dir == bash.FollowLinks(call.Dir) || line.Dir == bash.FollowLinks(rootOf(call))) {
		f.sharePasswords(p, at, rootOf(call), filepath.Join(place.Common, "config"))
	}
}

// pushes reports whether a line is git's own, and talks to a remote.
func pushes(line bash.Line) bool {
	return runsOnly(line, "git") &&
		!slices.ContainsFunc(line.Commands, func(c bash.LineCommand) bool { return !plainGit(c.Text) }) &&
		slices.ContainsFunc(line.Commands, func(c bash.LineCommand) bool { return networkGit(c.Text) })
}

// hideSecrets hides the user's credentials. read are places that stay visible, open the tools whose
// places do. Of files whose other settings programs need, a copy without the secrets is shown.
func (f *Policy) hideSecrets(p *sandbox.Profile, at datadir.Folders, read, open []string) {
	for _, place := range f.secrets() {
		if place.Tool != "" && slices.Contains(open, place.Tool) {
			continue
		}
		hide, show := place.Existing()
		p.Show = append(p.Show, show...)
		for _, path := range hide {
			switch {
			case slices.ContainsFunc(read, func(r string) bool { return inFolder(r, path) }):
			case place.Redact != "":
				f.redact(p, at, place.Redact, path)
			default:
				p.Hide = append(p.Hide, path)
			}
		}
	}
	for _, path := range read {
		if slices.ContainsFunc(p.Hide, func(h string) bool { return inFolder(h, path) }) {
			p.Show = append(p.Show, path)
		}
	}
}

// redact shows a copy of a file without its secrets in its place.
func (f *Policy) redact(p *sandbox.Profile, at datadir.Folders, format secret.Format, path string) {
	const most = 1 << 20 // bytes; no settings file is larger
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > most {
		p.Hide = append(p.Hide, path)
		return
	}
	text, err := os.ReadFile(path)
	if err != nil { // the command cannot read it either
		return
	}
	left := secret.Redact(format, string(text))
	if left == string(text) {
		return
	}
	p.Hide = append(p.Hide, path)
	if f.NoCommands {
		return
	}
	sum := sha256.Sum256([]byte(path))
	copied := filepath.Join(at.Data, "redacted", hex.EncodeToString(sum[:8])+"-"+strings.TrimPrefix(filepath.Base(path), "."))
	if have, err := os.ReadFile(copied); err != nil || string(have) != left {
		if os.MkdirAll(filepath.Dir(copied), 0o700) != nil || atomicfile.Write(copied, []byte(left)) != nil {
			return // it stays hidden
		}
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		p.Mounts = append(p.Mounts, sandbox.Mount{Type: sandbox.BindMount, Source: copied, Target: target, ReadOnly: true})
	}
}

// openedTo are the tools whose credentials a line may read: the tools of the config, if the
// line runs nothing else. The keys for SSH are for all programs that log in with them.
func openedTo(names []string, line bash.Line) (out []string) {
	for _, name := range names {
		programs := []string{name}
		if name == "ssh" {
			programs = sshPrograms()
		}
		if runsOnly(line, programs...) {
			out = append(out, name)
		}
	}
	return out
}

// sshPrograms are those that log in by SSH, beside git.
func sshPrograms() []string { return []string{"ssh", "scp", "sftp", "rsync", "git"} }

// runsOnly reports whether a line runs these programs, and is known to do nothing else.
func runsOnly(line bash.Line, programs ...string) bool {
	if !line.Complete || len(line.Commands) == 0 {
		return false
	}
	for _, c := range line.Commands {
		name, _, _ := strings.Cut(c.Text, " ")
		if !slices.Contains(programs, name) {
			return false
		}
	}
	return true
}

// reachAgents lets a command reach programs that sign for the user: the SSH agent where the settings
// say so, or for lines that are known to be git's or SSH's own, and the one of GnuPG for git.
func (f *Policy) reachAgents(p *sandbox.Profile, box config.Sandbox, line bash.Line) {
	logsIn := runsOnly(line, sshPrograms()...) && !slices.ContainsFunc(line.Commands, func(c bash.LineCommand) bool {
		return strings.HasPrefix(c.Text, "git ") && !plainGit(c.Text)
	})
	show := func(path string) {
		if filepath.IsAbs(path) {
			p.Sockets, p.Show = append(p.Sockets, path), append(p.Show, path)
		}
	}
	agent := f.host.Env("SSH_AUTH_SOCK")
	if box.SSHAgent == nil && logsIn || box.SSHAgent != nil && *box.SSHAgent {
		show(agent)
	} else if exists(agent) {
		p.Hide = append(p.Hide, agent) // it may lie in a folder that can be written
	}
	if !logsIn {
		return
	}
	if home := f.host.Home; home != "" {
		show(filepath.Join(home, ".gnupg", "S.gpg-agent"))
	}
	if run := f.host.Env("XDG_RUNTIME_DIR"); run != "" {
		show(filepath.Join(run, "gnupg"))
	}
}

// isPlainOption reports whether an option is among the options of git that name no program and no other place.
func isPlainOption(word string) bool {
	switch word {
	case "-u", "--set-upstream", "--force", "-f", "--force-with-lease", "--tags", "-t", "--no-tags", "--follow-tags", "--all", "-a", "--delete", "-d",
		"--dry-run", "-n", "--verbose", "-v", "--quiet", "-q", "--no-verify", "--porcelain", "--progress", "--atomic", "--prune", "-p", "--unshallow",
		"--rebase", "-r", "--no-rebase", "--ff-only", "--no-ff", "--autostash", "--no-edit", "--heads", "--refs", "--symref", "--exit-code", "-m", "-am",
		"--amend", "-s", "-S", "--signoff", "-A", "--oneline", "-1", "-b", "-vv", "--stat", "--short", "-sb", "--abbrev-ref", "--show-current",
		"--allow-empty", "--contains", "--list", "-l":
		return true
	}
	return false
}

// plainGit reports whether a command of git is one of everyday work on the repository it is in, with
// options that are known to run nothing else.
func plainGit(text string) bool {
	words := strings.Fields(text)
	if len(words) < 2 || words[0] != "git" {
		return false
	}
	switch words[1] {
	case "push", "fetch", "pull", "ls-remote", "status", "add", "commit", "log", "show", "diff", "branch", "tag", "rev-parse", "merge", "checkout", "switch":
	default:
		return false
	}
	for _, word := range words[2:] {
		option, _, _ := strings.Cut(strings.Trim(word, `'"`), "=")
		switch {
		case strings.HasPrefix(option, "-") && !isPlainOption(option) && !strings.HasPrefix(option, "--depth"):
			return false
		case strings.Contains(word, "::"), networkGit(text) && (strings.Contains(word, "://") || strings.HasPrefix(word, "/") || strings.HasPrefix(word, ".")):
			return false // another place than a remote of the repository
		}
	}
	return true
}

// networkGit reports whether a command of git talks to a remote.
func networkGit(text string) bool {
	words := strings.Fields(text)
	return len(words) > 1 && words[0] == "git" && slices.Contains([]string{"push", "fetch", "pull", "ls-remote"}, words[1])
}

// inFolder reports whether a path is a folder or below it.
func inFolder(folder, path string) bool {
	rest, ok := strings.CutPrefix(path, strings.TrimSuffix(folder, string(filepath.Separator)))
	return ok && (rest == "" || rest[0] == filepath.Separator)
}
