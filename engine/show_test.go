package engine_test

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/lathe-agent/lathe"
)

// shown writes events down the way transcripts have them: ids as the order in which they
// came, deltas of one part that follow each other as one.
type shown struct {
	dir string
	now func() lathe.Time

	mu    sync.Mutex // guards the fields below
	known []lathe.SessionID
	names map[string]string
	parts map[lathe.MessageID]int
	lines []string
	at    []when // of each line
	delta string // the part of the last line, if that is a delta
	grown string // its text
	title map[lathe.SessionID]string
}

func newShown(dir string) *shown {
	return &shown{dir: dir, names: map[string]string{}, parts: map[lathe.MessageID]int{}, title: map[lathe.SessionID]string{}}
}

// know numbers a session; what is told of all but the first is marked with its number.
func (s *shown) know(id lathe.SessionID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known = append(s.known, id)
}

// id is what goes by that name.
func (s *shown) id(name string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, n := range s.names {
		if n == name {
			return id
		}
	}
	return name
}

func (s *shown) line(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.add(text)
}

func (s *shown) add(text string) {
	s.delta = ""
	s.lines = append(s.lines, text)
	s.at = append(s.at, when{time.Now(), 0})
}

// when is when a line was told, and which tool call of its message it is about; 0 is none.
type when struct {
	at   time.Time
	call int
}

func (s *shown) events() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.clean(strings.Join(s.ordered(), "\n") + "\n")
}

// ordered puts what calls beside each other did at the same moment into the order of the
// calls: which of them was first is up to the machine.
func (s *shown) ordered() (out []string) {
	for from := 0; from < len(s.lines); {
		to := from + 1
		for to < len(s.lines) && s.at[from].call > 0 && s.at[to].call > 0 && s.at[to].at.Equal(s.at[from].at) {
			to++
		}
		run := make([]int, 0, to-from)
		for i := from; i < to; i++ {
			run = append(run, i)
		}
		slices.SortStableFunc(run, func(a, b int) int { return s.at[a].call - s.at[b].call })
		for _, i := range run {
			out = append(out, s.lines[i])
		}
		from = to
	}
	return out
}

// plain takes ids and places of this run out of a text.
func (s *shown) plain(text string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.clean(text)
}

func (s *shown) clean(text string) string {
	for id, name := range s.names {
		text = strings.ReplaceAll(text, id, name)
	}
	for i, id := range s.known {
		text = strings.ReplaceAll(text, string(id), fmt.Sprintf("s%d", i+1))
	}
	return outputFile.ReplaceAllString(strings.ReplaceAll(text, s.dir, "DIR"), "OUTPUT")
}

// outputFile is where a long output was put.
var outputFile = regexp.MustCompile(`/\S*/outputs/tool_[0-9A-Za-z]+`)

// name numbers things of a kind in the order in which they come.
func (s *shown) name(kind, id string) string {
	if n, ok := s.names[id]; ok {
		return n
	}
	count := 1
	for _, n := range s.names {
		if strings.HasPrefix(n, kind) && strings.Trim(n[len(kind):], "0123456789") == "" {
			count++
		}
	}
	s.names[id] = fmt.Sprintf("%s%d", kind, count)
	return s.names[id]
}

func (s *shown) message(id lathe.MessageID) string { return s.name("m", string(id)) }

func (s *shown) part(m lathe.MessageID, id lathe.PartID) string {
	if n, ok := s.names[string(id)]; ok {
		return n
	}
	s.parts[m]++
	s.names[string(id)] = fmt.Sprintf("%s/%d", s.message(m), s.parts[m])
	return s.names[string(id)]
}

func (s *shown) event(e lathe.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	count := len(s.lines)
	defer func() {
		if i := slices.Index(s.known, e.Session); i > 0 && len(s.lines) > count {
			s.lines[count] = fmt.Sprintf("s%d: %s", i+1, s.lines[count])
		}
	}()
	switch f := e.Fact.(type) {
	case *lathe.ServerConnected, *lathe.SessionIdle, *lathe.SessionCreated, *lathe.ProjectChanged:
	case *lathe.SessionChanged:
		var cost lathe.Money
		if f.Info.Cost != nil { // an import may have none
			cost = *f.Info.Cost
		}
		if text := fmt.Sprintf("session %q cost %s", f.Info.Title, cost); text != s.title[e.Session] {
			s.title[e.Session] = text
			s.add(text)
		}
	case *lathe.MessageChanged:
		s.add("message " + s.message(f.Info.ID) + " " + s.said(f.Info))
	case *lathe.MessageRemoved:
		s.add("message " + s.message(f.Message) + " removed")
	case *lathe.PartChanged:
		name := s.part(f.Part.Message, f.Part.ID)
		s.add("part " + name + " " + body(f.Part))
		if _, ok := f.Part.Body.(*lathe.ToolCall); ok {
			_, n, _ := strings.Cut(name, "/")
			s.at[len(s.at)-1].call, _ = strconv.Atoi(n)
		}
	case *lathe.PartRemoved:
		s.add("part " + s.part(f.Message, f.Part) + " removed")
	case *lathe.PartDelta:
		name := s.part(f.Message, f.Part)
		if s.delta == name {
			s.grown += f.Delta
			s.lines[len(s.lines)-1] = fmt.Sprintf("delta %s %q", name, s.grown)
			return
		}
		s.add(fmt.Sprintf("delta %s %q", name, f.Delta))
		s.delta, s.grown = name, f.Delta
	case *lathe.StatusChanged:
		s.add(strings.TrimSpace("status " + f.Status.Type + " " + s.retrying(f.Status)))
	case *lathe.PermissionAsked:
		s.add(fmt.Sprintf("asked %s %s %q always %q %s", s.name("ask", string(f.ID)), f.Permission, f.Patterns, f.Always, s.ref(f.Tool)))
	case *lathe.PermissionReplied:
		s.add(fmt.Sprintf("replied %s %s", s.name("ask", string(f.Request)), f.Reply))
	case *lathe.QuestionAsked:
		s.add(fmt.Sprintf("question %s %q %s", s.name("ask", string(f.ID)), f.Questions[0].Question, s.ref(f.Tool)))
	case *lathe.QuestionReplied:
		s.add(fmt.Sprintf("answered %s %q", s.name("ask", string(f.Request)), f.Answers))
	case *lathe.QuestionRejected:
		s.add(fmt.Sprintf("dismissed %s", s.name("ask", string(f.Request))))
	case *lathe.SessionFailed:
		s.add(fmt.Sprintf("error %s %s", f.Error.Name(), oneLine(lathe.FaultMessage(f.Error))))
	case *lathe.TodosChanged:
		s.add(fmt.Sprintf("todos %d", len(f.Todos)))
	default:
		s.add(e.Fact.Type())
	}
}

func (s *shown) ref(r *lathe.ToolRef) string {
	if r == nil {
		return "for no call"
	}
	return "for " + s.message(r.Message)
}

func (s *shown) retrying(st lathe.Status) string {
	if st.Type != lathe.Retrying {
		return ""
	}
	return fmt.Sprintf("%d in %gs: %s", st.Attempt, float64(st.Next-s.now())/1000, oneLine(st.Message))
}

// said shows a message without its parts.
func (s *shown) said(m lathe.Message) string {
	switch said := m.Said.(type) {
	case *lathe.User:
		return "user " + said.Agent
	case *lathe.Assistant:
		text := "assistant to " + s.message(said.Parent)
		if said.Finish != "" {
			text += fmt.Sprintf(" finish %s cost %s tokens %d/%d", said.Finish, said.Cost, said.Tokens.Input, said.Tokens.Output+said.Tokens.Reasoning)
		}
		if said.Structured != nil {
			text += " structured " + string(said.Structured)
		}
		if said.Error != nil {
			text += " " + said.Error.Name()
		}
		if said.Completed != 0 {
			text += " completed"
		}
		return text
	default:
		return ""
	}
}

func body(p lathe.Part) string {
	open := ""
	if p.Open() {
		open = " open"
	}
	switch b := p.Body.(type) {
	case *lathe.Text:
		if b.Synthetic.On() {
			open += " synthetic"
		}
		return "text" + open + fmt.Sprintf(" %q", b.Text)
	case *lathe.Reasoning:
		return "reasoning" + open + fmt.Sprintf(" %q", b.Text)
	case *lathe.ToolCall:
		return "tool " + b.Tool + " " + callState(b.State)
	case *lathe.File:
		return "file " + b.Mime + " " + b.Filename
	case *lathe.StepStart:
		return strings.TrimSpace("step-start " + b.Snapshot)
	case *lathe.StepFinish:
		return strings.TrimSpace(fmt.Sprintf("step-finish %s %s", b.Reason, b.Snapshot))
	case *lathe.Patch:
		return fmt.Sprintf("patch %s %q", b.Hash, b.Files)
	default:
		return p.Body.Type()
	}
}

func callState(st lathe.ToolState) string {
	switch t := st.(type) {
	case *lathe.Pending:
		return "pending"
	case *lathe.Running:
		return strings.TrimSpace(fmt.Sprintf("running %s %s %s", t.Input, t.Title, t.Metadata))
	case *lathe.Completed:
		text := fmt.Sprintf("completed %q %s", t.Output, t.Metadata)
		for _, a := range t.Attachments {
			text += " " + body(a)
		}
		return text
	case *lathe.Failed:
		return strings.TrimSpace(fmt.Sprintf("error %q %s", t.Error, t.Metadata))
	default:
		return "?"
	}
}

func oneLine(s string) string { return strings.ReplaceAll(s, "\n", " ") }

// history shows the messages as they are stored.
func (s *shown) history(messages []lathe.Message) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b strings.Builder
	for _, m := range messages {
		fmt.Fprintf(&b, "%s %s\n", s.message(m.ID), s.said(m))
		for _, p := range m.Parts {
			fmt.Fprintf(&b, "\t%s\n", body(p))
		}
	}
	return s.clean(b.String())
}
