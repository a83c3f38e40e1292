package server

import (
	"encoding/json"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
)

// reportAPI serves what the program tells about itself. A backend without reports refuses.
type reportAPI struct{ reports api.Reports }

// checkQuery names a health check, as the list of checks does.
type checkQuery struct {
	Name string `query:"name"`
}

// settingBody is a change of one setting. Its key has dots.
type settingBody struct {
	Key   string          `json:"key"`
	Value json.RawMessage `json:"value,omitempty"` // absent or null removes the setting
}

// routes are all below /lathe, because OpenCode has nothing like them.
func (a reportAPI) routes() []row {
	bad, missing := []failure{failsBad}, []failure{failsBad, failsMissing}
	rows := []row{
		answer(route("GET /lathe/session/{sessionID}/context", "lathe.session.context", "lathe", mayRead,
			"Get the contents of the context window by kind, in tokens", missing),
			ofSession(func(c *call, rec lathe.Session, _, _ none) (api.ContextUse, error) {
				return a.reports.ContextUse(c.Context(), rec.ID)
			})),
		answer(route("GET /lathe/session/{sessionID}/cost", "lathe.session.cost", "lathe", mayRead,
			"Get the cost of a session by model, with subagents, today's cost and the budgets", missing),
			ofSession(func(c *call, rec lathe.Session, _, _ none) (api.SessionCost, error) {
				return a.reports.SessionCost(c.Context(), rec.ID)
			})),
		answer(route("GET /lathe/session/{sessionID}/usage", "lathe.session.usage", "lathe", mayRead,
			"Get where the time and the money of a session went, by prompt, model and tool, with failures and cache misses", missing),
			ofSession(func(c *call, rec lathe.Session, _, _ none) (api.SessionUsage, error) {
				return a.reports.SessionUsage(c.Context(), rec.ID)
			})),
		answer(route("GET /lathe/settings", "lathe.settings", "lathe", mayAll,
			"List the config of the directory by key, with help, value and origin; secrets are masked", bad),
			atDirectory(func(c *call, dir string, _, _ none) ([]api.Setting, error) {
				return a.reports.Settings(c.Context(), dir)
			})),
		answer(route("PATCH /lathe/settings", "lathe.settings.change", "lathe", mayAll,
			"Write one setting to the user's config file, or remove it with null", missing),
			atDirectory(func(c *call, dir string, _ none, in settingBody) (none, error) {
				if in.Value == nil {
					in.Value = json.RawMessage("null")
				}
				return none{}, a.reports.ChangeSetting(c.Context(), dir, in.Key, in.Value)
			})),
		answer(route("GET /lathe/checks", "lathe.checks", "lathe", mayAll, "List the health checks of the directory", bad),
			atDirectory(func(c *call, dir string, _, _ none) ([]string, error) { return a.reports.Checks(c.Context(), dir) })),
		answer(route("GET /lathe/check", "lathe.check", "lathe", mayAll, "Run one health check", missing),
			atDirectory(func(c *call, dir string, q checkQuery, _ none) (api.Check, error) {
				return a.reports.Check(c.Context(), dir, q.Name)
			})),
		answer(route("GET /lathe/memory", "lathe.memory", "lathe", mayAll, "List the instruction files of the directory", bad),
			atDirectory(func(c *call, dir string, _, _ none) ([]api.MemoryFile, error) {
				return a.reports.MemoryFiles(c.Context(), dir)
			})),
		answer(route("POST /lathe/memory", "lathe.memory.edit", "lathe", mayAll,
			"Add a line to an instruction file of the directory, or remove it again", bad),
			atDirectory(func(c *call, dir string, _ none, in api.MemoryEdit) (api.MemoryFile, error) {
				return a.reports.EditMemory(c.Context(), dir, in)
			})),
	}
	if a.reports == nil {
		for i := range rows {
			rows[i].run = func(*call) error { return lathe.Errorf(lathe.Unavailable, "this server makes no reports") }
		}
	}
	return rows
}

// atDirectory is a function for [answer] that is about the directory of the request, which is opened first.
func atDirectory[Q, In, Out any](f func(c *call, dir string, q Q, in In) (Out, error)) func(c *call, q Q, in In) (Out, error) {
	return func(c *call, q Q, in In) (out Out, err error) {
		at, _, err := c.place()
		if err != nil {
			return out, err
		}
		return f(c, at.Directory, q, in)
	}
}
