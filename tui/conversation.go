package tui

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tui/chat"
	"github.com/lathe-agent/lathe/tui/state"
	"github.com/lathe-agent/lathe/tui/style"
)

// conversation is the messages of the session on the screen.
type conversation struct {
	*services
	look     *look
	overlays *overlays

	chats      map[lathe.SessionID]*chat.Chat
	onOlder    func() tea.Cmd // continues a search in older messages
	loadingTop bool           // scrolling to the first message, which is not loaded yet
	target     target         // the message to scroll to
}

// drawScrollbar shows the scroll position at the right edge. It counts messages: the number of
// rows is not known.
func (v *conversation) drawScrollbar(th *style.Theme, f frame, lines []style.Line) {
	o := v.state.Shown()
	if !v.look.prefs.Scrollbar || o == nil || len(lines) == 0 {
		return
	}
	first, last, count := v.chat().Extent(o.Transcript)
	if count == 0 {
		return
	}
	n := len(lines)
	from, to := first*n/count, max(first*n/count+1, (last+1)*n/count)
	for y := range lines {
		bar := style.Of("│", style.Fg(th.BorderSubtle))
		if y >= from && y < to {
			bar = style.Of("┃", style.Fg(th.BorderActive))
		}
		lines[y] = lines[y].Over(f.chatWidth-1, bar.On(th.Background))
	}
}

// loadOlder loads the previous page of messages.
func (v *conversation) loadOlder() tea.Cmd {
	o := v.state.Shown()
	if o == nil || o.Older.IsZero() || o.LoadingOlder {
		return nil
	}
	o.LoadingOlder = true
	before, limit := o.Older, pageSize
	if v.target.message != "" { // a place of a search can be far away
		limit = targetPage
	}
	return v.call("read older messages", func(ctx context.Context, e Engine) (then, error) {
		page, err := e.Messages(ctx, o.ID, before, limit)
		return func() tea.Cmd {
			if o.LoadingOlder = false; err == nil {
				o.Transcript.Include(page.Messages)
				o.Older = page.Next
				return v.continueLoading(o)
			}
			return nil
		}, err
	})
}

// continueLoading keeps loading older messages while all of them are needed: for a dialog, or after
// scrolling to the top.
func (v *conversation) continueLoading(o *state.Open) tea.Cmd {
	if v.loadingTop = v.loadingTop && o == v.state.Shown() && v.chat().AtTop(); v.loadingTop {
		v.chat().ToTop(o.Transcript)
		v.loadingTop = !o.Older.IsZero()
	}
	whole := v.overlays.current != nil && v.overlays.current.onOlderLoaded != nil
	if whole {
		v.overlays.current.onOlderLoaded()
	}
	if whole || v.loadingTop {
		return v.loadOlder()
	}
	return tea.Batch(v.toTarget(), v.onOlder())
}

// env is the drawing input of the conversation.
func (v *conversation) env() chat.Env {
	f := v.frame()
	return chat.Env{
		Theme: v.look.theme(), Width: f.chatWidth, Height: f.chatHeight, Now: v.now(), Frame: v.frameCount, Show: v.look.show,
		Dir: v.state.Info.Directory, Home: v.state.Info.Home,
		AgentColor: v.look.agentColor, ModelName: v.state.ModelName, Epoch: v.state.Epoch, Live: chat.Live{Child: v.child, Waits: v.clock.Waits, Delivery: v.state.Delivery}, RedoKey: v.keys.Label("messages_redo"), PausedPrompts: v.state.HasPausedPrompts(),
	}
}

// child is the progress of a subagent, for the call that started it.
func (v *conversation) child(id lathe.SessionID) (chat.Child, bool) {
	doing, calls, ok := v.state.Progress(id)
	c := chat.Child{Activity: doing, Calls: calls}
	switch s := v.state.Status(id); {
	case s.Type == lathe.Retrying:
		c.Retry = "waiting: " + s.Message
	case id != "" && !v.state.Busy(id) && calls == 0: // the number of parallel subagents is limited
		c.Retry = "waiting for its turn"
	}
	return c, ok
}

// chat is the view of the session on the screen.
func (v *conversation) chat() *chat.Chat {
	c := v.chats[v.state.Current]
	if c == nil {
		c = chat.New()
		v.chats[v.state.Current] = c
	}
	return c
}

// scroll moves the conversation.
func (v *conversation) scroll(rows int) tea.Cmd {
	o := v.state.Shown()
	if o == nil {
		return nil
	}
	c := v.chat()
	c.Scroll(o.Transcript, v.env(), rows)
	older := v.loadOlderAtTop(c)
	c.Reader(o.Transcript, v.env()).KeepOnScreen()
	return older
}

// scrollTop scrolls to the first message, and loads it if needed.
func (v *conversation) scrollTop() tea.Cmd {
	o := v.state.Shown()
	if o == nil {
		return nil
	}
	v.chat().ToTop(o.Transcript)
	v.loadingTop = !o.Older.IsZero()
	return v.loadOlder()
}

// loadOlderAtTop loads older messages when the top comes into view.
func (v *conversation) loadOlderAtTop(c *chat.Chat) tea.Cmd {
	if c.View(v.state.Shown().Transcript, v.env()); c.AtTop() {
		return v.loadOlder()
	}
	return nil
}

// jump scrolls to the next or previous prompt.
func (v *conversation) jump(back bool) tea.Cmd {
	o := v.state.Shown()
	if o == nil {
		return nil
	}
	c := v.chat()
	if id := c.NextPrompt(o.Transcript, v.env(), back); id != "" {
		c.To(id)
	} else if !back {
		c.ToEnd()
	}
	return v.loadOlderAtTop(c)
}

// jumpLastUser scrolls to the last prompt the user wrote; generated prompts are skipped.
func (v *conversation) jumpLastUser() tea.Cmd {
	o := v.state.Shown()
	if o == nil {
		return nil
	}
	for i := o.Transcript.Count() - 1; i >= 0; i-- {
		if h := o.Transcript.View(i); state.IsUserWritten(h) && h.Data().Role() == "user" {
			v.chat().To(h.ID())
			return nil
		}
	}
	return nil
}
