// Package state holds the model of the terminal UI: directory info, agents and providers,
// sessions with their status, and the transcripts of opened sessions. Events and answers of the
// engine change it; views are drawn from it. It makes no calls and starts no goroutines.
//
// For one goroutine. Start with State.Apply.
package state

import (
	"slices"

	"github.com/lathe-agent/lathe"
)

// State is the model of the TUI. Make one with New.
type State struct {
	Catalog

	Current         lathe.SessionID          // the session on the screen, "" on the home screen
	Opening         bool                     // the session of the command line is still loading
	ConnectionError error                    // why the connection to the engine is lost
	Interrupted     map[lathe.SessionID]bool // sessions with an interrupted turn

	sessions map[lathe.SessionID]lathe.Session
	statuses map[lathe.SessionID]lathe.Status
	open     map[lathe.SessionID]*Open
	working  map[lathe.SessionID]*childProgress
	asks     []lathe.Fact
	sent     map[lathe.MessageID]lathe.Delivery // prompts that were sent from here
}

// Open is a session that was opened.
type Open struct {
	ID           lathe.SessionID
	Transcript   *lathe.Transcript // nil until it is loaded
	Older        lathe.Position    // end of the previous page; zero when there is none
	LoadingOlder bool              // the previous page is loading
	Loading      bool              // the newest page is loading
	queued       []lathe.Event     // received while loading
}

// childProgress is the progress of a subagent.
type childProgress struct {
	doing string
	calls map[lathe.PartID]bool
	now   lathe.PartID
}

// New makes an empty state.
func New() *State {
	return &State{
		sessions: map[lathe.SessionID]lathe.Session{}, statuses: map[lathe.SessionID]lathe.Status{},
		open: map[lathe.SessionID]*Open{}, working: map[lathe.SessionID]*childProgress{}, sent: map[lathe.MessageID]lathe.Delivery{},
	}
}

// Effect is a follow-up action of an event, beyond a change of the state.
type Effect struct {
	Kind    Kind
	Session lathe.SessionID
	Text    string
	Toast   *lathe.TUIToast // of ShowToast
}

// Kind is the kind of an effect.
type Kind int

// The kinds of effects.
const (
	TurnEnded        Kind = iota // a turn ended
	TurnFailed                   // a turn or a background job failed; Text says why
	Asked                        // a request needs an answer
	SessionDeleted               // a session was deleted
	CatalogChanged               // config may have changed: load the catalog again
	EventsMissed                 // events are missing: load open sessions again
	LanguagesChanged             // a language server started, ended or reported other errors
	BranchChanged                // the git branch changed; Text is its name
	ShowToast                    // show Toast
	InsertText                   // insert Text into the prompt
	RunAction                    // run the action named Text
	SelectSession                // open another session
	Compacted                    // a session was compacted
	AgentSwitched                // another agent continues a session, as after an approved plan
	UnknownSession               // an unknown session has a request: load it
)

// Apply applies an event and returns its effects.
func (st *State) Apply(e lathe.Event) (notes []Effect) {
	id := lathe.SessionOf(e.Fact)
	if o := st.open[id]; o != nil && id != "" {
		if o.Loading || o.Transcript == nil {
			o.queued = append(o.queued, e)
		}
		if o.Transcript != nil {
			if o.Transcript.Apply(e); o.Transcript.Stale() && !o.Loading {
				notes = append(notes, Effect{Kind: EventsMissed, Session: id})
			}
		}
	}
	switch f := e.Fact.(type) {
	case *lathe.SessionCreated:
		st.sessions[id] = f.Info
	case *lathe.SessionChanged:
		st.sessions[id] = f.Info
	case *lathe.SessionDeleted:
		st.drop(id)
		notes = append(notes, Effect{Kind: SessionDeleted, Session: id})
	case *lathe.StatusChanged:
		notes = append(notes, st.setStatus(id, f.Status)...)
	case *lathe.PartChanged:
		st.countCall(id, f.Part)
		if st.switchesAgent(id, f.Part) {
			notes = append(notes, Effect{Kind: AgentSwitched, Session: id})
		}
	case *lathe.PermissionAsked, *lathe.QuestionAsked:
		notes = append(notes, st.addAsk(f)...)
	case *lathe.PermissionReplied, *lathe.QuestionReplied, *lathe.QuestionRejected:
		st.asks = slices.DeleteFunc(st.asks, func(ask lathe.Fact) bool { return lathe.AskOf(ask) == lathe.AskOf(f) })
	default:
		notes = append(notes, otherEffects(e.Fact)...)
	}
	return notes
}

// otherEffects returns the effects of events that do not change a session.
func otherEffects(f lathe.Fact) []Effect {
	switch f := f.(type) {
	case *lathe.SessionFailed:
		if f.Error == nil {
			return nil
		}
		return []Effect{{Kind: TurnFailed, Session: f.Session, Text: f.Error.Name()}}
	case *lathe.SessionCompacted:
		return []Effect{{Kind: Compacted, Session: f.Session}}
	case *lathe.ServerResync:
		return []Effect{{Kind: EventsMissed}}
	case *lathe.InstanceDisposed, *lathe.GlobalDisposed, *lathe.CatalogChanged, *lathe.ModelsRefreshed, *lathe.MCPToolsChanged, *lathe.IntegrationsChanged:
		return []Effect{{Kind: CatalogChanged}}
	case *lathe.LSPUpdated, *lathe.LSPDiagnosed:
		return []Effect{{Kind: LanguagesChanged}}
	case *lathe.BranchChanged:
		return []Effect{{Kind: BranchChanged, Text: f.Branch}}
	case *lathe.TUIToast:
		return []Effect{{Kind: ShowToast, Toast: f}}
	case *lathe.UpdateAvailable:
		return []Effect{{Kind: ShowToast, Toast: &lathe.TUIToast{Message: "lathe " + f.Version + " is available. Upgrade with `lathe upgrade`.", Variant: "info", Duration: 10000}}}
	case *lathe.UpdateInstalled:
		return []Effect{{Kind: ShowToast, Toast: &lathe.TUIToast{Message: "Upgraded to lathe " + f.Version + ". The next start uses it.", Variant: "success", Duration: 10000}}}
	case *lathe.TUIPromptAppend:
		return []Effect{{Kind: InsertText, Text: f.Text}}
	case *lathe.TUICommand:
		return []Effect{{Kind: RunAction, Text: f.Command}}
	case *lathe.TUISessionSelect:
		return []Effect{{Kind: SelectSession, Session: f.Session}}
	default:
		return nil
	}
}

func (st *State) drop(id lathe.SessionID) {
	delete(st.sessions, id)
	delete(st.statuses, id)
	delete(st.open, id)
	delete(st.working, id)
	st.asks = slices.DeleteFunc(st.asks, func(f lathe.Fact) bool { return lathe.SessionOf(f) == id })
}

// setStatus stores a status. Only running sessions have an entry; the end of a turn is an effect.
func (st *State) setStatus(id lathe.SessionID, s lathe.Status) []Effect {
	if s.Type != lathe.Idle {
		st.statuses[id] = s
		return nil
	}
	was := st.statuses[id]
	if delete(st.statuses, id); was.Type == "" {
		return nil
	}
	return []Effect{{Kind: TurnEnded, Session: id}}
}

// switchesAgent reports whether a part is the prompt with which the engine hands a session to another agent.
func (st *State) switchesAgent(id lathe.SessionID, p lathe.Part) bool {
	text, ok := p.Body.(*lathe.Text)
	o := st.open[id]
	if !ok || !text.Synthetic.On() || o == nil || o.Transcript == nil {
		return false
	}
	at := o.Transcript.Find(p.Message)
	if at < 0 || o.Transcript.View(at).Len() != 1 {
		return false
	}
	_, ok = o.Transcript.View(at).Data().(*lathe.User)
	return ok
}

// countCall records the tool calls of a session, for its parent.
func (st *State) countCall(id lathe.SessionID, p lathe.Part) {
	t, ok := p.Body.(*lathe.ToolCall)
	if !ok {
		return
	}
	k := st.working[id]
	if k == nil {
		k = &childProgress{calls: map[lathe.PartID]bool{}}
		st.working[id] = k
	}
	k.calls[p.ID] = true
	if r, ok := t.State.(*lathe.Running); ok {
		k.doing, k.now = t.Tool, p.ID
		if r.Title != "" {
			k.doing += " " + r.Title
		}
	} else if t.Settled() && k.now == p.ID {
		k.doing = ""
	}
}

// addAsk adds an open request once. An unknown session must be loaded before its request can be shown.
func (st *State) addAsk(f lathe.Fact) []Effect {
	id := lathe.SessionOf(f)
	if slices.ContainsFunc(st.asks, func(o lathe.Fact) bool { return lathe.AskOf(o) == lathe.AskOf(f) }) {
		return nil
	}
	st.asks = append(st.asks, f)
	notes := []Effect{{Kind: Asked, Session: id}}
	if _, known := st.sessions[id]; !known {
		notes = append(notes, Effect{Kind: UnknownSession, Session: id})
	}
	return notes
}

// SetInterrupted replaces the sessions with an interrupted turn.
func (st *State) SetInterrupted(all []lathe.SessionID) {
	st.Interrupted = map[lathe.SessionID]bool{}
	for _, id := range all {
		st.Interrupted[id] = true
	}
}
