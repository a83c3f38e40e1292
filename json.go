package lathe

// The records that are stored or sent on their own, as the wire has them. Reading takes both generations,
// and leaves nothing of what the record was before.

func (a Agent) MarshalJSON() ([]byte, error)     { return encode(nil, &a), nil }
func (a *Agent) UnmarshalJSON(data []byte) error { return decodeNew(data, "agent", a) }

func (r PermissionRequest) MarshalJSON() ([]byte, error)     { return encode(nil, &r), nil }
func (r *PermissionRequest) UnmarshalJSON(data []byte) error { return decodeNew(data, "permission", r) }

func (r QuestionRequest) MarshalJSON() ([]byte, error)     { return encode(nil, &r), nil }
func (r *QuestionRequest) UnmarshalJSON(data []byte) error { return decodeNew(data, "question", r) }

func (m Command) MarshalJSON() ([]byte, error)     { return encode(nil, &m), nil }
func (m *Command) UnmarshalJSON(data []byte) error { return decodeNew(data, "command", m) }

func (s Skill) MarshalJSON() ([]byte, error)     { return encode(nil, &s), nil }
func (s *Skill) UnmarshalJSON(data []byte) error { return decodeNew(data, "skill", s) }

func (e Event) MarshalJSON() ([]byte, error)     { return encode(nil, &e), nil }
func (e *Event) UnmarshalJSON(data []byte) error { return decodeNew(data, "event", e) }

func (s SessionSummary) MarshalJSON() ([]byte, error)     { return encode(nil, &s), nil }
func (s *SessionSummary) UnmarshalJSON(data []byte) error { return decodeNew(data, "summary", s) }

func (s Share) MarshalJSON() ([]byte, error)     { return encode(nil, &s), nil }
func (s *Share) UnmarshalJSON(data []byte) error { return decodeNew(data, "share", s) }

func (r Revert) MarshalJSON() ([]byte, error)     { return encode(nil, &r), nil }
func (r *Revert) UnmarshalJSON(data []byte) error { return decodeNew(data, "revert", r) }

func (m SessionModel) MarshalJSON() ([]byte, error)     { return encode(nil, &m), nil }
func (m *SessionModel) UnmarshalJSON(data []byte) error { return decodeNew(data, "model", m) }

func (m ModelRef) MarshalJSON() ([]byte, error)     { return encode(nil, &m), nil }
func (m *ModelRef) UnmarshalJSON(data []byte) error { return decodeNew(data, "model", m) }

func (t Tokens) MarshalJSON() ([]byte, error)     { return encode(nil, &t), nil }
func (t *Tokens) UnmarshalJSON(data []byte) error { return decodeNew(data, "tokens", t) }

func (r Rule) MarshalJSON() ([]byte, error)     { return encode(nil, &r), nil }
func (r *Rule) UnmarshalJSON(data []byte) error { return decodeNew(data, "rule", r) }

func (p Part) MarshalJSON() ([]byte, error)     { return encode(nil, &p), nil }
func (p *Part) UnmarshalJSON(data []byte) error { return decodeNew(data, "part", p) }

func (p Project) MarshalJSON() ([]byte, error)     { return encode(nil, &p), nil }
func (p *Project) UnmarshalJSON(data []byte) error { return decodeNew(data, "project", p) }

func (p *Prompt) UnmarshalJSON(data []byte) error { return decodeNew(data, "prompt", p) }

func (m *CommandCall) UnmarshalJSON(data []byte) error { return decodeNew(data, "command", m) }

func (s Session) MarshalJSON() ([]byte, error)     { return encode(nil, &s), nil }
func (s *Session) UnmarshalJSON(data []byte) error { return decodeNew(data, "session", s) }

func (s Status) MarshalJSON() ([]byte, error)     { return encode(nil, &s), nil }
func (s *Status) UnmarshalJSON(data []byte) error { return decodeNew(data, "status", s) }

func (t Todo) MarshalJSON() ([]byte, error)     { return encode(nil, &t), nil }
func (t *Todo) UnmarshalJSON(data []byte) error { return decodeNew(data, "todo", t) }

func (d FileDiff) MarshalJSON() ([]byte, error)     { return encode(nil, &d), nil }
func (d *FileDiff) UnmarshalJSON(data []byte) error { return decodeNew(data, "diff", d) }

// decodeNew is decode into an empty record.
func decodeNew[T any, P interface {
	*T
	record
}](data []byte, what string, p P) error {
	*p = *new(T)
	return decode(data, what, p)
}
