package catalog

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/lathe-agent/lathe"
)

// Layer is one source of the catalog over those before it. One that is shared by several
// catalogs is read once.
type Layer struct {
	ids func() []string
	err func() error // why nothing could be read
	// one makes a provider, from the layers below it if necessary.
	one func(id string, below func() answer) answer
}

func embeddedLayer() Layer {
	return Layer{
		ids: func() []string { return slices.Collect(maps.Keys(embedded())) },
		err: func() error { return nil },
		one: func(id string, _ func() answer) answer { return answer{provider: embedded()[id]} },
	}
}

// UnmarshalJSON reads an entry. Members of a wrong type are as if they were absent.
func (m *Model) UnmarshalJSON(b []byte) error {
	if err := m.decode(b); isSyntax(err) {
		return err
	}
	return nil
}

// decode sets the members of the entry and leaves the others. It also sets the defaults of a
// new model.
func (m *Model) decode(b []byte) error {
	type plain Model
	if m.APIID == "" {
		m.ToolCall, m.Status = true, Active
	}
	levels, tiers := m.Levels, m.Cost.Tiers
	m.Levels, m.Cost.Tiers = nil, nil // lists are replaced, not written into
	err := json.Unmarshal(b, (*plain)(m))
	if m.Levels == nil {
		m.Levels = levels
	}
	if m.Cost.Tiers == nil {
		m.Cost.Tiers = tiers
	}
	return err
}

// Config is a layer from the provider section of the config, an object by provider id. An entry
// changes the existing one, member by member.
func Config(section json.RawMessage) Layer {
	read := sync.OnceValues(func() (entries map[string]*entry, err error) {
		if len(section) > 0 {
			if bad := json.Unmarshal(section, &entries); bad != nil {
				err = lathe.Errorf(lathe.Invalid, "config: provider%s", typeMismatch(bad))
			}
		}
		return entries, err
	})
	return Layer{
		ids: func() []string { entries, _ := read(); return slices.Collect(maps.Keys(entries)) },
		err: func() error { _, err := read(); return err },
		one: func(id string, below func() answer) answer {
			out := below()
			entries, _ := read()
			if e := entries[id]; e != nil && id != "" {
				p, errs := e.onto(out.provider, id)
				out = answer{p, append(out.errs, errs...)}
			}
			return out
		},
	}
}

// entry is a provider in the config.
type entry struct {
	Name      string                     `json:"name"`
	Env       []string                   `json:"env"`
	API       string                     `json:"api"`
	NPM       string                     `json:"npm"`
	Whitelist []string                   `json:"whitelist"`
	Blacklist []string                   `json:"blacklist"`
	Options   Options                    `json:"options"`
	Models    map[string]json.RawMessage `json:"models"`
}

// onto returns a provider that has what the entry says and the rest from base, which may be
// nil and is not changed.
func (e *entry) onto(base *Provider, id string) (*Provider, []error) {
	if base == nil {
		base = &Provider{ID: id}
	}
	p := *base
	p.Configured = true
	set(&p.Name, e.Name)
	set(&p.API, e.API)
	set(&p.NPM, e.NPM)
	if e.Env != nil {
		p.Env = e.Env
	}
	if e.Whitelist != nil {
		p.Whitelist = e.Whitelist
	}
	if e.Blacklist != nil {
		p.Blacklist = e.Blacklist
	}
	p.Options = merged(p.Options, e.Options)
	p.Models = make(map[string]*Model, len(base.Models)+len(e.Models))
	for key, m := range base.Models {
		p.Models[key] = m.clone()
	}
	var errs []error
	for _, key := range slices.Sorted(maps.Keys(e.Models)) {
		if key == "" {
			continue
		}
		m := p.Models[key]
		if m == nil {
			m = &Model{}
			p.Models[key] = m
		}
		m.FromConfig = true
		if err := m.decode(e.Models[key]); err != nil {
			errs = append(errs, lathe.Errorf(lathe.Invalid, "config: provider.%s.models.%s%s", id, key, typeMismatch(err)))
		}
	}
	p.finish()
	return &p, errs
}

func set(to *string, v string) {
	if v != "" {
		*to = v
	}
}

// merged returns a map of both; over wins.
func merged[V any](base, over map[string]V) map[string]V {
	if len(over) == 0 {
		return base
	}
	out := make(map[string]V, len(base)+len(over))
	maps.Copy(out, base)
	maps.Copy(out, over)
	return out
}

// clone copies what decoding onto a model would write into.
func (m *Model) clone() *Model {
	out := *m
	out.Cost = m.Cost.clone()
	out.Modalities = Modalities{Input: slices.Clone(m.Modalities.Input), Output: slices.Clone(m.Modalities.Output)}
	out.Options, out.Headers = maps.Clone(m.Options), maps.Clone(m.Headers)
	out.ConfigVariants, out.Experimental.Modes = maps.Clone(m.ConfigVariants), maps.Clone(m.Experimental.Modes)
	return &out
}

func (c Cost) clone() Cost {
	c.Tiers = slices.Clone(c.Tiers)
	if c.Over200K != nil {
		over := *c.Over200K
		c.Over200K = &over
	}
	return c
}

// finish gives the provider and its models what follows from the rest of them.
func (p *Provider) finish() {
	v := VendorOf(p.ID)
	p.Name = cmp.Or(p.Name, v.Name, p.ID)
	p.NPM = cmp.Or(p.NPM, v.NPM, Compatible)
	p.API = cmp.Or(p.API, v.API)
	if p.Env == nil {
		p.Env = v.Env
	}
	for _, id := range slices.Sorted(maps.Keys(p.Models)) {
		p.Models[id].finish(p, id)
		p.addModes(p.Models[id])
	}
}

func (m *Model) finish(p *Provider, id string) {
	m.ID, m.Provider = id, p.ID
	m.APIID = cmp.Or(m.APIID, id)
	m.Name = cmp.Or(m.Name, id)
	m.NPM, m.API = cmp.Or(m.Override.NPM, p.NPM), cmp.Or(m.Override.API, p.API)
	m.Status = cmp.Or(m.Status, Active)
	m.Cost.clean()
	m.Limit.clean()
}

// addModes makes a model of each mode of one.
func (p *Provider) addModes(m *Model) {
	for name, mode := range m.Experimental.Modes {
		id := m.ID + "-" + name
		if p.Models[id] != nil || name == "" {
			continue
		}
		out := m.clone()
		out.Experimental = Experimental{}
		out.ID, out.Name = id, fmt.Sprintf("%s (%s)", m.Name, name)
		if mode.Cost != nil {
			out.Cost = mode.Cost.clone()
			out.Cost.clean()
		}
		out.Options = merged(out.Options, mode.Provider.Body)
		out.Headers = merged(out.Headers, mode.Provider.Headers)
		p.Models[id] = out
	}
}

// typeMismatch says for people which member does not fit.
func typeMismatch(err error) string {
	var kind *json.UnmarshalTypeError
	if errors.As(err, &kind) {
		return fmt.Sprintf(".%s cannot be a %s", kind.Field, kind.Value)
	}
	return ": " + err.Error()
}
