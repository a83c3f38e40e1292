package lathe

// The records that are also stored or sent on their own.

// MarshalJSON writes the summary as the wire has it.
func (s SessionSummary) MarshalJSON() ([]byte, error) { return encode(nil, &s), nil }

// UnmarshalJSON reads a summary.
func (s *SessionSummary) UnmarshalJSON(data []byte) error {
	*s = SessionSummary{}
	return decode(data, "summary", s)
}

// MarshalJSON writes the share as the wire has it.
func (s Share) MarshalJSON() ([]byte, error) { return encode(nil, &s), nil }

// UnmarshalJSON reads a share.
func (s *Share) UnmarshalJSON(data []byte) error {
	*s = Share{}
	return decode(data, "share", s)
}

// MarshalJSON writes the revert as the wire has it.
func (r Revert) MarshalJSON() ([]byte, error) { return encode(nil, &r), nil }

// UnmarshalJSON reads a revert.
func (r *Revert) UnmarshalJSON(data []byte) error {
	*r = Revert{}
	return decode(data, "revert", r)
}

// MarshalJSON writes the model as the wire has it.
func (m SessionModel) MarshalJSON() ([]byte, error) { return encode(nil, &m), nil }

// UnmarshalJSON reads a model.
func (m *SessionModel) UnmarshalJSON(data []byte) error {
	*m = SessionModel{}
	return decode(data, "model", m)
}

// MarshalJSON writes the model as the wire has it.
func (m ModelRef) MarshalJSON() ([]byte, error) { return encode(nil, &m), nil }

// UnmarshalJSON reads a model.
func (m *ModelRef) UnmarshalJSON(data []byte) error {
	*m = ModelRef{}
	return decode(data, "model", m)
}

// MarshalJSON writes the tokens as the wire has it.
func (t Tokens) MarshalJSON() ([]byte, error) { return encode(nil, &t), nil }

// UnmarshalJSON reads a tokens.
func (t *Tokens) UnmarshalJSON(data []byte) error {
	*t = Tokens{}
	return decode(data, "tokens", t)
}

// MarshalJSON writes the rule as the wire has it.
func (r Rule) MarshalJSON() ([]byte, error) { return encode(nil, &r), nil }

// UnmarshalJSON reads a rule.
func (r *Rule) UnmarshalJSON(data []byte) error {
	*r = Rule{}
	return decode(data, "rule", r)
}
