package bash

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/phrase"
	"github.com/lathe-agent/lathe/sandbox"
	"github.com/lathe-agent/lathe/tool"
	sh "github.com/lathe-agent/lathe/tool/shell"
	"github.com/lathe-agent/lathe/tool/target"
)

// confine returns the sandbox of a command. It does not run a command that is known to write a
// protected name: asking about it would be pointless.
func (b *bash) confine(c *tool.Call, in bashInput, s scanned) (sandbox.Profile, error) {
	if b.Confine == nil {
		return sandbox.Profile{}, nil
	}
	p, err := b.Confine(c, s.line)
	if err != nil {
		return p, tool.Failf("The command could not be run: %w", err)
	}
	p.Reads = s.line.ReadsOnly
	if name := protectedTarget(p, s.paths); name != "" && strings.TrimSpace(in.Outside) == "" {
		return p, tool.Failf("Nothing was run: the command would write %s. The sandbox (%s) keeps that name from commands, since other programs run what it says or take their settings from it. %s", name, p.Mode, b.wayOut())
	}
	return p, nil
}

// leaveSandbox asks to run a command outside of its sandbox, for this one call; the reason is shown.
func leaveSandbox(ctx context.Context, c *tool.Call, in bashInput, p sandbox.Profile) (sandbox.Profile, error) {
	reason := strings.TrimSpace(in.Outside)
	if reason == "" || !p.Confined() {
		return p, nil
	}
	for _, prefix := range []string{target.EditPrefix, target.ReadPrefix} {
		if strings.HasPrefix(strings.TrimSpace(in.Command), prefix) { // rules would take it for a file
			return p, tool.Failf("No command begins with %q, so nothing was run.", prefix)
		}
	}
	meta := lathe.AppendJSONString([]byte(`{"command":`), in.Command)
	meta = lathe.AppendJSONString(append(meta, `,"reason":`...), reason)
	meta = append(lathe.AppendJSONString(append(meta, `,"sandbox":`...), string(p.Mode)), '}')
	if err := c.Host.Ask(ctx, tool.Permission{Name: "sandbox", Patterns: []string{in.Command}, Metadata: meta}); err != nil {
		return p, err
	}
	return sandbox.Profile{Mode: sandbox.Off, Limits: p.Limits}, nil
}

// protectedTarget returns a protected name that a command is known to write, or to remove with
// a folder around it, of which it would leave half; "" means none. In a project that cannot be
// written there is nothing to say of names.
func protectedTarget(p sandbox.Profile, paths []sh.Path) string {
	if p.Mode != sandbox.Workspace {
		return ""
	}
	names := slices.Concat(p.Protect, p.Files, p.Watch)
	below := func(folder, name string) bool { return strings.HasPrefix(name, folder+string(filepath.Separator)) }
	for _, path := range paths {
		if !path.Write || !path.Certain || path.Glob {
			continue
		}
		for _, at := range []string{path.Name, physical(path.Name), FollowLinks(path.Name)} {
			if i := slices.IndexFunc(names, func(name string) bool {
				return at == name || below(name, at) || path.Removed && below(at, name) && target.Exists(name)
			}); i >= 0 {
				return names[i]
			}
		}
	}
	return ""
}

// FollowLinks is where a path leads, with links of folders and its own followed; it need not be there.
func FollowLinks(path string) string {
	if path == "" || filepath.Dir(path) == path {
		return path
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return filepath.Join(FollowLinks(filepath.Dir(path)), filepath.Base(path))
}

// withSandbox adds the profile in force to the metadata of a call.
func withSandbox(meta json.RawMessage, p sandbox.Profile, got *sandbox.Report) json.RawMessage {
	shown := struct {
		Mode    sandbox.Mode    `json:"mode"`
		Network bool            `json:"network"`
		Hosts   []string        `json:"hosts,omitempty"`
		Kernel  *sandbox.Report `json:"kernel,omitempty"`
	}{p.Mode, !p.Network.None(), p.Network.Hosts, got}
	if !p.Confined() {
		shown.Mode, shown.Kernel = sandbox.Off, nil
	}
	text, err := json.Marshal(shown)
	if err != nil {
		return meta
	}
	meta = append(meta[:len(meta)-1], `,"sandbox":`...)
	return append(append(meta, text...), '}')
}

// denial matches the messages of programs for a denied operation, offline those for an
// unreachable host, folderMet those for a folder where they want to create a file.
var (
	denial = phrase.Regexp(`(?i)permission denied|operation not permitted|read-only file system|device or resource busy|no new privileges|cannot connect to the docker daemon|failed to connect to bus|` +
		`\b(EACCES|EPERM|EROFS|EBUSY)\b`)
	offline   = phrase.Regexp(`(?i)could not resolve|name resolution|no such host|network is unreachable|address family not supported|connection refused|\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED)\b`)
	folderMet = phrase.Regexp(`(?i)is a directory|file exists|cannot overwrite directory|\b(EISDIR|EEXIST)\b`)
)

// refusals say what the sandbox had to do with the way a command ended.
func (b *bash) refusals(p sandbox.Profile, dir string, res sandbox.Result, text string) (out []string) {
	out = append(out, res.Notes...)
	if !p.Confined() || res.Canceled {
		return out
	}
	if len(res.Restored) > 0 {
		out = append(out, fmt.Sprintf("The sandbox has undone what the command did to %s: protected names are not for commands to write. %s", strings.Join(res.Restored, ", "), b.wayOut()))
	}
	if res.RestoreError != "" {
		out = append(out, "Protected names were changed and could not be put back; tell the user: "+res.RestoreError)
	}
	failed := res.Exit != 0 || res.TimedOut
	path := refusedPath(p, dir, text)
	if path == "" && (!failed || !denial().MatchString(text) && !(p.Network.Limited && offline().MatchString(text)) && !metFolder(p, text)) {
		return out
	}
	where := "nothing of the project"
	if p.Mode == sandbox.Workspace && len(p.Write) > 0 {
		where = p.Write[0]
	}
	head := fmt.Sprintf("This may be the sandbox (%s)", p.Mode)
	if path != "" {
		head = fmt.Sprintf("The sandbox (%s) refused %s", p.Mode, path)
	}
	line := fmt.Sprintf("%s: commands write to %s, temporary folders and the caches of tools; not elsewhere, and not to %s.",
		head, where, protectedNames(p))
	switch {
	case p.Network.None():
		line += " No network except the commands' own loopback."
	case p.Network.Limited:
		line += " They reach " + p.Network.String() + " and nothing else, by the proxy in HTTP_PROXY; names of other hosts are not looked up."
	}
	return append(out, line+" "+b.wayOut())
}

// metFolder reports whether a program met the folder that stands in for a protected name.
func metFolder(p sandbox.Profile, text string) bool {
	for line := range strings.Lines(text) {
		if folderMet().MatchString(line) && slices.ContainsFunc(slices.Concat(p.Protect, p.Files), func(name string) bool { return strings.Contains(line, filepath.Base(name)) }) {
			return true
		}
	}
	return false
}

const askOutside = `If the user wants exactly this, call bash again with the same command and "outside": why it is needed; the user is asked.`

// protectedNames are some of those in the project.
func protectedNames(p sandbox.Profile) string {
	const most = 4
	var names []string
	for _, name := range slices.Concat(p.Protect, p.Files, p.Watch) {
		if len(p.Write) > 0 && len(names) < most {
			if rel, err := filepath.Rel(p.Write[0], name); err == nil && !strings.HasPrefix(rel, "..") && rel != "." {
				names = append(names, rel)
			}
		}
	}
	return strings.Join(append(names, "program config"), ", ")
}
