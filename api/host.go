package api

import (
	"context"

	"github.com/lathe-agent/lathe"
)

// Host has the operations around an engine that an interactive front end needs: providers and
// logins, the permission mode, files and version control, shared pages. client.Client is one;
// for an engine of this process the program that opened it is.
type Host interface {
	Reports
	Languages
	Worktrees
	Providers(ctx context.Context, dir string) (lathe.Providers, error)
	// LoginMethods returns the login methods by provider. A provider without an entry takes an API key.
	LoginMethods(ctx context.Context, dir string) (map[string][]lathe.LoginMethod, error)
	// CheckKey asks a provider whether it accepts a key; SetKey saves one.
	CheckKey(ctx context.Context, dir, provider, key string) (KeyCheck, error)
	SetKey(ctx context.Context, provider, key string) error
	// Authorize begins a login of the given method; CompleteLogin waits for its end, with the code that the
	// page showed if it did.
	Authorize(ctx context.Context, dir, provider string, method int) (lathe.Authorization, error)
	CompleteLogin(ctx context.Context, dir, provider string, method int, code string) error

	ToolServers(ctx context.Context, dir string) ([]lathe.ToolServer, error)
	// ConnectTools switches an MCP server on or off.
	ConnectTools(ctx context.Context, dir, name string, on bool) error

	Info(ctx context.Context, dir string) (Info, error)
	// SetMode changes the permission mode of the user, and returns the one that counts in the directory.
	SetMode(ctx context.Context, dir string, m lathe.Mode) (lathe.Mode, error)
	// FindFiles returns files and folders (with a slash at their end) whose path fits a query, best first.
	FindFiles(ctx context.Context, dir, query string, limit int) ([]string, error)
	// Changes returns the differences that version control reports.
	Changes(ctx context.Context, dir string, from Source) ([]lathe.FileDiff, error)

	// Share gives a session an address at which others can read it; Unshare removes it.
	Share(ctx context.Context, id lathe.SessionID) (lathe.Session, error)
	Unshare(ctx context.Context, id lathe.SessionID) (lathe.Session, error)
}

// Source says against what the files of a directory are compared.
type Source string

// The sources of changes.
const (
	Uncommitted Source = "git"    // the last commit
	SinceBranch Source = "branch" // where the branch left the default one
)

// Info describes the place of an engine.
type Info struct {
	Directory     string // as the engine knows it
	Home          string // of the user there, for ~
	Branch        string
	Version       string
	Trusted       bool   // whether the config of the project counts
	ConfigProblem string // a sentence about skipped config files of the project; "" if none was
	Remote        bool   // whether the directory is on another machine, so that its files cannot be opened here

	Mode       lathe.Mode // "" is not known
	Confined   bool       // whether a kernel sandbox holds commands, as far as it is known
	ChooseMode bool       // whether this is the first start and the user must choose a mode

	Limits Limits
}

// ConnectionChanged says that the connection to the engine is lost, and is being sought; without Err, that it was found.
type ConnectionChanged struct{ Err error }

// Error says so.
func (b *ConnectionChanged) Error() string {
	if b.Err == nil {
		return "reconnected"
	}
	return "connection lost: " + b.Err.Error()
}

// Unwrap is what broke it.
func (b *ConnectionChanged) Unwrap() error { return b.Err }

// KeyCheck is a provider's verdict on an API key.
type KeyCheck struct {
	// Verdict is works, refused (a wrong key), no-credit, unreachable (no network, or the provider is down) or
	// unchecked (no cheap request tells).
	Verdict string `json:"verdict" enum:"works,refused,no-credit,unreachable,unchecked"`
	Detail  string `json:"detail"`
}

// IsRefused reports whether the key is wrong, so that it should not be saved.
func (c KeyCheck) IsRefused() bool { return c.Verdict == "refused" }

// Warning is a sentence for a user whose key was saved although it may not work now, "" if there is nothing to say.
func (c KeyCheck) Warning() string {
	switch c.Verdict {
	case "no-credit":
		return "The account has no credit or quota left (" + c.Detail + ")"
	case "unreachable":
		return "The key could not be checked (" + c.Detail + ")"
	}
	return ""
}
