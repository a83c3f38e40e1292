package acp

import (
	"cmp"
	"context"
	"slices"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/acp/wire"
)

// session is a session that the client has open. It is for the goroutine of the loop.
type session struct {
	*view
	can      abilities
	record   lathe.Session            // as it was last received
	choice   choice                   // of the next prompt
	catalog  catalog                  // read when the session was opened
	turns    []*turn                  // of the prompts that the client waits for
	own      map[lathe.MessageID]bool // prompts of this client, which shows them itself
	children []lathe.SessionID        // sessions of subagents that have a view

	compactions map[wire.CompactionID]wire.CompactionStatus
	pages       map[string]bool // login pages that the client opened, by MCP server
	plan        []lathe.Todo    // as it was last sent
	usage       usage
	retrying    int  // the attempt the client was told of
	isLoading   bool // the history is read; the answer to the request has the choices
}

// abilities are what the client can show.
type abilities struct{ compaction, notices bool }

// usage is what fills the context, and what the session has cost.
type usage struct {
	model     lathe.ModelRef // of the last step
	tokens    int64          // of the last step: all that the next one sends again
	sentUsed  int64          // the client was told
	sentMoney lathe.Money    // the client was told
	known     bool           // there was a step
}

// open returns the session for an ID, with a new view of it.
func (l *loop) openSession(rec lathe.Session, c catalog) *session {
	can := l.server.capabilities()
	s := &session{
		record: rec, catalog: c, own: map[lathe.MessageID]bool{}, compactions: map[wire.CompactionID]wire.CompactionStatus{}, pages: map[string]bool{},
		can: abilities{compaction: can.Session != nil && can.Session.Compaction != nil, notices: can.Session != nil && can.Session.Notices != nil},
	}
	s.view = newView(l, s, rec.ID, rec.Directory)
	s.choice = c.initial(rec)
	l.sessions[rec.ID], l.views[rec.ID] = s, s.view
	return s
}

// drop forgets a session. Its requests to the user are withdrawn from the client; other front ends still have them.
func (l *loop) drop(s *session) {
	s.endTurn()
	for _, id := range append(slices.Clone(s.children), s.id) {
		delete(l.views, id)
	}
	delete(l.sessions, s.id)
	if l.backend.RemoveServers != nil {
		l.backend.RemoveServers(s.id)
	}
}

// take translates facts that only concern a whole session.
func (s *session) take(f lathe.Fact) {
	switch f := f.(type) {
	case *lathe.SessionChanged:
		s.noteRecord(f.Info)
	case *lathe.SessionDeleted:
		s.notice(wire.NoticeSeverityWarning, "This session was deleted", "")
		s.loop.drop(s)
	case *lathe.TodosChanged:
		s.todos(f.Todos)
	case *lathe.SessionFailed:
		s.noteFailure(f.Error)
	default:
		s.takeAround(f)
	}
}

// takeAround translates facts of the directory of a session.
func (s *session) takeAround(f lathe.Fact) {
	switch f := f.(type) {
	case *lathe.TUIToast:
		severity := wire.NoticeSeverityInfo
		if f.Variant == "warning" || f.Variant == "error" {
			severity = wire.NoticeSeverity(f.Variant)
		}
		s.notice(severity, cmp.Or(f.Title, f.Message), f.Message)
	case *lathe.SessionFailed:
		s.notice(wire.NoticeSeverityWarning, lathe.FaultMessage(f.Error), "")
	case *lathe.MCPBrowserFailed:
		s.openPage(f.Name, f.URL)
	case *lathe.MCPToolsChanged:
		s.closePage(f.Server)
	default:
	}
}

// noteRecord notes the record of the session, and sends a new title.
func (s *session) noteRecord(rec lathe.Session) {
	was := s.record
	s.record = rec
	if rec.Title != was.Title && !lathe.IsDefaultTitle(rec.Title) {
		s.send(wire.SessionUpdate{SessionInfoUpdate: &wire.SessionInfoUpdate{Title: rec.Title, UpdatedAt: rec.Updated.ISO()}})
	}
	if (rec.Revert == nil) != (was.Revert == nil) {
		s.tellRevert(rec)
	}
	s.sendUsage()
}

// tellRevert tells that another front end has undone or restored messages, which stay on the client's screen.
func (s *session) tellRevert(rec lathe.Session) {
	if rec.Revert != nil {
		s.notice(wire.NoticeSeverityInfo, "Messages were undone", "The latest messages and their file changes no longer count. /redo restores them.")
	}
}

// notice tells the user something beside the conversation, if the client can show that.
func (s *session) notice(severity wire.NoticeSeverity, title, text string) {
	if title = oneLine(title, maxTitle); title == "" || !s.can.notices {
		return
	}
	if text == title {
		text = ""
	}
	s.send(wire.SessionUpdate{Notice: &wire.Notice{Severity: severity, Title: title, Description: text}})
}

// say writes a line of the agent itself into the conversation.
func (s *session) say(text string) {
	s.send(wire.SessionUpdate{AgentMessageChunk: &wire.ContentChunk{Content: textBlock(text)}})
}

// todos sends the list as a plan. A plan has no state for entries that were dropped.
func (s *session) todos(list []lathe.Todo) {
	if slices.EqualFunc(list, s.plan, func(a, b lathe.Todo) bool {
		return a.Content == b.Content && a.Status == b.Status && a.Priority == b.Priority
	}) {
		return
	}
	s.plan = list
	s.send(wire.SessionUpdate{Plan: &wire.Plan{Entries: planEntries(list)}})
}

// planEntries translates the list. Words of a model that the plan does not know count as pending and medium.
func planEntries(list []lathe.Todo) []wire.PlanEntry {
	entries := []wire.PlanEntry{}
	for _, t := range list {
		e := wire.PlanEntry{Content: t.Content, Priority: wire.PlanEntryPriorityMedium, Status: wire.PlanEntryStatusPending}
		switch p := wire.PlanEntryPriority(t.Priority); p {
		case wire.PlanEntryPriorityHigh, wire.PlanEntryPriorityLow:
			e.Priority = p
		default:
		}
		switch st := wire.PlanEntryStatus(t.Status); {
		case st == wire.PlanEntryStatusInProgress || st == wire.PlanEntryStatusCompleted:
			e.Status = st
		case t.Status == "cancelled":
			continue
		}
		entries = append(entries, e)
	}
	return entries
}

// noteUsage notes the tokens of a step. They are sent with the next change of the record, which has the cost.
func (s *session) noteUsage(model lathe.ModelRef, t lathe.Tokens) {
	s.usage.model, s.usage.known = model, true
	s.usage.tokens = t.Input + t.Output + t.Reasoning + t.Cache.Read + t.Cache.Write
}

// sendUsage sends how full the context is, if the size of the context is known.
func (s *session) sendUsage() {
	u := &s.usage
	cost := s.record.Cost
	var money lathe.Money
	if cost != nil {
		money = *cost
	}
	size := s.catalog.window(u.model)
	if !u.known || size == 0 || u.tokens == u.sentUsed && money == u.sentMoney {
		return
	}
	u.sentUsed, u.sentMoney = u.tokens, money
	update := &wire.UsageUpdate{Used: u.tokens, Size: int64(size)}
	if money > 0 {
		update.Cost = &wire.Cost{Amount: money.Dollars(), Currency: "USD"}
	}
	s.send(wire.SessionUpdate{UsageUpdate: update})
}

// reload reads the session, sends what the client does not have, and asks what waits for an answer.
func (s *session) reload(ctx context.Context) error {
	rec, err := s.loop.backend.Get(ctx, s.id)
	if err != nil {
		return err
	}
	s.noteRecord(rec)
	until := lathe.MessageID("")
	if rec.Revert != nil {
		until = rec.Revert.Message
	}
	if err := s.load(ctx, until); err != nil {
		return err
	}
	list, err := s.loop.backend.Todos(ctx, s.id)
	if err != nil {
		return err
	}
	s.todos(list)
	s.sendUsage()
	return s.askAgain(ctx)
}

// askAgain asks the requests that wait, of the session and its subagents, and notes whether a turn runs.
func (s *session) askAgain(ctx context.Context) error {
	waiting, err := s.loop.backend.Asks(ctx, lathe.Scope{})
	if err != nil {
		return err
	}
	for _, f := range waiting {
		if v := s.loop.views[lathe.SessionOf(f)]; v != nil && v.root == s {
			v.take(f)
		}
	}
	all, err := s.loop.backend.Statuses(ctx, lathe.Scope{Session: s.id})
	if err != nil {
		return err
	}
	if st, busy := all[s.id]; busy {
		s.status(st)
	} else if len(s.turns) > 0 {
		s.status(lathe.Status{Type: lathe.Idle})
	}
	return nil
}
