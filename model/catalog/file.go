package catalog

import (
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"slices"
	"sync"

	"github.com/lathe-agent/lathe"
)

// File is a layer from a file in the form of models.dev. A provider in it replaces the one
// below with all its models. A file that does not exist changes nothing.
func File(path string) Layer {
	read := sync.OnceValues(func() (*parsed, error) {
		src, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return &parsed{}, nil
		}
		if err != nil {
			return &parsed{}, lathe.Errorf(lathe.Unavailable, "read the model catalog: %w", err)
		}
		return split(src)
	})
	return Layer{
		ids: func() []string { p, _ := read(); return slices.Collect(maps.Keys(p.raw)) },
		err: func() error { _, err := read(); return err },
		one: func(id string, below func() answer) answer {
			file, _ := read()
			if p := file.provider(id); p != nil {
				return answer{provider: p}
			}
			return below()
		},
	}
}

// parsed is a file of which only the outermost object has been read: most programs ask for
// one provider of more than a hundred.
type parsed struct {
	raw  map[string]json.RawMessage
	done sync.Map // id → *Provider
}

// split reads a catalog in the form of models.dev as far as its providers.
func split(src []byte) (*parsed, error) {
	var p parsed
	if err := json.Unmarshal(src, &p.raw); err != nil || p.raw == nil {
		return &parsed{}, lathe.Errorf(lathe.Invalid, "invalid model catalog: %w; run \"lathe models --refresh\" to download it again", orNot(err))
	}
	return &p, nil
}

// provider reads one; nil if there is none or it has no models. Members of a wrong type are
// as if they were absent.
func (f *parsed) provider(id string) *Provider {
	if p, ok := f.done.Load(id); ok {
		return p.(*Provider)
	}
	var entry struct {
		Name   string            `json:"name"`
		Env    []string          `json:"env"`
		API    string            `json:"api"`
		NPM    string            `json:"npm"`
		Models map[string]*Model `json:"models"`
	}
	raw := f.raw[id]
	if id == "" || len(raw) == 0 || isSyntax(json.Unmarshal(raw, &entry)) {
		return nil
	}
	maps.DeleteFunc(entry.Models, func(key string, m *Model) bool { return key == "" || m == nil || m.APIID == "" })
	if len(entry.Models) == 0 {
		return nil
	}
	p := &Provider{ID: id, Name: entry.Name, Env: entry.Env, API: entry.API, NPM: entry.NPM, Models: entry.Models}
	p.finish()
	first, _ := f.done.LoadOrStore(id, p)
	return first.(*Provider)
}

func isSyntax(err error) bool {
	var syntax *json.SyntaxError
	return errors.As(err, &syntax)
}

func orNot(err error) error {
	if err == nil {
		return errors.New("it is null")
	}
	return err
}
