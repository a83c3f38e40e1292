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

	Current lathe.SessionID          // the session on the screen, "" on the home screen
	Opening bool                     // what the command line asked for is not on the screen yet
	Lost    error                    // why there is no connection to the engine at present
	Cut     map[lathe.SessionID]bool // whose turn was cut off

	sessions map[lathe.SessionID]lathe.Session
	statuses map[lathe.SessionID]lathe.Status
	open     map[lathe.SessionID]*Open
	working  map[lathe.SessionID]*worker
	asks     []lathe.Fact
}

// Open is a session that is looked at, or was.
type Open struct {
	ID         lathe.SessionID
	Transcript *lathe.Transcript // nil until it was read
	Older      lathe.Position    // where the page before ends; zero when there is none
	Reading    bool              // the page before is on its way
	Fetching   bool              // the newest page is on its way
	waiting    []lathe.Event     // told meanwhile
}

// worker is what a session does for another.
type worker struct {
	doing string
	calls map[lathe.PartID]bool
	now   lathe.PartID
}

// New makes a state in which nothing is known.
func New() *State {
	return &State{
		sessions: map[lathe.SessionID]lathe.Session{}, statuses: map[lathe.SessionID]lathe.Status{},
		open: map[lathe.SessionID]*Open{}, working: map[lathe.SessionID]*worker{},
	}
}

// Note is something that happened which is more than a change of what is shown.
type Note struct {
	Kind    Kind
	Session lathe.SessionID
	Text    string
	Toast   *lathe.TUIToast // of Say
}

// Kind is what happened.
type Kind int

// The kinds of notes.
const (
	Ended    Kind = iota // a turn has come to its end
	Failed               // a turn, or something beside it; Text says why
	Asked                // somebody must answer
	Gone                 // a session was deleted
	Renewed              // settings may have changed: read the catalogue again
	Lost                 // events are missing: read what is looked at again
	Branched             // the branch is another; Text is its name
	Say                  // somebody wants a note shown; Toast
	Insert               // somebody wants Text in the prompt
	Do                   // somebody wants a command run; Text is its name
	Select               // somebody wants another session shown
	Compact              // a session was compacted
	Stranger             // a session that is not known asks or works: find out whose it is
)

// Apply takes in an event.
func (st *State) Apply(e lathe.Event) (notes []Note) {
	id := lathe.SessionOf(e.Fact)
	if o := st.open[id]; o != nil && id != "" {
		if o.Fetching || o.Transcript == nil {
			o.waiting = append(o.waiting, e)
		}
		if o.Transcript != nil {
			if o.Transcript.Apply(e); o.Transcript.Stale() && !o.Fetching {
				notes = append(notes, Note{Kind: Lost, Session: id})
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
		notes = append(notes, Note{Kind: Gone, Session: id})
	case *lathe.StatusChanged:
		notes = append(notes, st.status(id, f.Status)...)
	case *lathe.PartChanged:
		st.work(id, f.Part)
	case *lathe.PermissionAsked, *lathe.QuestionAsked:
		notes = append(notes, st.asked(f)...)
	case *lathe.PermissionReplied, *lathe.QuestionReplied, *lathe.QuestionRejected:
		st.asks = slices.DeleteFunc(st.asks, func(ask lathe.Fact) bool { return lathe.AskOf(ask) == lathe.AskOf(f) })
	default:
		notes = append(notes, news(e.Fact)...)
	}
	return notes
}

// news tells what is not about one session's rows.
func news(f lathe.Fact) []Note {
	switch f := f.(type) {
	case *lathe.SessionFailed:
		if f.Error == nil {
			return nil
		}
		return []Note{{Kind: Failed, Session: f.Session, Text: f.Error.Name()}}
	case *lathe.SessionCompacted:
		return []Note{{Kind: Compact, Session: f.Session}}
	case *lathe.ServerResync:
		return []Note{{Kind: Lost}}
	case *lathe.InstanceDisposed, *lathe.GlobalDisposed, *lathe.CatalogChanged, *lathe.ModelsRefreshed, *lathe.MCPToolsChanged, *lathe.IntegrationsChanged:
		return []Note{{Kind: Renewed}}
	case *lathe.BranchChanged:
		return []Note{{Kind: Branched, Text: f.Branch}}
	case *lathe.TUIToast:
		return []Note{{Kind: Say, Toast: f}}
	case *lathe.TUIPromptAppend:
		return []Note{{Kind: Insert, Text: f.Text}}
	case *lathe.TUICommand:
		return []Note{{Kind: Do, Text: f.Command}}
	case *lathe.TUISessionSelect:
		return []Note{{Kind: Select, Session: f.Session}}
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

func (st *State) status(id lathe.SessionID, s lathe.Status) []Note {
	if s.Type != lathe.Idle {
		st.statuses[id] = s
		return nil
	}
	was := st.statuses[id]
	if delete(st.statuses, id); was.Type == "" {
		return nil
	}
	return []Note{{Kind: Ended, Session: id}}
}

// work keeps count of what a session does, for those who wait for it.
func (st *State) work(id lathe.SessionID, p lathe.Part) {
	t, ok := p.Body.(*lathe.ToolCall)
	if !ok {
		return
	}
	k := st.working[id]
	if k == nil {
		k = &worker{calls: map[lathe.PartID]bool{}}
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

func (st *State) asked(f lathe.Fact) []Note {
	id := lathe.SessionOf(f)
	if slices.ContainsFunc(st.asks, func(o lathe.Fact) bool { return lathe.AskOf(o) == lathe.AskOf(f) }) {
		return nil
	}
	st.asks = append(st.asks, f)
	notes := []Note{{Kind: Asked, Session: id}}
	if _, known := st.sessions[id]; !known {
		notes = append(notes, Note{Kind: Stranger, Session: id})
	}
	return notes
}
