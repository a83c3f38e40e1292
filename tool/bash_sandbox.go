package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/sandbox"
)

// confine returns what a command is confined to. Outside of its sandbox it runs when the user
// allows that, for this one call; the reason is shown.
func (b *bash) confine(ctx context.Context, c *Call, in bashInput) (sandbox.Profile, error) {
	if b.Confine == nil {
		return sandbox.Profile{}, nil
	}
	p, err := b.Confine(c)
	if err != nil {
		return p, Failf("The command could not be run: %w", err)
	}
	reason := strings.TrimSpace(in.Outside)
	if reason == "" || !p.Confined() {
		return p, nil
	}
	meta := lathe.AppendJSONString([]byte(`{"command":`), in.Command)
	meta = lathe.AppendJSONString(append(meta, `,"reason":`...), reason)
	meta = append(lathe.AppendJSONString(append(meta, `,"sandbox":`...), string(p.Mode)), '}')
	if err := c.Host.Ask(ctx, Permission{Name: "sandbox", Patterns: []string{in.Command}, Metadata: meta}); err != nil {
		return p, err
	}
	return sandbox.Profile{Mode: sandbox.Off, Limits: p.Limits}, nil
}

// withSandbox adds the profile in force to the metadata of a call.
func withSandbox(meta json.RawMessage, p sandbox.Profile, got *sandbox.Report) json.RawMessage {
	shown := struct {
		Mode    sandbox.Mode    `json:"mode"`
		Network bool            `json:"network"`
		Kernel  *sandbox.Report `json:"kernel,omitempty"`
	}{p.Mode, !p.NoNetwork, got}
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

// denial is how programs say that they were not let do something, offline that they reach nobody.
var (
	denial = lazily(`(?i)permission denied|operation not permitted|read-only file system|device or resource busy|no new privileges|cannot connect to the docker daemon|failed to connect to bus|` +
		`\b(EACCES|EPERM|EROFS|EBUSY)\b`)
	offline = lazily(`(?i)could not resolve|name resolution|no such host|network is unreachable|address family not supported|\b(ENOTFOUND|EAI_AGAIN)\b`)
)

// refusals say what the sandbox had to do with the way a command ended.
func refusals(p sandbox.Profile, res sandbox.Result, text string) (out []string) {
	if !p.Confined() || res.Canceled {
		return nil
	}
	if len(res.Undone) > 0 {
		out = append(out, fmt.Sprintf("The sandbox has undone what the command did to %s: protected names are not for commands to write. %s", strings.Join(res.Undone, ", "), askOutside))
	}
	if res.Lost != "" {
		out = append(out, "Protected names were changed and could not be put back; tell the user: "+res.Lost)
	}
	failed := res.Exit != 0 || res.TimedOut
	if !failed || !denial().MatchString(text) && !(p.NoNetwork && offline().MatchString(text)) {
		return out
	}
	where := "nothing of the project"
	if p.Mode == sandbox.Workspace && len(p.Write) > 0 {
		where = p.Write[0]
	}
	line := fmt.Sprintf("This may be the sandbox (%s): commands write to %s, temporary folders and the caches of tools; not elsewhere, and not to %s.",
		p.Mode, where, protectedNames(p))
	if p.NoNetwork {
		line += " There is no network."
	}
	return append(out, line+" They cannot signal processes that other calls have started. "+askOutside)
}

const askOutside = `If the user wants exactly this, call bash again with the same command and "outside": why it is needed; the user is asked.`

// protectedNames are some of those in the project.
func protectedNames(p sandbox.Profile) string {
	const most = 4
	var names []string
	for _, name := range append(p.Hold[:len(p.Hold):len(p.Hold)], p.Protect...) {
		if len(p.Write) > 0 && len(names) < most {
			if rel, err := filepath.Rel(p.Write[0], name); err == nil && !strings.HasPrefix(rel, "..") && rel != "." {
				names = append(names, rel)
			}
		}
	}
	return strings.Join(append(names, "the settings of programs"), ", ")
}
