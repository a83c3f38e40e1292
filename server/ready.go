package server

import (
	"context"
	"net/http"

	"github.com/lathe-agent/lathe"
)

// Node is the server as one of a cluster. The zero value is a server of its own.
type Node struct {
	// Live and Ready return nil, at once, if the process works and if clients should be sent to it. They may be nil.
	Live  func() error
	Ready func() error
	// Warnings say what is wrong with a node that is ready. It may be nil.
	Warnings func() []string
	// Find returns the URL of the node with a directory, "" for this one. With one, all nodes find the same for as long
	// as that node runs. The error is [lathe.Unavailable] if no node with the directory runs. It may be nil.
	Find func(ctx context.Context, directory string, one bool) (address string, err error)
}

// probeAPI answers load balancers and supervisors, which have no password. The reason is only for clients with it.
type probeAPI struct {
	node  Node
	guard *guard
}

func (a probeAPI) routes() []row {
	return []row{
		answer(route("GET /lathe/live", "lathe.live", "lathe", anyone,
			"Check that the process works; 503 asks for a restart", []failure{failsDown}, withoutDirectory), a.answer(a.node.Live, nil)),
		answer(route("GET /lathe/ready", "lathe.ready", "lathe", anyone,
			"Check that this node can take requests; 503 if not", []failure{failsDown}, withoutDirectory), a.answer(a.node.Ready, a.node.Warnings)),
	}
}

// probeReply is the body of a good answer.
type probeReply struct {
	OK       bool     `json:"ok"`
	Warnings []string `json:"warnings,omitempty"`
}

func (a probeAPI) answer(check func() error, warnings func() []string) func(*call, none, none) (probeReply, error) {
	return func(c *call, _ none, _ none) (probeReply, error) {
		c.w.Header().Set("Cache-Control", "no-store")
		var err error
		if check != nil {
			err = check()
		}
		trusted := a.guard.hasPassword(c.Request)
		switch {
		case err == nil && warnings != nil && trusted:
			return probeReply{OK: true, Warnings: warnings()}, nil
		case err == nil:
			return probeReply{OK: true}, nil
		}
		message := "This node is not ready"
		if trusted {
			message = err.Error()
		}
		return probeReply{}, badStatus(http.StatusServiceUnavailable, string(lathe.Unavailable), message, nil)
	}
}
