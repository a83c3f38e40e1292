package harness

import (
	"cmp"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"time"

	"github.com/lathe-agent/lathe/engine/check"

	"github.com/lathe-agent/lathe/tool/bash"
	"github.com/lathe-agent/lathe/tool/builtin"
	"github.com/lathe-agent/lathe/tool/web"

	"github.com/lathe-agent/lathe/config"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/harness/confine"
	"github.com/lathe-agent/lathe/internal/environ"
	"github.com/lathe-agent/lathe/sandbox"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/workspace"
)

// equip gives the agents of a directory their tools, and the user a shell.
func (s *Harness) equip(k *DirConfig, place workspace.Place, out *engine.StepSettings) {
	c := k.loaded.Config
	commands := bash.Config{
		Runner: s.Runner, Shell: s.app.shell(c.Shell), Env: environ.With(s.commandEnv(), c.Env), Timeout: s.app.commandTime(), ExtraEnv: s.Confine.WithGitEnv(s.env(place.Directory)), Output: tool.Output{Dir: s.Folders.Outputs(), Limits: out.Limits},
		Secrets:        k.secretNames, // when the first command runs: the list is long
		NonInteractive: out.Headless || out.Unattended,
		Confine: func(call *tool.Call, line bash.Line) (sandbox.Profile, error) {
			return s.Confine.Profile(s.withMode(place, c), call, line)
		},
	}
	var syntax *builtin.SyntaxChecker
	if out.Checks[check.Syntax] != check.Off {
		syntax = &builtin.SyntaxChecker{Env: s.app.Environ()}
	}
	tools := builtin.All(builtin.Config{
		Bash:   commands,
		Read:   builtin.ReadConfig{Tracker: s.seen, Buffers: s.buffers, Instructions: config.ProjectInstructions(), InPrompt: s.inPrompt(k)},
		Write:  builtin.WriteConfig{Tracker: s.seen, Buffers: s.buffers, AllowStale: s.app.Variable("DISABLE_FILETIME_CHECK") != "", Syntax: syntax, Guard: confine.GuardList(s.app.ConfineHost())},
		Web:    s.app.WebConfig(c.WebFetch, out.Limits),
		Search: s.search(),
		Files:  builtin.FilesConfig{Excludes: s.app.UserExcludes},
		Task:   builtin.TaskConfig{Background: out.Subagents.Background},
	})
	if !s.app.canQuestion() {
		tools = slices.DeleteFunc(tools, func(t tool.Tool) bool { return t.Spec().Name == "question" })
	}
	out.Outside, out.Temporary = s.Confine.Outside(c), confine.TempName
	out.Skills = SkillsOf(k.loaded)
	out.Tools = tool.NewSet(append(tools, builtin.Skill(skillEntries(out.Skills)), builtin.PlanEnter(), builtin.PlanExit())...)
	out.Shell = bash.NewShell(commands)
	out.ShellName = out.Shell.ModelShell()
}

// UserExcludes returns the path of the user's global gitignore. It is looked up with every search, which takes
// microseconds and keeps the start fast.
func (a *Host) UserExcludes() string { return workspace.UserExcludes(a.Env) }

// commandEnv returns the environment of commands. Its last variables show commands that an agent runs them.
func (s *Harness) commandEnv() []string {
	env := s.environ
	if env == nil {
		env = s.app.Environ()
	}
	return append(slices.Clip(env), "AGENT=1", "OPENCODE=1", "OPENCODE_PID="+strconv.Itoa(os.Getpid()))
}

// commandTime returns the default time limit of commands; 0 means the tool's own.
func (a *Host) commandTime() time.Duration {
	n, err := strconv.Atoi(a.Variable("EXPERIMENTAL_BASH_DEFAULT_TIMEOUT_MS"))
	if err != nil || n <= 0 {
		return 0
	}
	return time.Duration(n) * time.Millisecond
}

// WebConfig returns which hosts pages may come from. It ignores an invalid proxy, which the check of the config
// reports.
func (a *Host) WebConfig(c config.WebFetch, limits tool.Limits) web.Config {
	out := web.Config{UserAgent: a.agent(), AllowPrivate: c.Private, Limits: limits}
	if u, err := url.Parse(c.Proxy); c.Proxy != "" && err == nil && u.Host != "" {
		out.Proxy = u
	}
	return out
}

// search returns the web search provider: the named one if it is usable, else one with a key, else one that works
// without.
func (s *Harness) search() web.SearchConfig {
	a := s.app
	exa := web.SearchConfig{Provider: "exa", Key: a.Env("EXA_API_KEY"), Keyless: a.IsEnvTrue("ENABLE_EXA") || a.IsEnvTrue("EXPERIMENTAL_EXA")}
	other := web.SearchConfig{Provider: "parallel", Key: a.Env("PARALLEL_API_KEY"), Keyless: a.IsEnvTrue("ENABLE_PARALLEL") || a.IsEnvTrue("EXPERIMENTAL_PARALLEL")}
	named := a.Variable("WEBSEARCH_PROVIDER")
	c := exa
	switch {
	case named == other.Provider && (other.Key != "" || other.Keyless):
		c = other
	case named == exa.Provider && (exa.Key != "" || exa.Keyless):
	case exa.Key != "":
	case other.Key != "" || other.Keyless:
		c = other
	}
	c.UserAgent = a.agent()
	return c
}

// canQuestion reports whether the client of this process can show the questions of the tool question.
func (a *Host) canQuestion() bool {
	client := cmp.Or(a.Variable("CLIENT"), "cli")
	return client == "cli" || client == "app" || client == "desktop" || a.IsEnvTrue("ENABLE_QUESTION_TOOL")
}

// shell returns the shell for commands: the one of the config, or on Windows the bash that comes with git.
func (a *Host) shell(settings string) string {
	if settings == "" && runtime.GOOS == "windows" {
		return a.Variable("GIT_BASH_PATH")
	}
	return settings
}

// inPrompt returns the instruction files that are already in the system prompt.
func (s *Harness) inPrompt(k *DirConfig) func(string) []string {
	return func(string) (paths []string) {
		for _, i := range k.loaded.Instructions {
			if path, err := filepath.EvalSymlinks(i.Path); err == nil && i.Path != "" {
				paths = append(paths, path)
			}
		}
		return paths
	}
}
