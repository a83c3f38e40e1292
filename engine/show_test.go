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
	apart bool // what sessions do at one moment stands session by session
}

func newShown(dir string) *shown {
	return &shown{dir: dir, names: map[string]string{}, parts: map[lathe.MessageID]int{}, title: map[lathe.SessionID]string{}}
}

// know numbers a session; events of all but the first are marked with its number.
func (s *shown) know(id lathe.SessionID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.meet(id)
}

func (s *shown) meet(id lathe.SessionID) {
	if !slices.Contains(s.known, id) {
		s.known = append(s.known, id)
	}
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

// when is when a line was reported, and which tool call of its message it is about; 0 means
// none.
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
		if s.apart {
			to = s.moment(from)
			run := slices.Clone(s.lines[from:to])
			slices.SortStableFunc(run, func(a, b string) int { return strings.Compare(whose(a), whose(b)) })
			out, from = append(out, run...), to
			continue
		}
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

// moment is where the lines of a moment end.
func (s *shown) moment(from int) int {
	for i := range s.at[from:] {
		if !s.at[from+i].at.Equal(s.at[from].at) {
			return from + i
		}
	}
	return len(s.lines)
}

// whose is the session that a line is of, "" for the first.
func whose(line string) string {
	if before, _, ok := strings.Cut(line, ": "); ok && len(before) > 1 && before[0] == 's' && strings.Trim(before[1:], "0123456789") == "" {
		return before
	}
	return ""
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
	text = callID.ReplaceAllString(text, "CALL")
	text = machine.ReplaceAllString(text, "Machine: …")
	return outputFile.ReplaceAllString(strings.ReplaceAll(text, s.dir, "DIR"), "OUTPUT")
}

// machine is what a overview tells of the machine.
var machine = regexp.MustCompile(`Machine: \d+ cores[^"\\]*`)

// callID is the id of a call that no model made.
var callID = regexp.MustCompile(`\b01[0-9A-HJKMNP-TV-Z]{24}\b`)

// outputFile is where a long output was put.
var outputFile = regexp.MustCompile(`/\S*/outputs/(?:[^/\s"]+/)?tool_[0-9A-Za-z]+`)

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
	case *lathe.ServerConnected, *lathe.SessionIdle, *lathe.ProjectChanged:
	case *lathe.SessionCreated:
		if f.Info.Parent != "" {
			s.meet(f.Info.ID)
		}
	case *lathe.SessionChanged:
		var cost lathe.Money
		if f.Info.Cost != nil { // an import may have none
			cost = *f.Info.Cost
		}
		if text := fmt.Sprintf("session %q cost %s%s%s", f.Info.Title, cost, s.undone(f.Info), compacting(f.Info)); text != s.title[e.Session] {
			s.title[e.Session] = text
			s.add(text)
		}
	case *lathe.MessageChanged:
		s.add("message " + s.message(f.Info.ID) + " " + s.said(f.Info))
	case *lathe.MessageRemoved:
		s.add("message " + s.message(f.Message) + " removed")
	case *lathe.PartChanged:
		name := s.part(f.Part.Message, f.Part.ID)
		s.add("part " + name + " " + s.trees(body(f.Part)))
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
			i := len(s.lines) - 1
			before, _, _ := strings.Cut(s.lines[i], "delta ")
			s.lines[i] = fmt.Sprintf("%sdelta %s %q", before, name, s.grown)
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
	case *lathe.DiffChanged:
		s.add("diff" + changesOf(f.Diff))
	case *lathe.CommandExecuted:
		s.add(fmt.Sprintf("executed %s %q by %s", f.Name, f.Arguments, s.message(f.Message)))
	case *lathe.TUIToast:
		s.add(fmt.Sprintf("toast %s %q", f.Variant, f.Message))
	default:
		s.add(e.Fact.Type())
	}
}

// trees numbers the trees a text names.
func (s *shown) trees(text string) string {
	return treeID.ReplaceAllStringFunc(text, func(id string) string { return s.name("tree", id) })
}

var treeID = regexp.MustCompile(`\b[0-9a-f]{40}\b`)

// undone shows what a session has changed, and from where on it is undone.
func (s *shown) undone(rec lathe.Session) (text string) {
	if c := rec.Summary; c != nil {
		text = fmt.Sprintf(" changed %d files +%d -%d", c.Files, c.Additions, c.Deletions)
	}
	if r := rec.Revert; r != nil {
		text += " undone from " + s.message(r.Message)
		if r.Part != "" {
			text += " part " + s.part(r.Message, r.Part)
		}
		text += s.trees(strings.TrimRight(" "+r.Snapshot, " "))
		for line := range strings.Lines(r.Diff) {
			if !strings.HasPrefix(line, "@@") && !strings.HasPrefix(line, "diff ") && !strings.HasPrefix(line, "index ") {
				text += fmt.Sprintf(" %q", strings.TrimSuffix(line, "\n"))
			}
		}
	}
	return text
}

func changesOf(diffs []lathe.FileDiff) (text string) {
	for _, d := range diffs {
		text += fmt.Sprintf(" %s %s +%d -%d", d.Status, d.File, d.Additions, d.Deletions)
	}
	return text
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
	switch said := m.Data.(type) {
	case *lathe.User:
		if said.Summary != nil {
			return "user " + said.Agent + " changed" + changesOf(said.Summary.Diffs)
		}
		return "user " + said.Agent
	case *lathe.Assistant:
		text := "assistant to " + s.message(said.Parent)
		if said.Summary.On() {
			text = "summary by " + said.Agent + " of " + said.Model.Model + " to " + s.message(said.Parent)
		}
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
		return "text" + open + fmt.Sprintf(" %q", b.Text) + spoke(b)
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
	case *lathe.Compaction:
		return Request(b)
	case *lathe.Patch:
		return fmt.Sprintf("patch %s %q", b.Hash, b.Files)
	default:
		return p.Body.Kind()
	}
}

func callState(st lathe.ToolState) string {
	switch t := st.(type) {
	case *lathe.Pending:
		return "pending"
	case *lathe.Running:
		return strings.TrimSpace(fmt.Sprintf("running %s %s %s", t.Input, t.Title, t.Metadata))
	case *lathe.Completed:
		text := fmt.Sprintf("completed %q %s", short(t.Output), t.Metadata)
		if t.Compacted != 0 {
			text += " left out"
		}
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
			fmt.Fprintf(&b, "\t%s\n", s.trees(body(p)))
		}
	}
	return s.clean(b.String())
}

// compacting says that a summary is being made.
func compacting(s lathe.Session) string {
	if s.Compacting == 0 {
		return ""
	}
	return " compacting"
}
