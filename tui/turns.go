package tui

import (
	"context"
	"fmt"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tui/chat"
	"github.com/lathe-agent/lathe/tui/dialog"
	"github.com/lathe-agent/lathe/tui/editor"
	"github.com/lathe-agent/lathe/tui/host"
	"github.com/lathe-agent/lathe/tui/state"
	"github.com/lathe-agent/lathe/tui/toast"
)

// escapeTime is how long the first escape counts.
const escapeTime = 5 * time.Second

// newSession goes to an empty screen; the session itself begins with its first prompt.
func (p *program) newSession() tea.Cmd {
	p.keepDraft()
	p.state.Current, p.asking = "", nil
	p.bringDraft()
	return p.lookForAsks()
}

// interruptTurn ends the turn when it is asked for twice.
func (p *program) interruptTurn() tea.Cmd {
	id := p.state.Current
	if !p.state.Busy(id) {
		return nil
	}
	if p.now().Sub(p.interrupt) > escapeTime {
		p.interrupt = p.now()
		return p.after(escapeTime, tickEscape)
	}
	p.interrupt = time.Time{}
	return p.call("interrupt the turn", func(ctx context.Context, e host.Engine) (then, error) {
		return nil, e.Cancel(ctx, id)
	})
}

// turnEnded tells of it if nobody looks.
func (p *program) turnEnded(id lathe.SessionID) tea.Cmd {
	delete(p.state.Cut, id)
	if s, ok := p.state.Session(id); !ok || s.Parent != "" {
		return nil
	}
	p.interrupt = time.Time{}
	return p.attract("The turn has ended")
}

// resumeTurn goes on with what a dead process left, or with prompts that were held.
func (p *program) resumeTurn() tea.Cmd {
	id, waits := p.state.Current, p.state.HasPausedPrompts()
	if p.state.Busy(id) {
		return p.say(toast.Info, "It is at work already")
	}
	return p.call("go on", func(ctx context.Context, e host.Engine) (then, error) {
		if cut, err := e.Interrupted(ctx); err == nil && !waits && !slices.Contains(cut, id) {
			return func() tea.Cmd { return p.say(toast.Info, "Nothing was cut off here: say what to do next") }, nil
		}
		return nil, e.Resume(ctx, id)
	})
}

func (p *program) compact() tea.Cmd {
	m, ok := p.model()
	if !ok {
		return p.say(toast.Warning, "There is no model to write the summary: /connect")
	}
	id := p.state.Current
	return p.longCall("compact the session", func(ctx context.Context, e host.Engine) (then, error) {
		return nil, e.Compact(ctx, id, m.Ref)
	})
}

// undo takes back the last prompt that is still there, and what was done for it.
func (p *program) undo() tea.Cmd {
	o := p.state.Shown()
	if o == nil {
		return nil
	}
	last := o.Transcript.Count()
	if r := o.Transcript.Session().Revert; r != nil {
		if i := o.Transcript.Find(r.Message); i >= 0 {
			last = i
		}
	}
	for i := last - 1; i >= 0; i-- {
		h := o.Transcript.Held(i)
		if _, user := h.Said().(*lathe.User); user && state.IsSaid(h) {
			return p.undoTo(h.ID())
		}
	}
	return p.say(toast.Info, "There is nothing to take back")
}

// undoTo takes back a message and everything behind it. Its words come back into the prompt.
func (p *program) undoTo(id lathe.MessageID) tea.Cmd {
	o := p.state.Shown()
	i := o.Transcript.Find(id)
	if i < 0 {
		return nil
	}
	draft := draftOf(o.Transcript.Held(i))
	session := p.state.Current
	stop := p.state.Busy(session)
	return p.call("take it back", func(ctx context.Context, e host.Engine) (then, error) {
		if stop {
			if err := e.Cancel(ctx, session); err != nil {
				return nil, err
			}
		}
		done, err := e.Undo(ctx, session, id)
		if err != nil {
			return nil, err
		}
		return func() tea.Cmd {
			p.chat().ToEnd()
			p.bringUp(draft)
			return p.sayUndone("Taken back", done)
		}, nil
	})
}

// draftOf makes a message ready to be said again.
func draftOf(h lathe.Held) editor.Draft {
	var parts []lathe.Part
	for j := range h.Len() {
		parts = append(parts, h.Part(j))
	}
	return editor.DraftOf(parts)
}

// bringUp puts the words of what was taken back into the prompt, unless the user has begun to write there.
func (p *program) bringUp(d editor.Draft) {
	if p.edit.IsEmpty() || p.edit.Text() == p.broughtUp {
		p.edit.Restore(d)
		p.broughtUp = p.edit.Text()
	}
}

// bringUpNext follows a redo with the prompt: the next message that is taken back, or nothing any more.
func (p *program) bringUpNext(s lathe.Session) {
	if p.edit.IsEmpty() {
		return
	}
	var d editor.Draft
	if o := p.state.Shown(); o != nil && s.Revert != nil {
		if i := o.Transcript.Find(s.Revert.Message); i >= 0 {
			d = draftOf(o.Transcript.Held(i))
		}
	}
	p.bringUp(d)
}

func (p *program) redo() tea.Cmd {
	session := p.state.Current
	if o := p.state.Shown(); o == nil || o.Transcript.Session().Revert == nil {
		return p.say(toast.Info, "There is nothing to bring back")
	}
	return p.call("bring it back", func(ctx context.Context, e host.Engine) (then, error) {
		done, err := e.Redo(ctx, session)
		if err != nil {
			return nil, err
		}
		return func() tea.Cmd {
			p.bringUpNext(done.Session)
			return p.sayUndone("Brought back", done)
		}, nil
	})
}

// sayUndone tells what became of files. Which were left alone the engine tells everybody who looks at the session.
func (p *program) sayUndone(what string, u host.Undone) tea.Cmd {
	if n := len(u.Conflicts); n > 0 {
		return p.say(toast.Warning, fmt.Sprintf("%s; files changed: %d, left as they are: %d", what, len(u.Changed), n))
	}
	if n := len(u.Changed); n > 0 {
		return p.say(toast.Success, fmt.Sprintf("%s; files changed: %d", what, n))
	}
	return p.say(toast.Success, what)
}

// share makes a session readable for others, when the user has agreed once. What it needs is said before that.
func (p *program) share() tea.Cmd {
	if !p.o.Remote {
		return p.say(toast.Warning, "A share is a page of a server. Run lathe serve, open the session with lathe attach, and share it there")
	}
	if !p.kv.ShareConsent {
		return p.show(&overlay{box: dialog.NewShareConsent(p.keys), on: chosen(func(c dialog.Chosen) tea.Cmd {
			if c.ID != dialog.Yes {
				return nil
			}
			return tea.Batch(p.keep(func(kv *kv) { kv.ShareConsent = true }), p.shareNow())
		})})
	}
	return p.shareNow()
}

func (p *program) shareNow() tea.Cmd {
	id := p.state.Current
	return p.call("share the session", func(ctx context.Context, e host.Engine) (then, error) {
		s, err := e.Share(ctx, id)
		if err != nil {
			return nil, err
		}
		return func() tea.Cmd {
			if s.Share == nil {
				return nil
			}
			return tea.Batch(p.copyQuietly(s.Share.URL), p.say(toast.Success, "Shared, the address is copied: "+s.Share.URL))
		}, nil
	})
}

func (p *program) unshare() tea.Cmd {
	id := p.state.Current
	if o := p.state.Shown(); o != nil && o.Transcript.Session().Share == nil {
		return p.say(toast.Info, "This session is not shared")
	}
	return p.call("stop sharing", func(ctx context.Context, e host.Engine) (then, error) {
		_, err := e.Unshare(ctx, id)
		if err != nil {
			return nil, err
		}
		return func() tea.Cmd { return p.say(toast.Success, "No longer shared") }, nil
	})
}

// firstChild shows the first session that works for this one, or lets choose among several.
func (p *program) firstChild() tea.Cmd {
	children := p.state.Children(p.state.Current)
	switch len(children) {
	case 0:
		return p.say(toast.Info, "No sub-agents have worked here")
	case 1:
		return p.openSession(children[0].ID)
	default:
		return p.childrenDialog(children)
	}
}

func (p *program) toParent() tea.Cmd {
	if s, ok := p.state.Session(p.state.Current); ok && s.Parent != "" {
		return p.openSession(s.Parent)
	}
	return nil
}

// sibling goes to the next session that works for the same one.
func (p *program) sibling(step int) tea.Cmd {
	s, _ := p.state.Session(p.state.Current)
	all := p.state.Children(s.Parent)
	for i, c := range all {
		if c.ID == p.state.Current {
			return p.openSession(all[(i+step+len(all))%len(all)].ID)
		}
	}
	return nil
}

// scroll moves the conversation.
func (p *program) scroll(rows int) tea.Cmd {
	o := p.state.Shown()
	if o == nil {
		return nil
	}
	c := p.chat()
	c.Scroll(o.Transcript, p.env(), rows)
	return p.moreAbove(c)
}

// scrollTop goes to the beginning of the session, also where that was not read yet.
func (p *program) scrollTop() tea.Cmd {
	o := p.state.Shown()
	if o == nil {
		return nil
	}
	p.chat().ToTop(o.Transcript)
	p.beginning = o.Older != ""
	return p.readOlder()
}

// moreAbove reads older messages when their place comes into sight.
func (p *program) moreAbove(c *chat.Chat) tea.Cmd {
	if c.View(p.state.Shown().Transcript, p.env()); c.AtTop() {
		return p.readOlder()
	}
	return nil
}

func (p *program) jump(back bool) tea.Cmd {
	o := p.state.Shown()
	if o == nil {
		return nil
	}
	c := p.chat()
	if id := c.Neighbour(o.Transcript, p.env(), back); id != "" {
		c.To(id)
	} else if !back {
		c.ToEnd()
	}
	return p.moreAbove(c)
}

func (p *program) jumpLastUser() tea.Cmd {
	o := p.state.Shown()
	if o == nil {
		return nil
	}
	for i := o.Transcript.Count() - 1; i >= 0; i-- {
		if h := o.Transcript.Held(i); state.IsSaid(h) && h.Said().Role() == "user" {
			p.chat().To(h.ID())
			return nil
		}
	}
	return nil
}
