package tui

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe/tui/chat"
	"github.com/lathe-agent/lathe/tui/memory"
)

// kv is what a user has set in the program itself and wants to find again.
type kv = memory.Settings

const (
	shown  = "show"
	hidden = "hide"
	dark   = "dark"
	light  = "light"
)

// applyKV makes the settings so.
func (p *program) applyKV() {
	k := &p.kv
	p.wants = chat.Show{
		Thinking: k.ThinkingMode == shown, Details: k.ToolDetails, Generic: k.GenericToolOutput, Timestamps: k.Timestamps == shown,
		Metadata: k.AssistantMetadata, Raw: p.wants.Raw, Stacked: p.o.Look.Stacked, CutDiff: k.DiffWrapMode == "none",
	}
	p.edit.SetPasteSummary(k.PasteSummary)
	p.themes.name = p.o.Look.Theme
	if k.Theme != "" {
		p.themes.name = k.Theme
	}
	if p.themes.locked = k.ThemeModeLock != ""; p.themes.locked {
		p.themes.dark = k.ThemeModeLock == dark
	}
}

// begin sets up what does not need anything from outside.
func (p *program) begin() {
	p.themes.dark = true
	p.kv = memory.Defaults()
	p.edit.SetDir(p.o.Dir)
	p.allActions = actionsOf(p)
	p.setCommands(nil)
	p.applyKV()
	p.tip = int(p.now().Unix() / 60)
}

// keep changes a setting and writes it down beside the screen.
func (p *program) keep(change func(*kv)) tea.Cmd {
	was := p.kv
	change(&p.kv)
	is := p.kv
	p.applyKV()
	return p.aside("keep a setting", func(ctx context.Context) error { return p.memory.SaveSettings(ctx, was, is) })
}
