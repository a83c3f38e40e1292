package tui

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tui/chat"
	"github.com/lathe-agent/lathe/tui/editor"
	"github.com/lathe-agent/lathe/tui/host"
	"github.com/lathe-agent/lathe/tui/state"
	"github.com/lathe-agent/lathe/tui/toast"
)

// pageSize is how many messages are read at a time.
const pageSize = 100

// openEngine gets the engine and begins to listen to it.
func (p *program) openEngine() tea.Cmd {
	return func() tea.Msg {
		if !p.calls.enter() {
			return nil
		}
		defer p.calls.wg.Done()
		e, err := p.o.Open(p.ctx)
		if err != nil {
			return answered{then: func() tea.Cmd { return p.fail(err) }}
		}
		return answered{then: func() tea.Cmd { return p.begun(e) }}
	}
}

// begun goes on when the engine is there: events first, so that nothing is missed, then what there is to know.
func (p *program) begun(e host.Engine) tea.Cmd {
	p.engine = e
	if p.calls.enter() {
		go func() {
			defer p.calls.wg.Done()
			p.feed.follow(p.ctx, e)
		}()
	}
	p.serverWait = time.Second
	return tea.Batch(p.next(), p.learn(), p.first(), p.after(p.serverWait, tickServers))
}

// fail shows why the program cannot work.
func (p *program) fail(err error) tea.Cmd {
	p.fatalError = err
	return p.quit()
}

// learn reads what there is to choose from. What fails is told and the rest goes on.
func (p *program) learn() tea.Cmd {
	return tea.Batch(
		p.call("read the providers", func(ctx context.Context, e host.Engine) (then, error) {
			providers, err := e.Providers(ctx)
			if err != nil {
				return nil, err
			}
			agents, err := e.Agents(ctx)
			return func() tea.Cmd { return p.learnt(providers, agents) }, err
		}),
		p.call("read the commands", func(ctx context.Context, e host.Engine) (then, error) {
			commands, err := e.Commands(ctx)
			return func() tea.Cmd { p.setCommands(commands); return nil }, err
		}),
		p.call("read the skills", func(ctx context.Context, e host.Engine) (then, error) {
			skills, err := e.Skills(ctx)
			return func() tea.Cmd { p.state.Skills = skills; return nil }, err
		}),
		p.learnPlace(), p.learnServers(), p.learnWork(),
	)
}

// learnPlace reads where we are.
func (p *program) learnPlace() tea.Cmd {
	return p.call("read the directory", func(ctx context.Context, e host.Engine) (then, error) {
		info, err := e.Info(ctx)
		if err != nil {
			return func() tea.Cmd { p.state.Placed = true; return p.sendFirst() }, err
		}
		return func() tea.Cmd { return p.arrived(info) }, nil
	})
}

// distrusted says why settings of the project do not count.
const distrusted = "Settings of this project wait for your trust: look at them, then run lathe trust there"

// uncounted says which settings of the project do not count; "" is that all do, or that it is not known yet.
func uncounted(info host.Info) string {
	switch {
	case info.Home == "": // which is known together
		return ""
	case info.Trusted:
		return info.Broken
	case info.Broken == "":
		return distrusted
	}
	return distrusted + "\n" + info.Broken
}

// arrived takes in where we are. That settings do not count is told where the home screen, which does too, is not seen.
func (p *program) arrived(info host.Info) tea.Cmd {
	first := !p.state.Placed
	p.state.Info, p.state.Placed = info, true
	note := uncounted(info)
	switch {
	case first && info.ChooseMode:
		return p.chooseMode()
	case first && note != "" && (p.o.Start.Session != "" || p.o.Start.Continue):
		return tea.Batch(p.say(toast.Warning, note), p.sendFirst())
	case first:
		return p.sendFirst()
	}
	return nil
}

func (p *program) learnServers() tea.Cmd {
	return p.call("read the tool servers", func(ctx context.Context, e host.Engine) (then, error) {
		servers, err := e.ToolServers(ctx)
		return func() tea.Cmd { p.state.Servers = servers; return p.refreshOverlay() }, err
	})
}

// lookAtServers reads them again as long as some may be about to connect: nobody tells when one fails to.
func (p *program) lookAtServers() tea.Cmd {
	if !slices.ContainsFunc(p.state.Servers, func(s host.ToolServer) bool { return s.Status == "disabled" }) {
		return nil
	}
	if p.serverWait *= 3; p.serverWait > time.Minute {
		return nil
	}
	return tea.Batch(p.learnServers(), p.after(p.serverWait, tickServers))
}

// learnWork reads who is at work and what waits for an answer.
func (p *program) learnWork() tea.Cmd {
	return p.call("read what is under way", func(ctx context.Context, e host.Engine) (then, error) {
		statuses, err := e.Statuses(ctx)
		if err != nil {
			return nil, err
		}
		asks, err := e.Asks(ctx)
		return func() tea.Cmd {
			p.state.LearnStatuses(statuses)
			p.state.LearnAsks(asks)
			return tea.Batch(p.lookForAsks(), p.animate())
		}, err
	})
}

// learnt takes in who answers, and sends what was given on the command line.
func (p *program) learnt(providers host.Providers, agents []lathe.Agent) tea.Cmd {
	p.state.Providers, p.state.Agents, p.state.Loaded = providers, agents, true
	p.state.Epoch++
	p.setAgents(agents)
	p.settleChoice()
	if len(providers.Connected) == 0 {
		if p.offers.asked { // and perhaps put off
			return nil
		}
		return p.offerFirst()
	}
	p.offers = offers{}
	return tea.Batch(p.sayWrongStart(), p.sendFirst())
}

// sayWrongStart tells, once, what the command line names and there is not. Nobody else gets the prompt in its stead
// unless the user sends it.
func (p *program) sayWrongStart() tea.Cmd {
	s := &p.o.Start
	var wrong []string
	if s.Agent != "" && !slices.ContainsFunc(p.state.Agents, func(a lathe.Agent) bool { return a.Name == s.Agent && state.IsOffered(a) }) {
		wrong = append(wrong, fmt.Sprintf("There is no agent %q to talk to: /agents lists them", s.Agent))
		s.Agent = ""
	}
	if ref, ok := parseModel(s.Model); s.Model != "" {
		if _, known := p.state.FindModel(ref); !ok || !known {
			wrong = append(wrong, fmt.Sprintf("There is no model %q here: /models lists those there are", s.Model))
			s.Model = ""
		}
	}
	if len(wrong) == 0 {
		return nil
	}
	if s.Prompt != "" {
		p.edit.Insert(s.Prompt)
		s.Prompt = ""
	}
	return p.say(toast.Error, strings.Join(wrong, "\n"))
}

// first opens what the command line asked for.
func (p *program) first() tea.Cmd {
	s := p.o.Start
	p.state.Opening = s.Session != "" || s.Continue
	p.carry = p.state.Opening
	switch {
	case s.Session != "" && s.Fork:
		return p.fork(s.Session, "")
	case s.Session != "":
		return p.openSession(s.Session)
	case s.Continue:
		return p.call("find the last session", func(ctx context.Context, e host.Engine) (then, error) {
			all, err := e.List(ctx, host.SessionQuery{Limit: 20})
			i := slices.IndexFunc(all, func(s lathe.Session) bool { return s.Parent == "" })
			if err != nil || i < 0 {
				return func() tea.Cmd {
					p.state.Opening, p.carry = false, false
					if err != nil {
						return p.sendFirst()
					}
					return tea.Batch(p.say(toast.Info, "There is no session here to continue: this is a new one"), p.sendFirst())
				}, err
			}
			return func() tea.Cmd {
				if p.o.Start.Fork {
					return p.fork(all[i].ID, "")
				}
				return p.openSession(all[i].ID)
			}, nil
		})
	default:
		return nil
	}
}

// openSession shows a session, which is read if it was not before.
func (p *program) openSession(id lathe.SessionID) tea.Cmd {
	if id != p.state.Current {
		d := p.edit.Draft()
		p.keepDraft()
		p.state.Current = id
		p.bringDraft()
		if p.carry && p.edit.IsEmpty() {
			p.edit.Restore(d)
			delete(p.drafts, "")
		}
		p.interrupt = p.interrupt.AddDate(-1, 0, 0)
	}
	p.carry = false
	if o := p.state.Look(id); o.Transcript != nil && !o.Transcript.Stale() {
		return tea.Batch(p.shown(), p.animate())
	}
	return p.readSession(id)
}

// readSession reads the newest page of a session and what belongs to it.
func (p *program) readSession(id lathe.SessionID) tea.Cmd {
	o := p.state.Look(id)
	if o.Fetching {
		return nil
	}
	o.Fetching = true
	return p.call("open the session", func(ctx context.Context, e host.Engine) (then, error) {
		s, err := e.Get(ctx, id)
		if err != nil {
			return func() tea.Cmd { return tea.Batch(p.leave(id), p.notOpened()) }, err
		}
		page, older, err := e.Messages(ctx, id, "", pageSize)
		if err != nil {
			return func() tea.Cmd { o.Fetching = false; return p.notOpened() }, err
		}
		todos, err1 := e.Todos(ctx, id)
		diff, err2 := e.Diff(ctx, id, "")
		children, err3 := e.Children(ctx, id)
		if err := firstOf(err1, err2, err3); err != nil {
			p.log("beside session %s: %v", id, err) // the conversation itself is there
		}
		return func() tea.Cmd {
			p.state.Read(s, page, older, todos, diff)
			p.state.Learn(children...)
			return tea.Batch(p.shown(), p.animate())
		}, nil
	})
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// shown does what belongs to a session that has come onto the screen.
func (p *program) shown() tea.Cmd {
	o := p.state.Shown()
	if o == nil {
		return nil
	}
	p.state.Opening = false
	p.followChoice(o.Transcript)
	return tea.Batch(p.lookForAsks(), p.sendFirst(), p.lookForCut())
}

// notOpened goes on when what the command line asked for cannot be shown. Its prompt was not meant for another
// session: it is left to the user.
func (p *program) notOpened() tea.Cmd {
	if !p.state.Opening {
		return nil
	}
	p.state.Opening, p.carry, p.early = false, false, nil
	if p.edit.IsEmpty() && p.o.Start.Prompt != "" {
		p.edit.Insert(p.o.Start.Prompt)
	}
	p.o.Start.Prompt = ""
	return nil
}

// readOlder reads the page before, when the top of what is known is on the screen.
func (p *program) readOlder() tea.Cmd {
	o := p.state.Shown()
	if o == nil || o.Older == "" || o.Reading {
		return nil
	}
	o.Reading = true
	before := o.Older
	return p.call("read older messages", func(ctx context.Context, e host.Engine) (then, error) {
		page, older, err := e.Messages(ctx, o.ID, before, pageSize)
		return func() tea.Cmd {
			if o.Reading = false; err == nil {
				o.Transcript.Include(page)
				o.Older = older
				return p.readOn(o)
			}
			return nil
		}, err
	})
}

// readOn goes on reading older messages while somebody wants all of them: a dialog, or who went to the beginning and
// has not moved since.
func (p *program) readOn(o *state.Open) tea.Cmd {
	if p.beginning = p.beginning && o == p.state.Shown() && p.chat().AtTop(); p.beginning {
		p.chat().ToTop(o.Transcript)
		p.beginning = o.Older != ""
	}
	whole := p.over != nil && p.over.whole != nil
	if whole {
		p.over.whole()
	}
	if whole || p.beginning {
		return p.readOlder()
	}
	return nil
}

// leave goes back to the home screen if this session is on the screen.
func (p *program) leave(id lathe.SessionID) tea.Cmd {
	if p.state.Current != id {
		return nil
	}
	p.keepDraft()
	p.state.Current, p.asking = "", nil
	p.bringDraft()
	delete(p.chats, id)
	return nil
}

// fork makes a copy of a session, up to a message if one is given, and shows it.
func (p *program) fork(id lathe.SessionID, before lathe.MessageID) tea.Cmd {
	var again editor.Draft // of the message that the copy ends before: it is to be said otherwise
	if o := p.state.Shown(); o != nil && before != "" {
		if i := o.Transcript.Find(before); i >= 0 {
			again = draftOf(o.Transcript.Held(i))
		}
	}
	return p.call("fork the session", func(ctx context.Context, e host.Engine) (then, error) {
		s, err := e.Fork(ctx, id, before)
		if err != nil {
			return p.notOpened, err
		}
		return func() tea.Cmd {
			p.state.Learn(s)
			cmd := p.openSession(s.ID)
			if p.edit.IsEmpty() {
				p.edit.Restore(again)
			}
			return tea.Batch(cmd, p.say(toast.Success, "This is a copy now; the other is as it was"))
		}, nil
	})
}

// told takes in events.
func (p *program) told(b batch) tea.Cmd {
	p.lastBatch = p.now()
	var cmds []tea.Cmd
	for _, e := range b.events {
		for _, n := range p.state.Apply(e) {
			cmds = append(cmds, p.noted(n))
		}
	}
	cmds = append(cmds, p.connection(b.lost))
	if b.err != nil {
		cmds = append(cmds, p.say(toast.Error, fmt.Sprintf("No more news from the engine: %s", words(b.err))))
	} else {
		cmds = append(cmds, p.next())
	}
	return tea.Batch(append(cmds, p.lookForAsks(), p.animate(), p.refreshOverlay())...)
}

// noted does what a note asks for.
func (p *program) noted(n state.Note) tea.Cmd {
	here := n.Session == p.state.Current && n.Session != ""
	switch n.Kind {
	case state.Ended:
		return p.turnEnded(n.Session)
	case state.Failed:
		if here && p.o.Look.Attention {
			return p.attract("A turn failed")
		}
	case state.Asked:
		return tea.Batch(p.attract("Your answer is wanted"), p.askedElsewhere(n.Session))
	case state.Gone:
		return tea.Batch(p.unpin(n.Session), p.leave(n.Session))
	case state.Renewed:
		return p.learn()
	case state.Lost:
		return p.readAgain(n.Session)
	case state.Branched:
		p.state.Info.Branch = n.Text
	case state.Say:
		return p.sayFor(n.Toast)
	case state.Insert:
		p.edit.Insert(n.Text)
	case state.Do:
		return p.doNamed(n.Text)
	case state.Select:
		return p.openSession(n.Session)
	case state.Compact:
		if here {
			return p.say(toast.Success, "The conversation was compacted")
		}
	case state.Stranger:
		return p.meet(n.Session)
	}
	return nil
}

// meet finds out whose session it is that asks.
func (p *program) meet(id lathe.SessionID) tea.Cmd {
	return p.call("find out who asks", func(ctx context.Context, e host.Engine) (then, error) {
		s, err := e.Get(ctx, id)
		if err != nil {
			return nil, err
		}
		return func() tea.Cmd {
			p.state.Learn(s)
			return tea.Batch(p.lookForAsks(), p.askedElsewhere(id))
		}, nil
	})
}

// readAgain reads sessions afresh after something was missed.
func (p *program) readAgain(id lathe.SessionID) tea.Cmd {
	if id != "" && id != p.state.Current {
		p.state.Forget(id) // it is read when it is looked at
		return nil
	}
	p.state.Leave(p.state.Current)
	cmd := p.learnWork()
	if p.state.Current == "" {
		return cmd
	}
	return tea.Batch(cmd, p.readSession(p.state.Current)) // what is on the screen stays there until then
}

// env is what the conversation is drawn with.
func (p *program) env() chat.Env {
	f := p.frame()
	return chat.Env{
		Theme: p.theme(), Width: f.chatWidth, Height: f.chatHeight, Now: p.now(), Frame: p.beat, Show: p.wants,
		Dir: p.state.Info.Directory, Home: p.state.Info.Home,
		AgentColor: p.agentColor, ModelName: p.state.ModelName, Epoch: p.state.Epoch, Child: p.child, RedoKey: p.keys.Label("messages_redo"), Waiting: p.state.HasPausedPrompts(),
	}
}

func (p *program) child(id lathe.SessionID) (chat.Child, bool) {
	doing, calls, ok := p.state.Work(id)
	c := chat.Child{Doing: doing, Calls: calls}
	switch s := p.state.Status(id); {
	case s.Type == lathe.Retrying:
		c.Retry = "waits: " + s.Message
	case id != "" && !p.state.Busy(id) && calls == 0: // few may work at the same time
		c.Retry = "waits for its turn"
	}
	return c, ok
}
