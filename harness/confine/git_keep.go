package confine

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/lathe-agent/lathe/config/datadir"
	"github.com/lathe-agent/lathe/internal/gitobj"
	"github.com/lathe-agent/lathe/sandbox"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/workspace/gitguard"
	"github.com/lathe-agent/lathe/workspace/guarded"
)

// gitProject looks after git in one project, for all commands of this process.
type gitProject struct {
	*gitguard.Watch
	root   string
	folder string // for copies of configuration files
	log    *slog.Logger

	mu      sync.Mutex
	pending []string       // notes for the next result
	link    *gitguard.Link // nil means that there was no repository
	linked  string         // the configuration file that it is for
}

// linkFor protects the configuration of the project's repository from commands; nil means that
// there is none. It is made in a .git of the project's own. In a linked work tree that of the
// main checkout is used if it is there.
func (g *gitProject) linkFor(place gitguard.RepoDirs) *gitguard.Link {
	if place.Common == "" {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if config := filepath.Join(place.Common, "config"); g.linked != config {
		if g.link != nil {
			g.link.Close()
		}
		g.link, g.linked = gitguard.NewLink(g.folder, config, place.Common == filepath.Join(g.root, ".git")), config
	}
	return g.link
}

// gitProjects are the projects in which commands ran.
type gitProjects struct {
	mu    sync.Mutex
	all   map[string]*gitProject
	plain bool // no configuration is linked, for tests
}

// close puts configuration files back, at once or when the last command has ended.
func (all *gitProjects) close() {
	all.mu.Lock()
	defer all.mu.Unlock()
	for _, g := range all.all {
		g.mu.Lock()
		if g.link != nil {
			g.link.Close()
		}
		g.mu.Unlock()
	}
}

func (all *gitProjects) of(root string, at datadir.Folders, log *slog.Logger) *gitProject {
	all.mu.Lock()
	defer all.mu.Unlock()
	g := all.all[root]
	if g == nil {
		aside := filepath.Join(at.Data, "refused")
		g = &gitProject{
			root: root, folder: gitFolder(at), log: log,
			Watch: gitguard.NewWatch(root, func(path string) error { return sandbox.MoveAside(path, aside) }),
		}
		g.Trees = at.Worktrees()
		if all.all == nil {
			all.all = map[string]*gitProject{}
		}
		all.all[root] = g
	}
	return g
}

// gitFolder is where copies of configuration files of git are.
func gitFolder(at datadir.Folders) string { return filepath.Join(at.Data, "git") }

// add keeps notes until a command ends, whose result they come with.
func (g *gitProject) add(notes []string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, n := range notes {
		if !slices.Contains(g.pending, n) {
			g.pending = append(g.pending, n)
		}
	}
}

func (g *gitProject) take() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	notes := g.pending
	g.pending = nil
	return notes
}

// gitMonitor looks after git around one command.
type gitMonitor struct {
	*gitProject
	configs []string // of the repositories
	reads   bool     // it is known to write nothing
	mounts  bool     // there can be mounts
	plain   bool     // nothing is linked

	mu   sync.Mutex
	view *gitguard.View
	uses *gitguard.Link
	gone bool // nothing of the command is left, and all was looked at
}

// keepGit protects git in a project and sets the monitor for it.
func (f *Policy) keepGit(p *sandbox.Profile, root string, at datadir.Folders, reads bool) {
	root, err := filepath.EvalSymlinks(root)
	if err != nil {
		return // there is nothing
	}
	g := f.git.of(root, at, f.host.Log)
	configs := protectGit(p, root, g.Repositories())
	p.Show = append(p.Show, filepath.Join(g.folder, "hooks"))
	mounts := f.Kernel().Mounts
	p.Monitor = &gitMonitor{gitProject: g, configs: configs, reads: reads, mounts: mounts, plain: f.git.plain || !mounts || reads || !f.canMount()}
}

// mostHeld is how many configuration files are looked at often while commands run, the project's own
// first.
const mostHeld = 20

// Prepare gives the command copies of the configuration files.
func (k *gitMonitor) Prepare(p *sandbox.Profile) error {
	changes, unseen := gitguard.Recover(k.folder, k.root)
	k.add(describeChanges(changes))
	place := placeOfGit(k.root)
	k.add(describeFindings(k.Watch.Begin(place, unseen)))
	k.useLink(place)
	reads := k.reads || p.Reads
	if len(k.configs) > 0 && !reads {
		k.Watch.Protect(k.configs[:min(len(k.configs), mostHeld)])
	}
	configs := protectLinked(p, k.configs)
	if len(configs) == 0 || reads || !k.mounts {
		return nil
	}
	view, err := gitguard.OpenView(k.folder, k.root, configs)
	if err != nil {
		return nil // they stay read-only
	}
	k.mu.Lock()
	k.view = view
	k.mu.Unlock()
	p.Show = append(p.Show, view.Writable())
	p.Mounts = append(p.Mounts, sandbox.Mount{Type: sandbox.BindMount, Source: view.Writable(), Target: view.Writable()})
	for i, path := range configs {
		p.Mounts = append(p.Mounts, sandbox.Mount{Type: sandbox.LinkMount, Source: view.Link(i), Target: path, ReadOnly: true})
	}
	return nil
}

// useLink has the project's configuration linked, if it can be.
func (k *gitMonitor) useLink(place gitguard.RepoDirs) {
	if k.plain {
		return
	}
	if k.uses = k.linkFor(place); k.uses == nil {
		return
	}
	if err := k.uses.Acquire(); err != nil {
		k.log.Debug("the git config is not linked while commands run", "root", k.root, "why", err)
	}
}

func (k *gitMonitor) leaveLink() {
	if k.uses != nil {
		k.uses.Release()
	}
}

// protectLinked protects the folders that configuration files lie in while they are linked, and returns
// the files that can have a copy: of other symlinks both ends are bound.
func protectLinked(p *sandbox.Profile, configs []string) (copied []string) {
	for _, path := range configs {
		real, linked := gitguard.RealConfig(path)
		if linked {
			p.Protect = append(slices.Clip(p.Protect), filepath.Dir(real))
		}
		if info, err := os.Lstat(path); linked || err != nil || info.Mode().IsRegular() {
			copied = append(copied, path)
		}
	}
	return copied
}

// Check takes over what may be, and looks for what git would run.
func (k *gitMonitor) Check(m sandbox.Phase) []string {
	if m == sandbox.StillRunning {
		k.add(describeFindings(k.Watch.Check(false)))
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.view != nil {
		k.add(describeChanges(k.view.ApplyChanges()))
	}
	if !k.gone {
		k.add(describeFindings(k.Watch.Check(true)))
		k.add(describeNoticed(k.Watch.GuardedChanges()))
	}
	if m == sandbox.CommandEnded {
		return k.take()
	}
	k.Watch.End()
	k.gone = true
	k.leaveLink()
	if k.view != nil {
		k.view.Remove()
		k.view = nil
	}
	return nil
}

// serviceMonitor looks after git around a program that lives as long as sessions do: its configuration is
// linked, and nothing else.
type serviceMonitor struct{ of *gitMonitor }

// Prepare has the configuration linked, and its folder protected.
func (k serviceMonitor) Prepare(p *sandbox.Profile) error {
	k.of.useLink(placeOfGit(k.of.root))
	protectLinked(p, k.of.configs)
	return nil
}

// Check ends it.
func (k serviceMonitor) Check(m sandbox.Phase) []string {
	if m == sandbox.AllGone {
		k.of.leaveLink()
	}
	return nil
}

// describeChanges describes the config changes that were not applied.
func describeChanges(changes []gitguard.Change) (notes []string) {
	for _, c := range changes {
		if c.Err != nil {
			notes = append(notes, fmt.Sprintf("The command's changes to %s could not be applied: %v. Tell the user.", c.File, c.Err))
		}
		if len(c.Refused) > 0 {
			notes = append(notes, fmt.Sprintf("These git settings stayed in the sandbox and are not in %s, because git would run or obey them: %s. If they are needed, tell the user to set them (git config).",
				c.File, someOf(c.Refused)))
		}
		if len(c.Conflicts) > 0 {
			notes = append(notes, fmt.Sprintf("Another process changed these settings in %s at the same time, and its values stay: %s.", c.File, someOf(c.Conflicts)))
		}
	}
	return notes
}

func describeFindings(findings []gitguard.Finding) []string {
	return listFindings("The sandbox moved these aside, because the user's git would run or obey them. Tell the user:", findings)
}

func describeNoticed(findings []gitguard.Finding) []string {
	return listFindings("These were created or changed while the command ran, and other programs obey them. Tell the user to read them before using the folder:", findings)
}

// listFindings lists findings below a heading.
func listFindings(what string, findings []gitguard.Finding) []string {
	if len(findings) == 0 {
		return nil
	}
	var lines []string
	for _, f := range findings {
		lines = append(lines, "- "+f.String())
	}
	const most = 10
	if len(lines) > most {
		lines = append(lines[:most], fmt.Sprintf("- and %d more", len(findings)-most))
	}
	return []string{what + "\n" + strings.Join(lines, "\n")}
}

func someOf(keys []string) string {
	const most = 20
	if len(keys) > most {
		return strings.Join(keys[:most], ", ") + ", and more"
	}
	return strings.Join(keys, ", ")
}

// WithGitEnv adds what git has in commands of models to their variables.
func (f *Policy) WithGitEnv(add envAdder) envAdder {
	return func(ctx context.Context, dir string, c *tool.Call) (map[string]string, error) {
		vars, err := add(ctx, dir, c)
		if c == nil || err != nil {
			return vars, err
		}
		at, err := datadir.Find(f.host.Env)
		if err != nil {
			return vars, err
		}
		out := gitEnv(f.host.Env, rootOf(c), at)
		maps.Copy(out, vars) // the user chose the plugin, so its variables win
		return out, nil
	}
}

// envAdder returns variables for a command; the call is nil for one that the user typed.
type envAdder = func(ctx context.Context, dir string, c *tool.Call) (map[string]string, error)

// gitEnv returns git config for model commands that wins over the repository's: git uses no bare repository that it
// happens to be in, starts no file monitor, and runs only the hooks that this project has now. It comes after the
// user's own variables.
func gitEnv(env func(string) string, root string, at datadir.Folders) map[string]string {
	n, err := strconv.Atoi(env("GIT_CONFIG_COUNT"))
	if err != nil || n < 0 || n > 1000 {
		n = 0
	}
	settings := [][2]string{{"safe.bareRepository", "explicit"}, {"core.fsmonitor", "false"}}
	if real, err := filepath.EvalSymlinks(root); err == nil {
		root = real
	}
	if place := placeOfGit(root); place.Own != "" {
		hooks := filepath.Join(place.Common, "hooks")
		if config, err := gitobj.ReadConfig(filepath.Join(place.Common, "config")); err == nil && config.Last("core.hookspath") != "" {
			hooks = guarded.ExpandPath(root, "", config.Last("core.hookspath"))
		}
		if file := hooksFile(gitFolder(at), hooks); hooks != "" && file != "" {
			settings = append(settings, [2]string{"includeIf.gitdir:" + escapeGlob(place.Own) + ".path", file})
		}
	}
	out := map[string]string{"GIT_CONFIG_COUNT": strconv.Itoa(n + len(settings))}
	for i, s := range settings {
		out["GIT_CONFIG_KEY_"+strconv.Itoa(n+i)], out["GIT_CONFIG_VALUE_"+strconv.Itoa(n+i)] = s[0], s[1]
	}
	return out
}

// hooksFile makes the file that says where the hooks of a project are, for that project alone:
// in other repositories git looks where they say. "" means that it could not be made.
func hooksFile(folder, hooks string) string {
	text := "[core]\n\thooksPath = \"" + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(hooks) + "\"\n"
	file := filepath.Join(folder, "hooks", gitguard.ShortName(hooks))
	if b, err := os.ReadFile(file); err == nil && string(b) == text {
		return file
	}
	if os.MkdirAll(filepath.Dir(file), 0o700) != nil || os.WriteFile(file, []byte(text), 0o600) != nil {
		return ""
	}
	return file
}

func escapeGlob(path string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}
