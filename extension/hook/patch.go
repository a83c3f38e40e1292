package hook

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/phrase"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/workspace/patch"
)

// fileChange is the change of one file by a patch, as a call of Claude Code's tool.
type fileChange struct {
	tool  string
	input json.RawMessage
}

// patchedFiles lists the files that a patch changes, nil for a text that is none. A file that moves is listed at both places.
func patchedFiles(c *tool.Call) (out []fileChange) {
	var in struct {
		Text string `json:"patchText"`
	}
	if json.Unmarshal(c.Input, &in) != nil {
		return nil
	}
	parsed, err := patch.Parse(in.Text)
	if err != nil {
		return nil
	}
	add := func(name, path string, more map[string]string) {
		if !filepath.IsAbs(path) {
			path = filepath.Join(c.Dir, path)
		}
		more["file_path"] = path
		input, err := json.Marshal(more)
		if err == nil { // a map of texts
			out = append(out, fileChange{name, input})
		}
	}
	for _, f := range parsed.Files {
		if f.Kind == patch.Add {
			add("Write", f.Path, map[string]string{"content": f.Content})
			continue
		}
		before, after := hunkTexts(f.Hunks)
		add("Edit", f.Path, map[string]string{"old_string": before, "new_string": after})
		if f.MoveTo != "" {
			add("Edit", f.MoveTo, map[string]string{"old_string": before, "new_string": after})
		}
	}
	return out
}

// hunkTexts are the lines that a change takes away or keeps, and those that it leaves.
func hunkTexts(hunks []patch.Hunk) (before, after string) {
	var old, young strings.Builder
	for _, h := range hunks {
		for _, l := range h.Lines {
			if l.Sign != '+' {
				old.WriteString(l.Text + "\n")
			}
			if l.Sign != '-' {
				young.WriteString(l.Text + "\n")
			}
		}
	}
	return old.String(), young.String()
}

// runEach runs the events of one call, one after the other, and merges their outcomes.
func (s *Set) runEach(ctx context.Context, events []*event) outcome {
	got := s.run(ctx, events[0])
	for _, e := range events[1:] {
		got = got.and(s.run(ctx, e))
	}
	return got
}

// and merges the outcomes of two parts of one call. It is allowed only if both are.
func (o outcome) and(p outcome) outcome {
	rank := map[lathe.Action]int{lathe.Allow: 0, "": 1, lathe.Ask: 2, lathe.Deny: 3}
	out := outcome{
		action: o.action, reason: o.reason, context: append(o.context, p.context...), halt: o.halt || p.halt,
		haltReason: strings.TrimSpace(o.haltReason + " " + p.haltReason), input: o.input,
	}
	if p.input != nil {
		out.input = p.input
	}
	switch {
	case rank[p.action] > rank[o.action]:
		out.action, out.reason = p.action, p.reason
	case p.action == o.action && p.reason != o.reason:
		out.reason = phrase.Shorten(strings.TrimSpace(o.reason+"\n"+p.reason), maxText)
	}
	return out
}
