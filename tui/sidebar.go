package tui

import (
	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe/tui/memory"
	"github.com/lathe-agent/lathe/tui/sidebar"
	"github.com/lathe-agent/lathe/tui/style"
)

// sidebarView is the sidebar.
type sidebarView struct {
	*services
	look *look
	view sidebar.Sidebar
}

// visible reports whether the sidebar shows.
func (col *sidebarView) visible() bool {
	switch col.look.prefs.Sidebar {
	case hidden:
		return false
	case shown:
		return col.width >= 30
	default:
		return col.width > 120
	}
}

func (col *sidebarView) draw(th *style.Theme, f frame, lines []style.Line) []style.Line {
	height := col.height
	if f.chatWidth == col.width { // it covers the conversation, never the prompt
		height = f.chatHeight
	}
	rows := col.view.View(th, col.values(), min(col.width, sidebar.Width), height)
	return drawOver(lines, rows, f.sideX, 0)
}

// values collects the content of the sidebar.
func (col *sidebarView) values() sidebar.Values {
	info := col.state.Info
	v := sidebar.Values{Directory: col.state.Tilde(info.Directory), Branch: info.Branch, Version: info.Version, Servers: col.state.Servers, Languages: col.state.Languages}
	if col.state.Loaded && len(col.state.Providers.Connected) == 0 {
		v.Hint = "No provider connected: /connect"
	}
	o := col.state.Shown()
	if o == nil {
		return v
	}
	s := o.Transcript.Session()
	if s.Parent == "" {
		v.Title = s.Title
	}
	if s.Share != nil {
		v.Share = s.Share.URL
	}
	v.Todos, v.Files = o.Transcript.Todos(), o.Transcript.Diff()
	v.Tokens, v.Window, v.Cost = col.state.Usage(o.Transcript)
	return v
}

// toggle shows or hides the sidebar. The default for the width is stored as auto.
func (col *sidebarView) toggle() tea.Cmd {
	mode := shown
	switch wide := col.width > 120; {
	case col.visible() && wide:
		mode = hidden
	case col.visible() != wide: // the default for this width
		mode = "auto"
	}
	return col.look.set(func(k *memory.Settings) { k.Sidebar = mode })
}
