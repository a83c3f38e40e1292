package server

import (
	"log/slog"

	"github.com/lathe-agent/lathe/internal/phrase"
)

// Folders are the server's folders that clients can ask for.
type Folders struct {
	Home, State, Config string
	// Excludes returns the user's global git ignore file; nil means none.
	Excludes func() string
}

func (f Folders) excludes() string {
	if f.Excludes == nil {
		return ""
	}
	return f.Excludes()
}

// pathAPI serves the server's folders, and writes log lines for clients.
type pathAPI struct {
	folders Folders
	log     *slog.Logger
}

func (a pathAPI) routes() []row {
	return []row{
		answer(route("GET /path", "path.get", "instance", mayRead,
			"Get the folders of the server and the project of the directory", []failure{failsBad}), a.paths),
		answer(route("POST /log", "app.log", "control", mayAll, "Write a line to the server log", []failure{failsBad}), a.writeLog),
	}
}

type pathReply struct {
	Home      string `json:"home"`
	State     string `json:"state"`
	Config    string `json:"config"`
	Worktree  string `json:"worktree"`
	Directory string `json:"directory"`
}

func (pathReply) schemaName() string { return "Path" }

func (a pathAPI) paths(c *call, _, _ none) (pathReply, error) {
	at, _, err := c.place()
	f := a.folders
	return pathReply{Home: f.Home, State: f.State, Config: f.Config, Worktree: at.Worktree, Directory: at.Directory}, err
}

type logBody struct {
	Service string `json:"service"`
	Level   string `json:"level" enum:"debug,info,warn,error"`
	Message string `json:"message"`
	Extra   object `json:"extra,omitempty"`
}

// writeLog writes a client's message to the log, shortened to one line.
func (a pathAPI) writeLog(c *call, _ none, in logBody) (bool, error) {
	var level slog.Level
	switch in.Level {
	case "debug":
		level = slog.LevelDebug
	case "info":
	case "warn":
		level = slog.LevelWarn
	case "error":
		level = slog.LevelError
	default:
		return false, badRequest("Body", "Expected debug, info, warn or error, got %q at [\"level\"]", phrase.Shorten(in.Level, 40))
	}
	const most = 8 << 10
	attrs := []slog.Attr{slog.String("client", phrase.Shorten(in.Service, 100))}
	if len(in.Extra) > 0 {
		attrs = append(attrs, slog.String("extra", phrase.Shorten(string(in.Extra), most)))
	}
	a.log.LogAttrs(c.Context(), level, phrase.Shorten(in.Message, most), attrs...)
	return true, nil
}
