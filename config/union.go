package config

import (
	"encoding/json"
	"slices"

	"github.com/lathe-agent/lathe"
)

// Settings that may be written in more than one way. What they accept is in the table,
// which is asked before; here it only gets its type.

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
		return lathe.Errorf(lathe.Invalid, "a plugin needs a name")
	}
	if len(pair) > 1 {
		p.Options = pair[1]
	}
	return json.Unmarshal(pair[0], &p.Name)
}

// UnmarshalJSON reads true, false or an object.
func (s *Snapshot) UnmarshalJSON(data []byte) error {
	if startsWith(data, '{') {
		type plain Snapshot
		return json.Unmarshal(data, (*plain)(s))
	}
	return json.Unmarshal(data, &s.Enabled)
}

// UnmarshalJSON reads true, false, or an object with options and servers by name.
func (l *LSP) UnmarshalJSON(data []byte) (err error) {
	if !startsWith(data, '{') {
		l.Off = string(data) == "false"
		return nil
	}
	type plain LSP
	if err := json.Unmarshal(data, (*plain)(l)); err != nil {
		return err
	}
	l.Servers, err = named[LSPServer](data, "install", "memory")
	return err
}

// UnmarshalJSON reads true, false, or an object with options and formatters by name.
func (f *Formatters) UnmarshalJSON(data []byte) (err error) {
	if !startsWith(data, '{') {
		f.Off = string(data) == "false"
		return nil
	}
	type plain Formatters
	if err := json.Unmarshal(data, (*plain)(f)); err != nil {
		return err
	}
	f.ByName, err = named[Formatter](data, "scope")
	return err
}

// named reads the members of an object, except some.
func named[V any](data []byte, except ...string) (map[string]V, error) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(data, &all); err != nil {
		return nil, err
	}
	out := map[string]V{}
	for name, raw := range all {
		if slices.Contains(except, name) {
			continue
		}
		var one V
		if err := json.Unmarshal(raw, &one); err != nil {
			return nil, err
		}
		out[name] = one
	}
	return out, nil
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

// Text is an option that is a string, "" if it is not there or something else.
func (o ProviderOptions) Text(name string) (text string) {
	_ = json.Unmarshal(o[name], &text) // nothing is no string
	return text
}

func startsWith(data []byte, c byte) bool { return len(data) > 0 && data[0] == c }
