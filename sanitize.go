package lathe

import (
	"encoding/json"
	"strconv"
)

// A sanitized session can be shown to strangers: what a person or a model wrote, where it was
// and what it was called is replaced by a placeholder that names its kind and its owner. Ids,
// times, counts, models, agents, tool names and the shape of the conversation stay, so that it
// can still be read, imported and debugged. Members this version does not know are left out.

// Sanitized returns the record without what it tells about its user.
func (s Session) Sanitized() Session {
	id := string(s.ID)
	s.Title = redact("session-title", id, s.Title)
	s.Directory = redact("session-directory", id, s.Directory)
	if s.Project != GlobalProject { // else it is the hash of a repository's address
		s.Project = redact("session-project", id, s.Project)
	}
	if s.Path != nil {
		path := redact("session-path", id, *s.Path)
		s.Path = &path
	}
	if s.Share != nil {
		s.Share = &Share{URL: redact("share-url", id, s.Share.URL)}
	}
	if x := s.Summary; x != nil {
		s.Summary = &SessionSummary{
			Additions: x.Additions, Deletions: x.Deletions, Files: x.Files, Diffs: redactDiffs("session-diff", x.Diffs),
		}
	}
	if r := s.Revert; r != nil {
		s.Revert = &Revert{
			Message: r.Message, Part: r.Part,
			Snapshot: redact("revert-snapshot", id, r.Snapshot), Diff: redact("revert-diff", id, r.Diff),
		}
	}
	s.Rules = redactRules(id, s.Rules)
	s.Metadata = redactData("session-metadata", id, s.Metadata)
	if s.Tokens != nil {
		tokens := s.Tokens.known()
		s.Tokens = &tokens
	}
	if m := s.Model; m != nil {
		s.Model = &SessionModel{ID: m.ID, Provider: m.Provider, Variant: m.Variant}
	}
	s.TimeExtra, s.Extra = "", ""
	return s
}

// Sanitized returns the message and its parts without what was said.
func (m Message) Sanitized() Message {
	id := string(m.ID)
	switch said := m.Data.(type) {
	case *User:
		m.Data = said.sanitized(id)
	case *Assistant:
		m.Data = said.sanitized(id)
	}
	parts := make([]Part, len(m.Parts))
	for i, p := range m.Parts {
		parts[i] = p.Sanitized()
	}
	m.Parts = parts
	return m
}

func (u User) sanitized(id string) *User {
	u.Model = u.Model.known()
	u.System = redact("system", id, u.System)
	u.Format = redactFormat(id, u.Format)
	if json.Unmarshal(u.Tools, &map[string]bool{}) != nil { // else names and switches
		u.Tools = redactData("tools", id, u.Tools)
	}
	if s := u.Summary; s != nil {
		u.Summary = &UserSummary{
			Title: redact("summary-title", id, s.Title), Body: redact("summary-body", id, s.Body),
			Diffs: redactDiffs("message-diff", s.Diffs),
		}
	}
	u.TimeExtra, u.Extra = "", ""
	return &u
}

func (a Assistant) sanitized(id string) *Assistant {
	a.Model = a.Model.known()
	a.Path = Paths{Cwd: redact("cwd", id, a.Path.Cwd), Root: redact("root", id, a.Path.Root)}
	a.Tokens = a.Tokens.known()
	a.Error = redactFault(id, a.Error)
	a.Structured = redactData("structured", id, a.Structured)
	a.TimeExtra, a.Extra = "", ""
	return &a
}

// Sanitized returns the part without what was said.
func (p Part) Sanitized() Part {
	id := string(p.ID)
	switch b := p.Body.(type) {
	case *Text:
		p.Body = &Text{
			Text: redact("text", id, b.Text), Synthetic: b.Synthetic, Ignored: b.Ignored, Time: b.Time.known(),
			Metadata: redactData("text-metadata", id, b.Metadata),
		}
	case *Reasoning:
		p.Body = &Reasoning{
			Text: redact("reasoning", id, b.Text), Time: *b.Time.known(),
			Metadata: redactData("reasoning-metadata", id, b.Metadata),
		}
	case *File:
		p.Body = b.sanitized(id)
	case *ToolCall:
		p.Body = b.sanitized(id)
	case *StepStart:
		p.Body = &StepStart{Snapshot: redact("snapshot", id, b.Snapshot)}
	case *StepFinish:
		p.Body = &StepFinish{
			Reason: b.Reason, Snapshot: redact("snapshot", id, b.Snapshot), Cost: b.Cost, Tokens: b.Tokens.known(),
		}
	case *Snapshot:
		p.Body = &Snapshot{Snapshot: redact("snapshot", id, b.Snapshot)}
	case *Patch:
		p.Body = b.sanitized(id)
	case *AgentMention:
		p.Body = &AgentMention{Name: b.Name, Source: b.Source.sanitized("agent-source", id)}
	case *Subtask:
		p.Body = b.sanitized(id)
	case *Compaction:
		p.Body = &Compaction{Auto: b.Auto, Overflow: b.Overflow, TailStart: b.TailStart}
	case *Retry:
		p.Body = &Retry{Attempt: b.Attempt, Error: redactFault(id, b.Error), Created: b.Created}
	case *UnknownBody:
		p.Body = &UnknownBody{TypeName: b.TypeName}
	}
	return p
}

func (f *File) sanitized(id string) *File {
	out := &File{Mime: f.Mime, URL: redact("file-url", id, f.URL), Filename: redact("file-name", id, f.Filename)}
	if s := f.Source; s != nil {
		out.Source = &FileSource{
			Type: s.Type, Path: redact("file-path", id, s.Path), Text: *s.Text.sanitized("file-text", id),
			Extra: redactSource(id, s.Extra),
		}
	}
	return out
}

// sanitized returns the call with its input, output and metadata redacted.
func (t *ToolCall) sanitized(id string) *ToolCall {
	out := &ToolCall{CallID: t.CallID, Tool: t.Tool, Metadata: redactData("tool-call-metadata", id, t.Metadata)}
	input := func(v json.RawMessage) json.RawMessage { return redactData("tool-input", id, v) }
	metadata := func(v json.RawMessage) json.RawMessage { return redactData("tool-metadata", id, v) }
	switch s := t.State.(type) {
	case *Pending:
		out.State = &Pending{Input: input(s.Input), Raw: redact("tool-raw", id, s.Raw)}
	case *Running:
		out.State = &Running{Input: input(s.Input), Title: redact("tool-title", id, s.Title), Metadata: metadata(s.Metadata), Start: s.Start}
	case *Completed:
		done := &Completed{
			Input: input(s.Input), Metadata: metadata(s.Metadata),
			Output: redact("tool-output", id, s.Output), Title: redact("tool-title", id, s.Title),
			Start: s.Start, End: s.End, Compacted: s.Compacted,
		}
		for _, p := range s.Attachments {
			done.Attachments = append(done.Attachments, p.Sanitized())
		}
		out.State = done
	case *Failed:
		out.State = &Failed{
			Input: input(s.Input), Metadata: metadata(s.Metadata),
			Error: redact("tool-error", id, s.Error), Start: s.Start, End: s.End,
		}
	}
	return out
}

func (p *Patch) sanitized(id string) *Patch {
	out := &Patch{Hash: redact("patch", id, p.Hash)}
	for i, f := range p.Files {
		out.Files = append(out.Files, redact("patch-file", id+"-"+strconv.Itoa(i), f))
	}
	return out
}

func (t *Subtask) sanitized(id string) *Subtask {
	out := &Subtask{
		Prompt: redact("subtask-prompt", id, t.Prompt), Description: redact("subtask-description", id, t.Description),
		Agent: t.Agent, Command: redact("subtask-command", id, t.Command),
	}
	if t.Model != nil {
		model := t.Model.known()
		out.Model = &model
	}
	return out
}

// sanitized keeps the range, which is numbers.
func (m *Mention) sanitized(kind, id string) *Mention {
	if m == nil {
		return nil
	}
	return &Mention{Value: redact(kind, id, m.Value), Start: m.Start, End: m.End}
}

// known leaves out what this version does not know.
func (s *Span) known() *Span {
	if s == nil {
		return nil
	}
	return &Span{Start: s.Start, End: s.End}
}

func (m ModelRef) known() ModelRef {
	m.Extra = ""
	return m
}

func (t Tokens) known() Tokens {
	t.Extra, t.Cache.Extra = "", ""
	return t
}

// redact is the placeholder for a text; nothing stays nothing.
func redact(kind, id, value string) string {
	if value == "" {
		return ""
	}
	return "[redacted:" + kind + ":" + id + "]"
}

// redactData is the placeholder for free data; an empty object stays one.
func redactData(kind, id string, value json.RawMessage) json.RawMessage {
	switch string(compactJSON(value)) {
	case "", "{}", "[]", "null":
		return value
	}
	return json.RawMessage(`{"redacted":` + string(appendString(nil, kind+":"+id)) + `}`)
}

// redactFormat keeps which form of answer was asked for.
func redactFormat(id string, format json.RawMessage) json.RawMessage {
	var f struct {
		Type string `json:"type"`
	}
	if json.Unmarshal(format, &f) == nil {
		switch f.Type {
		case "text":
			return json.RawMessage(`{"type":"text"}`)
		case "json_schema":
			return json.RawMessage(`{"type":"json_schema","schema":` + string(redactData("format", id, json.RawMessage(`{"x":0}`))) + `}`)
		}
	}
	return redactData("format", id, format)
}

// redactSource keeps the members of symbols and resources whose absence other programs would
// refuse.
func redactSource(id string, x Extra) Extra {
	var s struct {
		Range *struct {
			Start, End struct {
				Line, Character float64
			}
		}
		Kind             *float64
		Name, ClientName *string
		URI              *string `json:"uri"`
	}
	if x == "" || json.Unmarshal([]byte("{"+string(x)+"}"), &s) != nil {
		return ""
	}
	members := map[string]any{}
	if r := s.Range; r != nil {
		at := func(line, character float64) any { return map[string]float64{"line": line, "character": character} }
		members["range"] = map[string]any{"start": at(r.Start.Line, r.Start.Character), "end": at(r.End.Line, r.End.Character)}
	}
	if s.Kind != nil {
		members["kind"] = *s.Kind
	}
	for name, v := range map[string]*string{"name": s.Name, "clientName": s.ClientName, "uri": s.URI} {
		if v != nil {
			members[name] = redact("file-"+name, id, *v)
		}
	}
	out, err := json.Marshal(members)
	if err != nil {
		return ""
	}
	return Extra(out[1 : len(out)-1])
}

func redactDiffs(kind string, diffs []FileDiff) []FileDiff {
	if diffs == nil {
		return nil
	}
	out := make([]FileDiff, len(diffs))
	for i, d := range diffs {
		n := strconv.Itoa(i)
		out[i] = FileDiff{
			File: redact(kind+"-file", n, d.File), Patch: redact(kind+"-patch", n, d.Patch),
			Additions: d.Additions, Deletions: d.Deletions, Status: d.Status,
		}
	}
	return out
}

// redactRules keeps what rules are about; their patterns hold paths and commands.
func redactRules(id string, rules Ruleset) Ruleset {
	if rules == nil {
		return nil
	}
	out := make(Ruleset, len(rules))
	for i, r := range rules {
		out[i] = Rule{Permission: r.Permission, Pattern: r.Pattern, Action: r.Action}
		if r.Pattern != "*" {
			out[i].Pattern = redact("rule-pattern", id+"-"+strconv.Itoa(i), r.Pattern)
		}
	}
	return out
}

// redactFault keeps the name, the status and the counts.
func redactFault(id string, f Fault) Fault {
	text := func(s string) string { return redact("error-message", id, s) }
	body := func(s string) string { return redact("error-body", id, s) }
	switch f := f.(type) {
	case nil:
		return nil
	case *ProviderAuthFault:
		return &ProviderAuthFault{ProviderID: f.ProviderID, Message: text(f.Message)}
	case *UnknownFault:
		return &UnknownFault{Message: text(f.Message), Ref: redact("error-ref", id, f.Ref)}
	case *OutputLengthFault:
		return &OutputLengthFault{}
	case *AbortedFault:
		return &AbortedFault{Message: text(f.Message)}
	case *APIFault:
		return &APIFault{
			Message: text(f.Message), StatusCode: f.StatusCode, Retryable: f.Retryable, ResponseBody: body(f.ResponseBody),
			ResponseHeaders: redactData("error-headers", id, f.ResponseHeaders), Metadata: redactData("error-metadata", id, f.Metadata),
		}
	case *OverflowFault:
		return &OverflowFault{Message: text(f.Message), ResponseBody: body(f.ResponseBody)}
	case *StructuredOutputFault:
		return &StructuredOutputFault{Message: text(f.Message), Retries: f.Retries}
	case *ContentFilterFault:
		return &ContentFilterFault{Message: text(f.Message)}
	default:
		return &OtherFault{TypeName: f.Name()}
	}
}
