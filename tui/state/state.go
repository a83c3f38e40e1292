// Package state holds what the terminal program knows: the place it works in, what there is to choose from,
// sessions with what they do, and the transcripts of those that were looked at. Events and answers of the
// engine change it; views are made from it. It asks nobody anything and starts nothing.
//
// For one goroutine. Start with State.Apply.
package state

import (
	"slices"

	"github.com/lathe-agent/lathe"
)

// State is everything that is known. Make one with New.
type State struct {
	Catalog

	Current         lathe.SessionID          // the session on the screen, "" on the home screen
	Opening         bool                     // what the command line asked for is not on the screen yet
	ConnectionError error                    // why there is no connection to the engine at present
	Interrupted     map[lathe.SessionID]bool // whose turn was cut off

	sessions map[lathe.SessionID]lathe.Session
	statuses map[lathe.SessionID]lathe.Status
	open     map[lathe.SessionID]*Open
	working  map[lathe.SessionID]*childProgress
	asks     []lathe.Fact
}

// Open is a session that is looked at, or was.
type Open struct {
	ID           lathe.SessionID
	Transcript   *lathe.Transcript // nil until it was read
	Older        lathe.Position    // where the page before ends; zero when there is none
	LoadingOlder bool              // the page before is on its way
	Loading      bool              // the newest page is on its way
	queued       []lathe.Event     // told meanwhile
}

// childProgress is what a session does for another.
type childProgress struct {
	doing string
	calls map[lathe.PartID]bool
	now   lathe.PartID
}

// New makes a state in which nothing is known.
func New() *State {
	return &State{
		sessions: map[lathe.SessionID]lathe.Session{}, statuses: map[lathe.SessionID]lathe.Status{},
		open: map[lathe.SessionID]*Open{}, working: map[lathe.SessionID]*childProgress{},
	}
}

// Effect is something that happened which is more than a change of what is shown.
type Effect struct {
	Kind    Kind
	Session lathe.SessionID
	Text    string
	Toast   *lathe.TUIToast // of Say
}

// Kind is what happened.
type Kind int

// The kinds of notes.
const (
	TurnEnded      Kind = iota // a turn has come to its end
	TurnFailed                 // a turn, or something beside it; Text says why
	Asked                      // somebody must answer
	SessionDeleted             // a session was deleted
	CatalogChanged             // settings may have changed: read the catalog again
	EventsMissed               // events are missing: read what is looked at again
	BranchChanged              // the branch is another; Text is its name
	ShowToast                  // somebody wants a note shown; Toast
	InsertText                 // somebody wants Text in the prompt
	RunAction                  // somebody wants a command run; Text is its name
	SelectSession              // somebody wants another session shown
	Compacted                  // a session was compacted
	UnknownSession             // a session that is not known asks or works: find out whose it is
)

// Apply takes in an event.
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
	case *lathe.PermissionAsked, *lathe.QuestionAsked:
		notes = append(notes, st.addAsk(f)...)
	case *lathe.PermissionReplied, *lathe.QuestionReplied, *lathe.QuestionRejected:
		st.asks = slices.DeleteFunc(st.asks, func(ask lathe.Fact) bool { return lathe.AskOf(ask) == lathe.AskOf(f) })
	default:
		notes = append(notes, otherEffects(e.Fact)...)
	}
	return notes
}

// otherEffects tells what is not about one session's rows.
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
	case *lathe.BranchChanged:
		return []Effect{{Kind: BranchChanged, Text: f.Branch}}
	case *lathe.TUIToast:
		return []Effect{{Kind: ShowToast, Toast: f}}
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

// countCall keeps count of what a session does, for those who wait for it.
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
