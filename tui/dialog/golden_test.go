package dialog_test

import (
	"testing"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/tui/dialog"
	"github.com/lathe-agent/lathe/tui/key"
	"github.com/lathe-agent/lathe/tui/style"
	"github.com/lathe-agent/lathe/tui/styletest"
)

var (
	acme      = lathe.Provider{ID: "acme", Name: "Acme", Env: []string{"ACME_API_KEY"}}
	providers = lathe.Providers{
		Connected: []lathe.Provider{{ID: "openai", Name: "OpenAI"}},
		All:       []lathe.Provider{{ID: "zeta", Name: "Zeta"}, {ID: "openai", Name: "OpenAI", Env: []string{"OPENAI_API_KEY"}}, acme, {ID: "anthropic", Name: "Anthropic"}},
	}
	servers = []lathe.ToolServer{
		{Name: "files", Status: "connected", Tools: 12},
		{Name: "web", Status: "failed", Error: "exit status 1: no such module"},
		{Name: "tracker", Status: "needs_auth"},
		{Name: "old", Status: "disabled"},
	}
	page = lathe.Authorization{URL: "https://login.example/device?client=abc&scope=everything&state=0123456789abcdef0123456789abcdef", Instructions: "Enter the code ABCD-1234."}
)

// every makes each dialog there is.
func every(m *key.Map) map[string]opened {
	pink := func(lathe.Agent) style.Color { return style.Hex(0xff88aa) }
	return map[string]opened{
		"sessions":  dialog.NewSessions(m, someSessions(), someSessions().Preview),
		"subagents": dialog.NewSubagents(m, dialog.Sessions{List: []lathe.Session{{ID: "ses_c", Title: "Look for uses", Agent: "explore", Updated: ago(time.Hour)}}, Now: now}),
		"rename":    dialog.NewRename(m, "Fix the parser"),
		"share":     dialog.NewShareConsent(m),
		"models":    dialog.NewModels(m, someModels()),
		"variants":  dialog.NewVariants(m, []string{"low", "high"}, "high"),
		"agents": dialog.NewAgents(m, []lathe.Agent{
			{Name: "build", Description: "Changes files and runs commands", Native: lathe.Yes},
			{Name: "plan", Description: "Reads and thinks; changes nothing"},
			{Name: "hidden", Hidden: lathe.Yes},
			{Name: "explore", Mode: lathe.Subagent},
		}, "plan", pink),
		"themes":    dialog.NewThemes(m, []string{"lathe", "nord", "system"}, "nord"),
		"providers": dialog.NewProviders(m, providers),
		"methods":   dialog.NewMethods(m, acme, []lathe.LoginMethod{{Type: "oauth", Label: "Acme account"}, {Label: "Key"}}),
		"key":       dialog.NewKeyInput(m, acme, "on this machine"),
		"code":      dialog.NewCodeInput(m, acme, page),
		"login":     dialog.NewLoginWait(m, acme, page),
		"mcps":      dialog.NewToolServers(m, servers),
		"skills":    dialog.NewSkills(m, []lathe.Skill{{Name: "release", Description: "How to make a release"}, {Name: "review"}}),
		"timeline":  dialog.NewTimeline(m, someMessages(), now),
		"actions":   dialog.NewMessageActions(m),
		"fork":      dialog.NewFork(m, someMessages(), now),
		"export":    dialog.NewExport(m, "session-1.md"),
		"stash":     dialog.NewStash(m, []dialog.Stashed{{Text: "first\nsecond", At: now.Add(-time.Hour)}, {Text: "later", Files: 2, At: now.Add(-dayLong)}}, now),
		"palette": dialog.NewPalette(m, []dialog.Action{
			{ID: "new", Key: key.SessionNew, Title: "New session", Group: "Session", Slash: "/new", Suggested: true},
			{ID: "models", Key: key.ModelList, Title: "Switch model", Group: "Model", Slash: "/models", Suggested: true},
			{ID: "rename", Key: key.SessionRename, Title: "Rename session", Group: "Session", Slash: "/rename"},
		}),
		"queued":  dialog.NewQueued(m, someMessages(), now),
		"status":  dialog.NewStatus(m, dialog.Status{Info: api.Info{Version: "1.2.3", Directory: "/home/dev/app", Branch: "main"}, Session: "ses_1", Model: "acme/large-3", Providers: []lathe.Provider{acme}, Servers: servers, Others: []dialog.StatusSection{{Title: "Plugins", Lines: []string{"notify"}}}}),
		"help":    dialog.NewHelp(m),
		"empty":   dialog.NewSkills(m, nil),
		"confirm": dialog.NewConfirm(m, dialog.ConfirmOptions{Title: "Stop the turn?", Text: "What it did so far stays."}),
	}
}

func TestDialogs_Golden(t *testing.T) {
	for name, d := range every(styletest.Keys(t)) {
		t.Run(name, func(t *testing.T) { golden(t, name, d) })
	}
}

func TestList_GoldenFiltered(t *testing.T) {
	l := dialog.NewModels(styletest.Keys(t), someModels())
	frame(t, l, 80, 30)
	write(l, "lar")
	golden(t, "models-filtered", l)
	write(l, "zzz")
	golden(t, "models-nothing", l)

	s := dialog.NewSessions(styletest.Keys(t), someSessions(), someSessions().Preview)
	send(s, "ctrl+d")
	golden(t, "sessions-deleting", s)
}
