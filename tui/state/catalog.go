package state

import (
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tui/host"
)

// Agent looks an agent up, nil for one that is not known.
func (st *State) Agent(name string) *lathe.Agent {
	for i := range st.Agents {
		if st.Agents[i].Name == name {
			return &st.Agents[i]
		}
	}
	return nil
}

// IsOffered reports whether a person may talk to an agent.
func IsOffered(a lathe.Agent) bool { return a.Mode != lathe.Subagent && !a.Hidden.On() }

// ModelKey names a model as provider/model.
func ModelKey(ref lathe.ModelRef) string { return ref.Provider + "/" + ref.Model }

// FindModel looks a model up among those that can be used.
func (st *State) FindModel(ref lathe.ModelRef) (host.Model, bool) {
	for _, pr := range st.Providers.Connected {
		if pr.ID != ref.Provider {
			continue
		}
		for _, m := range pr.Models {
			if m.Ref.Model == ref.Model {
				return m, true
			}
		}
	}
	return host.Model{}, false
}

// ModelName is the name of a model for people.
func (st *State) ModelName(ref lathe.ModelRef) string {
	if m, ok := st.FindModel(ref); ok {
		return m.Name
	}
	return ref.Model
}

// ModelNames is ModelName for use beside the screen.
func (st *State) ModelNames() func(lathe.ModelRef) string {
	names := map[string]string{}
	for _, pr := range st.Providers.Connected {
		for _, m := range pr.Models {
			names[ModelKey(m.Ref)] = m.Name
		}
	}
	return func(r lathe.ModelRef) string {
		if n := names[ModelKey(r)]; n != "" {
			return n
		}
		return r.Model
	}
}

// ServerCounts is how many servers of tools work, and how many should and do not.
func (st *State) ServerCounts() (good, bad int) {
	for _, s := range st.Servers {
		switch s.Status {
		case "connected":
			good++
		case "failed", "needs_auth", "needs_client_registration":
			bad++
		}
	}
	return good, bad
}

// Tilde writes a path as people do.
func (st *State) Tilde(path string) string {
	if h := st.Info.Home; h != "" && (path == h || strings.HasPrefix(path, h+"/")) {
		return "~" + path[len(h):]
	}
	return path
}
