package server

import (
	"context"
	"net/http"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/workspace"
	"github.com/lathe-agent/lathe/workspace/terminal"
)

// ptyAPI answers for terminals.
type ptyAPI struct {
	terminals *terminal.Set
	closing   context.Context
	tickets   tickets
}

func (a *ptyAPI) routes() []row {
	one := []failure{failsBad, failsPty}
	return []row{
		answer(route("GET /pty/shells", "pty.shells", "pty", mayAll, "List the available shells", []failure{failsBad}), a.listShells),
		answer(route("GET /pty", "pty.list", "pty", mayAll, "List the terminals of the directory", []failure{failsBad}), inPlace(a.listTerminals)),
		answer(route("POST /pty", "pty.create", "pty", mayAll, "Open a terminal in the directory", []failure{failsBad}), inPlace(a.createTerminal)),
		answer(route("GET /pty/{ptyID}", "pty.get", "pty", mayAll, "Get a terminal", one), a.getTerminal),
		answer(route("PUT /pty/{ptyID}", "pty.update", "pty", mayAll, "Change the title or the size of a terminal", one), a.updateTerminal),
		answer(route("DELETE /pty/{ptyID}", "pty.remove", "pty", mayAll, "Stop a terminal and its processes", one), a.removeTerminal),
		answer(route("POST /pty/{ptyID}/connect-token", "pty.connectToken", "pty", mayAll,
			"Get a ticket for one terminal connection, for clients that cannot send a password", []failure{failsBad, failsPty, failsTicket}, in(atTicket)), a.connectToken),
		// It is public because a ticket is as good as the password; connectTerminal asks for either.
		raw(route("GET /pty/{ptyID}/connect", "pty.connect", "pty", anyone,
			"Connect to a terminal over WebSocket", []failure{failsBad, failsPty, failsTicket}, withoutCompression, in(anywhere)), "application/octet-stream", a.connectTerminal),
	}
}

// terminal finds the terminal that the path names, among those of the directory.
func (a *ptyAPI) terminal(c *call) (workspace.Place, *terminal.Terminal, error) {
	id, err := c.pathID("ptyID", lathe.PrefixPty)
	if err != nil {
		return workspace.Place{}, nil, err
	}
	at, _, err := c.place()
	if err != nil {
		return at, nil, err
	}
	t := a.terminals.Find(at.Directory, lathe.PtyID(id))
	if t == nil {
		return at, nil, &problem{status: http.StatusNotFound, body: taggedBody{Tag: "PtyNotFoundError", Pty: id, Message: "Terminal not found: " + id}}
	}
	return at, t, nil
}

func (a *ptyAPI) listShells(c *call, _, _ none) ([]terminal.Shell, error) {
	if _, _, err := c.place(); err != nil {
		return nil, err
	}
	return a.terminals.Shells(), nil
}

func (a *ptyAPI) listTerminals(c *call, at workspace.Place, _, _ none) ([]lathe.Pty, error) {
	return a.terminals.List(at.Directory), nil
}

type ptyBody struct {
	Command string            `json:"command,omitempty"`
	Args    []string          `json:"args,omitempty"`
	Cwd     string            `json:"cwd,omitempty"`
	Title   string            `json:"title,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
}

func (a *ptyAPI) createTerminal(c *call, at workspace.Place, _ none, in ptyBody) (lathe.Pty, error) {
	return a.terminals.Create(at, terminal.CreateOptions{Command: in.Command, Args: in.Args, Dir: in.Cwd, Title: in.Title, Env: in.Env})
}

func (a *ptyAPI) getTerminal(c *call, _, _ none) (lathe.Pty, error) {
	_, t, err := a.terminal(c)
	if err != nil {
		return lathe.Pty{}, err
	}
	return t.Info(), nil
}

type (
	ptyChange struct {
		Title *string  `json:"title,omitempty"`
		Size  *ptySize `json:"size,omitempty"`
	}
	ptySize struct {
		Rows int `json:"rows"`
		Cols int `json:"cols"`
	}
)

func (a *ptyAPI) updateTerminal(c *call, _ none, in ptyChange) (lathe.Pty, error) {
	_, t, err := a.terminal(c)
	if err == nil && in.Size != nil {
		err = t.Resize(in.Size.Rows, in.Size.Cols)
	}
	if err == nil && in.Title != nil {
		err = t.Rename(*in.Title)
	}
	if err != nil {
		return lathe.Pty{}, err
	}
	return t.Info(), nil
}

func (a *ptyAPI) removeTerminal(c *call, _, _ none) (bool, error) {
	_, t, err := a.terminal(c)
	if err != nil {
		return false, err
	}
	t.Remove()
	return true, nil
}
