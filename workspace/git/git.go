package git

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/lathe-agent/lathe"
)

// Options are the surroundings of a [Git].
type Options struct {
	Program string        // path of git; "" means that there is none
	Env     []string      // as name=value; what it says to git is left out
	Timeout time.Duration // of one question; 0 is twenty seconds
}

// Git answers questions about repositories.
type Git struct {
	program string
	env     []string
	timeout time.Duration
	slots   chan struct{} // as many as may run at a time
}

// atOnce is how many processes run at a time; more questions wait.
const atOnce = 8

// New makes a Git. It starts nothing.
func New(o Options) *Git {
	g := &Git{program: o.Program, timeout: o.Timeout, slots: make(chan struct{}, atOnce)}
	if g.timeout <= 0 {
		g.timeout = 20 * time.Second
	}
	for _, v := range o.Env {
		if !strings.HasPrefix(strings.ToUpper(v), "GIT_") { // one inherited from a hook would name another repository
			g.env = append(g.env, v)
		}
	}
	g.env = append(g.env, "LC_ALL=C", "GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_ALLOW_PROTOCOL=", "GIT_NO_LAZY_FETCH=1", "GIT_NO_REPLACE_OBJECTS=1", "GIT_LITERAL_PATHSPECS=1", "GIT_PAGER=cat")
	return g
}

// settings hold whatever the user's own configuration says: what is read here must have one form.
var settings = []string{
	"core.fsmonitor=false", "core.hooksPath=/dev/null", "core.pager=cat", "core.quotePath=true", "core.untrackedCache=false",
	"diff.external=", "diff.autoRefreshIndex=true", "diff.relative=false", "diff.noprefix=false", "diff.mnemonicPrefix=false",
	"diff.interHunkContext=0", "diff.suppressBlankEmpty=false", "diff.submodule=short", "diff.ignoreSubmodules=dirty",
	"submodule.recurse=false", "color.ui=false", "apply.whitespace=nowarn", "apply.ignoreWhitespace=no",
}

// errTooMuch says that git said more than was asked for.
var errTooMuch = errors.New("git said more than is read here")

// question is one run of git.
type question struct {
	view  *view  // nil is no repository
	dir   string // where it runs, without a view
	input string
	limit int // bytes of the answer; 0 is a megabyte
	args  []string
}

// ask runs git and returns what it said. An exit code other than 0 is an [exec.ExitError] in the
// chain, with git's words.
func (g *Git) ask(ctx context.Context, q question) ([]byte, error) {
	if g.program == "" || !filepath.IsAbs(g.program) {
		return nil, lathe.Errorf(lathe.Unavailable, "git was not found; install it, or put it on the PATH of this server")
	}
	select {
	case g.slots <- struct{}{}:
		defer func() { <-g.slots }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	ctx, stop := context.WithTimeout(ctx, g.timeout)
	defer stop()
	args := make([]string, 0, 2*len(settings)+len(q.args))
	for _, s := range settings {
		args = append(args, "-c", s)
	}
	cmd := exec.CommandContext(ctx, g.program, append(args, q.args...)...)
	cmd.Env, cmd.Dir = g.env, q.dir
	if q.view != nil {
		cmd.Env, cmd.Dir = append(g.env[:len(g.env):len(g.env)], q.view.env()...), q.view.top
	}
	out, words := &bounded{limit: q.limit}, &bounded{limit: 4 << 10, cut: true}
	out.limit = cmp.Or(out.limit, 1<<20)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(q.input), out, words
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	switch {
	case err == nil:
		return out.Bytes(), nil
	case out.full:
		return nil, errTooMuch
	case context.Cause(ctx) == context.DeadlineExceeded:
		return nil, lathe.Errorf(lathe.Unavailable, "git %s took longer than %v; try again, or on a smaller part of the project", q.args[0], g.timeout)
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	}
	return nil, fmt.Errorf("git %s: %w: %s", q.args[0], err, strings.TrimSpace(strings.ToValidUTF8(words.String(), "")))
}

// bounded keeps what git says up to a limit. Beyond it, writing fails, unless the rest may be cut.
type bounded struct {
	bytes.Buffer
	limit     int
	cut, full bool
}

func (b *bounded) Write(p []byte) (int, error) {
	if space := b.limit - b.Len(); len(p) > space {
		b.full = true
		if !b.cut {
			return 0, io.ErrShortWrite
		}
		b.Buffer.Write(p[:space])
		return len(p), nil
	}
	return b.Buffer.Write(p)
}

// exitCode is that of git in an error, -1 where it has none.
func exitCode(err error) int {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode()
	}
	return -1
}

// Init makes a repository of a directory.
func (g *Git) Init(ctx context.Context, dir string) error {
	_, err := g.ask(ctx, question{dir: dir, args: []string{"init", "--quiet"}})
	return err
}
