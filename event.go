package lathe

import (
	"strconv"
	"strings"
	"sync"
)

// Event is a message to clients: a fact with its number, or an ephemeral event without one.
type Event struct {
	ID        EventID
	Seq       int64 // rises over the whole store; 0 for deltas and other ephemeral events
	Last      bool  // the last event of its commit: only here may a reader note Seq as its cursor
	Session   SessionID
	Directory string // of the session or instance; "" when it concerns everyone
	Project   string
	Fact      Fact
}

// Scope selects events: everything, one directory, or one session.
type Scope struct {
	Directory string
	Session   SessionID
}

// Includes reports whether the event is in the scope.
func (s Scope) Includes(e Event) bool {
	switch {
	case s.Session != "":
		return e.Session == s.Session
	case s.Directory != "":
		return e.Directory == s.Directory || e.Directory == ""
	default:
		return true
	}
}

// Cursor is a place in a feed: everything up to Seq was seen. Feed names the database,
// so that a cursor of another one is noticed; "" trusts the number.
type Cursor struct {
	Seq  int64
	Feed string
}

// String is the form of SSE ids: number, dot, feed.
func (c Cursor) String() string { return strconv.FormatInt(c.Seq, 10) + "." + c.Feed }

// ParseCursor reads a cursor; a bare number is accepted.
func ParseCursor(s string) (Cursor, error) {
	num, feed, _ := strings.Cut(s, ".")
	n, err := strconv.ParseInt(num, 10, 64)
	if err != nil || n < 0 {
		return Cursor{}, Errorf(Invalid, "cursor %q is not a number or number.feed", clip(s, 40))
	}
	return Cursor{Seq: n, Feed: feed}, nil
}

func (e *Event) fields(c *codec) {
	kind := ""
	if !c.reading {
		kind = e.Fact.Type()
	}
	str(c, "id", &e.ID)
	str(c, "type", &kind)
	if !c.reading {
		object(c, "properties", e.Fact)
		return
	}
	if kind == "" {
		c.failAt("type", "the type of an event")
	}
	e.Fact = newFact(kind)
	if c.find("properties") != nil {
		object(c, "properties", e.Fact)
	} else {
		c.enter([]byte("{}"), e.Fact) // a fact says itself what it cannot do without
	}
	e.Session = SessionOf(e.Fact)
}

// AppendJSON appends {"id","type","properties"}.
func (e Event) AppendJSON(dst []byte) []byte { return encode(dst, &e) }

// AppendWithOffset is AppendJSON for readers that asked for the offsets of deltas.
func (e Event) AppendWithOffset(dst []byte) []byte {
	return encodeAs(dst, &e, form{offsets: true})
}

// SessionOf returns the session a fact is about, "" if it is about none.
func SessionOf(f Fact) SessionID {
	switch f := f.(type) {
	case *SessionCreated:
		return f.Info.ID
	case *SessionChanged:
		return f.Info.ID
	case *SessionDeleted:
		return f.Info.ID
	case *MessageChanged:
		return f.Info.Session
	case *PartChanged:
		return f.Part.Session
	case *PermissionAsked:
		return f.PermissionRequest.Session
	case *QuestionAsked:
		return f.QuestionRequest.Session
	case *MessageRemoved:
		return f.Session
	case *PartRemoved:
		return f.Session
	case *StatusChanged:
		return f.Session
	case *PermissionReplied:
		return f.Session
	case *QuestionReplied:
		return f.Session
	case *QuestionRejected:
		return f.Session
	case *TodosChanged:
		return f.Session
	case *DiffChanged:
		return f.Session
	case *Checkpoint:
		return f.Session
	case *Promote:
		return f.Session
	case *Interrupted:
		return f.Session
	case *Spent:
		return f.Session
	case *SystemPromptSaved:
		return f.Session
	case *RequestSent:
		return f.Session
	case *TestsRan:
		return f.Session
	case *PartDelta:
		return f.Session
	case *SessionIdle:
		return f.Session
	case *SessionFailed:
		return f.Session
	case *SessionCompacted:
		return f.Session
	case *CommandExecuted:
		return f.Session
	default:
		return ""
	}
}

// Fact is a change: of one row, as a runner commits it, or an ephemeral event that is never stored.
// Sealed; the variants are pointers to the structs of fact.go and ephemeral.go.
type Fact interface {
	// Type is the wire's name of the event, "" for facts that are not sent to clients.
	Type() string
	record
}

// newFact returns the empty fact of that type.
func newFact(kind string) Fact {
	if empty, ok := emptyFacts()[kind]; ok {
		return empty()
	}
	return &UnknownEvent{TypeName: kind}
}

// emptyFacts makes an empty fact of every type that has a name on the wire.
var emptyFacts = sync.OnceValue(func() map[string]func() Fact {
	all := map[string]func() Fact{}
	for _, empty := range []func() Fact{
		empty[PartDelta], empty[PartChanged], empty[MessageChanged], empty[StatusChanged], empty[SessionIdle],
		empty[SessionCreated], empty[SessionChanged], empty[SessionDeleted], empty[MessageRemoved],
		empty[PartRemoved], empty[PermissionAsked], empty[PermissionReplied], empty[QuestionAsked],
		empty[QuestionReplied], empty[QuestionRejected], empty[TodosChanged], empty[DiffChanged],
		empty[ProjectChanged], empty[ServerConnected], empty[ServerHeartbeat], empty[ServerResync],
		empty[InstanceDisposed], empty[GlobalDisposed], empty[SessionFailed], empty[SessionCompacted],
		empty[CommandExecuted], empty[FileEdited], empty[FileWatched], empty[BranchChanged], empty[LSPUpdated], empty[LSPDiagnosed],
		empty[MCPToolsChanged], empty[MCPBrowserFailed], empty[PtyCreated],
		empty[PtyChanged], empty[PtyExited], empty[PtyDeleted], empty[TUIPromptAppend], empty[TUICommand], empty[TUIToast], empty[TUISessionSelect],
		empty[CatalogChanged],
		empty[ModelsRefreshed], empty[ReferencesChanged], empty[IntegrationsChanged], empty[UpdateAvailable], empty[UpdateInstalled],
		empty[WorktreeReady], empty[WorktreeFailed],
	} {
		all[empty().Type()] = empty
	}
	return all
})

func empty[T any, P interface {
	*T
	Fact
}]() Fact {
	return P(new(T))
}
