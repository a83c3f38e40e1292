package eval

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/cli/run"
	cases "github.com/lathe-agent/lathe/eval"
	"github.com/lathe-agent/lathe/harness/trial"
	"github.com/lathe-agent/lathe/internal/phrase"
	"github.com/lathe-agent/lathe/internal/termtext"
	"github.com/lathe-agent/lathe/tool/bash"
	"github.com/lathe-agent/lathe/workspace"
	"github.com/lathe-agent/lathe/workspace/secret"
)

// readFile reads a regular file of limited size.
func readFile(name string, most int64) ([]byte, error) {
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return nil, lathe.Errorf(lathe.NotFound, "cannot read the file: %w", err)
	case !info.Mode().IsRegular():
		return nil, lathe.Errorf(lathe.Invalid, "%s is not a regular file", termtext.Plain(name))
	case info.Size() > most:
		return nil, lathe.Errorf(lathe.Invalid, "%s has more than %s", termtext.Plain(name), termtext.ByteSize(most))
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, lathe.Errorf(lathe.Unavailable, "cannot read the file: %w", err)
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, most))
}

// pathOf is a path from the command line.
func pathOf(a *cli.App, name string) string {
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	dir, err := filepath.Abs(a.Dir)
	if err != nil {
		return name
	}
	return filepath.Join(dir, name)
}

// readCases reads a file of cases and applies the flags. Its paths become absolute.
func readCases(a *cli.App, f evalFlags, name string) (*cases.File, error) {
	at := pathOf(a, name)
	text, err := readFile(at, cases.MaxFile+1)
	if err != nil {
		return nil, err
	}
	file, err := cases.Parse(name, text)
	if err != nil {
		return nil, err
	}
	if file.Name == "" {
		file.Name = termtext.Plain(strings.TrimSuffix(filepath.Base(at), filepath.Ext(at)))
	}
	if len(f.cases) > 0 {
		if err := selectCases(file, f.cases); err != nil {
			return nil, err
		}
	}
	for i := range file.Cases {
		c := &file.Cases[i]
		if len(f.models) > 0 {
			c.Models = f.models
		}
		if f.runs > 0 {
			c.Runs = f.runs
		}
		if err := resolvePaths(c, filepath.Dir(at), name); err != nil {
			return nil, err
		}
	}
	return file, nil
}

// selectCases keeps the cases of --case.
func selectCases(file *cases.File, wanted []string) error {
	var names []string
	for _, c := range file.Cases {
		names = append(names, c.Name)
	}
	for _, w := range wanted {
		if slices.Contains(names, w) {
			continue
		}
		hint := ""
		if near := phrase.Nearest(w, names); near != "" {
			hint = "; did you mean " + near + "?"
		}
		return cli.Usagef("--case %s: the file has no such case%s", termtext.Quote(w), hint)
	}
	file.Cases = slices.DeleteFunc(file.Cases, func(c cases.Case) bool { return !slices.Contains(wanted, c.Name) })
	return nil
}

// resolvePaths makes the paths of a case absolute. Each must exist.
func resolvePaths(c *cases.Case, dir, file string) error {
	files := slices.Clone(c.Check.Files) // cases share those of the defaults
	all := []*string{&c.Source.Repo, &c.Source.Folder}
	for i := range files {
		all = append(all, &files[i])
	}
	for _, p := range all {
		if *p == "" {
			continue
		}
		if !filepath.IsAbs(*p) {
			*p = filepath.Join(dir, filepath.FromSlash(*p))
		}
		*p = filepath.Clean(*p)
		if _, err := os.Stat(*p); err != nil {
			return lathe.Errorf(lathe.NotFound, "%s:%d: case %s: %w", termtext.Plain(file), c.Line, c.Name, err)
		}
	}
	for i, p := range files {
		base := filepath.Base(p)
		if !cases.IsLocal(base) {
			return lathe.Errorf(lathe.Invalid, "%s:%d: case %s: check_files has %s, which has no name of its own", termtext.Plain(file), c.Line, c.Name, termtext.Quote(p))
		}
		if slices.ContainsFunc(files[:i], func(o string) bool { return filepath.Base(o) == base }) {
			return lathe.Errorf(lathe.Invalid, "%s:%d: case %s: check_files has two with the name %s", termtext.Plain(file), c.Line, c.Name, termtext.Quote(base))
		}
	}
	c.Check.Files = files
	return nil
}

// readerOf keeps credentials and lathe's own files out of the copies.
func readerOf(v *evaluation) trial.Reader {
	at := v.setup.Folders
	secrets := secret.Find(v.Home(), v.Env)
	if real, err := filepath.EvalSymlinks(v.Home()); err == nil && real != v.Home() {
		secrets = append(secrets, secret.Find(real, v.Env)...)
	}
	var own []string
	for _, dir := range []string{at.Data, at.State, at.Cache, at.Worktrees()} {
		if own = append(own, dir); dir != "" {
			if real, err := filepath.EvalSymlinks(dir); err == nil {
				own = append(own, real)
			}
		}
	}
	return trial.Reader{Excludes: v.UserExcludes(), Forbidden: func(path string) bool {
		if _, ok := secrets.Containing(path); ok {
			return true
		}
		return slices.ContainsFunc(own, func(dir string) bool { return dir != "" && workspace.Inside(dir, path) })
	}}
}

// hide keeps what could help an agent to cheat from commands and tools: the cases with their patches, the tests, the
// solutions beside them, and the repositories with their later commits. What a program may need stays visible.
func (v *evaluation) hide() {
	all := slices.Clone(v.reader.Skip)
	for _, c := range v.file.Cases {
		all = append(all, c.Source.Repo, c.Source.Folder)
		all = append(all, c.Check.Files...)
	}
	needed := append(filepath.SplitList(v.Env("PATH")), v.Home(), v.setup.Folders.Worktrees(), v.setup.Folders.Data)
	for _, f := range v.forks {
		needed = append(needed, f.session.Directory)
	}
	for _, path := range all {
		real := bash.FollowLinks(path)
		holds := func(p string) bool { return p != "" && workspace.Inside(real, bash.FollowLinks(p)) }
		if path != "" && !slices.Contains(v.setup.Confine.Hidden, real) && !slices.ContainsFunc(needed, holds) {
			v.setup.Confine.Hidden = append(v.setup.Confine.Hidden, real)
		}
	}
}

// makePlan resolves models and digests, and lists the runs.
func (v *evaluation) makePlan(ctx context.Context) error {
	full := map[[2]string]string{}
	digests := map[string]string{}
	for i := range v.file.Cases {
		c := &v.file.Cases[i]
		var models []string
		for _, m := range c.Models {
			key := [2]string{m, c.Agent}
			name, ok := full[key]
			if !ok {
				var err error
				// In a folder without settings: those of the current project do not hold in the copies.
				if name, err = run.CheckModel(ctx, v.InDir(v.bases.Dir()), v.setup, m, c.Agent); err != nil {
					return err
				}
				full[key] = name
			}
			if !slices.Contains(models, name) {
				models = append(models, name)
			}
		}
		c.Models = models
		if err := v.digest(ctx, c, digests); err != nil {
			return lathe.Errorf(lathe.CodeOf(err), "case %s: %w", c.Name, err)
		}
	}
	v.plan = v.file.Plan()
	return nil
}

// digest adds the commit, the session and the content of folders and check files to what names the runs of a case.
func (v *evaluation) digest(ctx context.Context, c *cases.Case, known map[string]string) error {
	add := func(at string, exclude []string, ignore bool) error {
		key := strings.Join(append([]string{at}, exclude...), "\x00")
		sum, ok := known[key]
		if !ok {
			var err error
			if sum, err = v.reader.Digest(ctx, at, exclude, ignore); err != nil {
				return err
			}
			known[key] = sum
		}
		c.Digests = append(c.Digests, sum)
		return nil
	}
	if c.Source.Repo != "" { // a branch moves
		id, err := trial.Resolve(ctx, c.Source.Repo, c.Source.Commit)
		if err != nil {
			return err
		}
		c.Digests = append(c.Digests, id)
	}
	if f, ok := v.forks[c.Name]; ok { // by a part of its ID
		c.Digests = append(c.Digests, string(f.session.ID))
	}
	if c.Source.Folder != "" {
		if err := add(c.Source.Folder, c.Source.Exclude, true); err != nil {
			return err
		}
	}
	for _, at := range c.Check.Files {
		if err := add(at, nil, false); err != nil {
			return err
		}
	}
	return nil
}

// readBaseline reads the results of another eval.
func readBaseline(a *cli.App, name string) (*cases.Results, error) {
	data, err := readFile(pathOf(a, name), cases.MaxResults)
	if err != nil {
		return nil, err
	}
	r, err := cases.ReadResults(termtext.Plain(name), data)
	return &r, err
}
