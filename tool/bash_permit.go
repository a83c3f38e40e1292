package tool

import (
	"context"
	"path/filepath"

	"github.com/lathe-agent/lathe"
	sh "github.com/lathe-agent/lathe/tool/shell"
)

// permit asks for what a command would do: first for the directories outside of the project
// that it names, then for its commands.
func (b *bash) permit(ctx context.Context, c *Call, command string, dir target, s scanned) error {
	if dirs := outsideDirs(c, dir, s.paths); len(dirs) > 0 {
		var patterns []string
		for _, d := range dirs {
			patterns = append(patterns, filepath.ToSlash(filepath.Join(d, "*")))
		}
		meta := lathe.AppendJSONString([]byte(`{"command":`), command)
		meta = appendTexts(append(meta, `,"directories":`...), dirs)
		meta = append(appendTexts(append(meta, `,"patterns":`...), patterns), '}')
		if err := c.Host.Ask(ctx, Permission{Name: "external_directory", Patterns: patterns, Always: patterns, Metadata: meta}); err != nil {
			return err
		}
	}
	if len(s.Patterns) == 0 {
		return nil
	}
	s.Metadata = append(appendUnknown(lathe.AppendJSONString([]byte(`{"command":`), command), s.unknown), '}')
	return c.Host.Ask(ctx, s.Permission)
}

// scan reads a command in the grammar of the shell that runs it. Of a shell whose grammar is
// not known, rules for everything are all that can allow a command.
func (b *bash) scan(command string, dir target, env []string) scanned {
	if !b.shell().posix() {
		return scanned{Permission: Permission{Name: "bash", Patterns: []string{command, sh.UnknownCommand}, Maybe: []string{"*"}}}
	}
	s := scanCommand(command, sh.Surroundings{Dir: dir.Path, Home: b.home, Env: func(name string) (string, bool) {
		value := variable(env, name)
		return value, value != ""
	}})
	s.line.Dir = dir.Path
	return s
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
