package config

import (
	"encoding/json"

	"github.com/lathe-agent/lathe"
)

// Settings that may be written in more than one way. What they accept is in the table,
// which is asked before; here it only gets its type.

// Switched is a set of things that is on, off, or given by name.
type Switched[T any] struct {
	On     bool
	ByName map[string]T
}

// UnmarshalJSON reads true, false or an object.
func (s *Switched[T]) UnmarshalJSON(data []byte) error {
	if startsWith(data, '{') {
		s.On = true
		return json.Unmarshal(data, &s.ByName)
	}
	return json.Unmarshal(data, &s.On)
}

// UnmarshalJSON reads a path, a repository or an object.
func (r *Reference) UnmarshalJSON(data []byte) error {
	if startsWith(data, '"') {
		var short string
		err := json.Unmarshal(data, &short)
		if isPath(short) {
			r.Path = short
		} else {
			r.Repository = short
		}
		return err
	}
	type plain Reference
	return json.Unmarshal(data, (*plain)(r))
}

// UnmarshalJSON reads a name, or an array of name and options.
func (p *Plugin) UnmarshalJSON(data []byte) error {
	if startsWith(data, '"') {
		return json.Unmarshal(data, &p.Name)
	}
	var pair []json.RawMessage
	if err := json.Unmarshal(data, &pair); err != nil {
		return err
	}
	if len(pair) == 0 {
		return lathe.Errorf(lathe.Invalid, "a plugin has a name")
	}
	if len(pair) > 1 {
		p.Options = pair[1]
	}
	return json.Unmarshal(pair[0], &p.Name)
}

// UnmarshalJSON reads true, false or "notify".
func (a *AutoUpdate) UnmarshalJSON(data []byte) error {
	a.Set = true
	if startsWith(data, '"') {
		a.Notify = true
		return nil
	}
	return json.Unmarshal(data, &a.On)
}

// UnmarshalJSON reads true, false or an object.
func (s *Snapshot) UnmarshalJSON(data []byte) error {
	if startsWith(data, '{') {
		type plain Snapshot
		return json.Unmarshal(data, (*plain)(s))
	}
	return json.Unmarshal(data, &s.Enabled)
}

// UnmarshalJSON reads a list of models, or an object.
func (f *Fallback) UnmarshalJSON(data []byte) error {
	if startsWith(data, '[') {
		return json.Unmarshal(data, &f.Models)
	}
	type plain Fallback
	return json.Unmarshal(data, (*plain)(f))
}

// UnmarshalJSON reads a mode, or an object.
func (s *Sandbox) UnmarshalJSON(data []byte) error {
	if startsWith(data, '"') {
		return json.Unmarshal(data, &s.Mode)
	}
	type plain Sandbox
	return json.Unmarshal(data, (*plain)(s))
}

// UnmarshalJSON reads a mode, or an object.
func (s *ServerSandbox) UnmarshalJSON(data []byte) error {
	if startsWith(data, '"') {
		return json.Unmarshal(data, &s.Mode)
	}
	type plain ServerSandbox
	return json.Unmarshal(data, (*plain)(s))
}

// UnmarshalJSON reads a number or false.
func (l *Limit) UnmarshalJSON(data []byte) error {
	if string(data) == "false" {
		l.Off = true
		return nil
	}
	return json.Unmarshal(data, &l.Milliseconds)
}

// UnmarshalJSON reads an object or false.
func (o *OAuth) UnmarshalJSON(data []byte) error {
	if string(data) == "false" {
		o.Off = true
		return nil
	}
	type plain OAuth
	return json.Unmarshal(data, (*plain)(o))
}

// UnmarshalJSON reads true, false, the name of a field, or an object with it.
func (i *Interleaved) UnmarshalJSON(data []byte) error {
	if startsWith(data, 't') || startsWith(data, 'f') {
		return json.Unmarshal(data, &i.On)
	}
	i.On = true
	if startsWith(data, '"') {
		return json.Unmarshal(data, &i.Field)
	}
	type plain Interleaved
	return json.Unmarshal(data, (*plain)(i))
}

// UnmarshalJSON keeps what only the provider knows. Names count letter by letter, which
// the decoder alone does not hold to.
func (o *ProviderOptions) UnmarshalJSON(data []byte) error {
	if err := json.Unmarshal(data, &o.More); err != nil {
		return err
	}
	known := map[string]json.RawMessage{}
	for _, key := range []string{"apiKey", "baseURL", "enterpriseUrl", "setCacheKey", "timeout", "headerTimeout", "chunkTimeout"} {
		if v, ok := o.More[key]; ok {
			known[key] = v
			delete(o.More, key)
		}
	}
	data, err := json.Marshal(known)
	if err != nil {
		return err
	}
	type plain ProviderOptions
	return json.Unmarshal(data, (*plain)(o))
}

func startsWith(data []byte, c byte) bool { return len(data) > 0 && data[0] == c }
