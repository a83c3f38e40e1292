package bash

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/environ"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/tool/args"
	sh "github.com/lathe-agent/lathe/tool/shell"
	"github.com/lathe-agent/lathe/tool/target"
	"github.com/lathe-agent/lathe/workspace"
)

// permit asks for what a command would do, at once: for the directories outside of the project
// that it names, for files that rules speak of, and for its commands.
func (b *bash) permit(ctx context.Context, c *tool.Call, command string, dir target.Target, s scanned) error {
	dirs := externalDirs(c, dir, s.paths)
	for _, d := range linksOut(c, s.plan.FollowedDirs) {
		dirs = target.AppendUnique(dirs, d)
	}
	var all []tool.Permission
	if len(dirs) > 0 {
		var patterns, always []string
		for _, d := range dirs {
			pattern := filepath.ToSlash(filepath.Join(d, "*"))
			if patterns = append(patterns, pattern); lasts(d) {
				always = append(always, pattern)
			}
		}
		meta := lathe.AppendJSONString([]byte(`{"command":`), command)
		meta = args.AppendTexts(append(meta, `,"directories":`...), dirs)
		meta = append(args.AppendTexts(append(meta, `,"patterns":`...), patterns), '}')
		all = append(all, tool.Permission{Name: "external_directory", Patterns: patterns, Always: always, Metadata: meta})
	}
	if files := readTargets(c, s.paths); len(files) > 0 {
		meta := append(lathe.AppendJSONString([]byte(`{"command":`), command), '}')
		all = append(all, tool.Permission{Name: "read", Patterns: files, Always: files, ExplicitOnly: true, Metadata: meta})
	}
	if len(s.Patterns) > 0 {
		s.Metadata = append(appendWays(appendUnknown(lathe.AppendJSONString([]byte(`{"command":`), command), s.unknown), s.Permission), '}')
		all = append(all, s.Permission)
	}
	return c.Host.Ask(ctx, all...)
}

// lasts reports whether a directory is the same tomorrow. Those of processes and devices are not,
// so allowing one for good would allow anything.
func lasts(dir string) bool {
	return !slices.ContainsFunc([]string{"/proc", "/sys", "/dev"}, func(top string) bool { return workspace.Inside(top, dir) })
}

// scan reads a command in the grammar of the shell that runs it. Of a shell whose grammar is
// not known, rules for everything are all that can allow a command.
func (b *bash) scan(command string, dir target.Target, env []string) scanned {
	if !b.shell().posix() {
		return scanned{Permission: tool.Permission{Name: "bash", Patterns: []string{command, sh.UnknownCommand}, Maybe: []string{"*"}}}
	}
	s := scanCommand(command, sh.Environment{Dir: dir.Path, Home: b.home, Env: func(name string) (string, bool) {
		value := environ.Variable(env, name)
		return value, value != ""
	}})
	s.line.Dir = dir.Path
	return s
}

// appendWays adds how rules may be held against the patterns, for those that are not the engine's.
func appendWays(meta []byte, p tool.Permission) []byte {
	if slices.ContainsFunc(p.RequiredPrefix, func(s string) bool { return s != "" }) {
		meta = args.AppendTexts(append(meta, `,"spelled":`...), p.RequiredPrefix)
	}
	if !slices.ContainsFunc(p.Written, func(list []string) bool { return len(list) > 0 }) {
		return meta
	}
	meta = append(meta, `,"written":[`...)
	for i, list := range p.Written {
		if i > 0 {
			meta = append(meta, ',')
		}
		meta = args.AppendTexts(meta, list)
	}
	return append(meta, ']')
}

// maxUnknown is how much is shown of what is not known.
const maxUnknown = 20

// appendUnknown shows what is not known of a command, and why.
func appendUnknown(meta []byte, list []sh.Unknown) []byte {
	if len(list) == 0 {
		return meta
	}
	meta = append(meta, `,"unknown":[`...)
	for i, u := range list[:min(len(list), maxUnknown)] {
		if i > 0 {
			meta = append(meta, ',')
		}
		meta = lathe.AppendJSONString(append(meta, `{"text":`...), u.Text)
		meta = append(lathe.AppendJSONString(append(meta, `,"why":`...), u.Why), '}')
	}
	return append(meta, ']')
}
