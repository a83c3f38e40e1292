package acp

import (
	"cmp"
	"context"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/acp/wire"
	"github.com/lathe-agent/lathe/internal/jsonrpc"
)

// protocolVersion is the version that this package speaks.
const protocolVersion = 1

// loginMethod is the ID of both ways to log in: in a terminal of the client, or before the editor starts.
const loginMethod = "lathe-login"

// initialize agrees on the version and the capabilities. The backend opens after the answer, so that the client does
// not wait for it.
func (s *server) initialize(ctx context.Context, p wire.InitializeRequest) (wire.InitializeResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.greet()
	if s.client = (wire.ClientCapabilities{}); p.ClientCapabilities != nil {
		s.client = *p.ClientCapabilities
	}
	jsonrpc.AfterReply(ctx, func() {
		s.opening.Go(func() { _, _ = s.open() }) // the request that needs it reports the error
	})
	return wire.InitializeResponse{
		ProtocolVersion: protocolVersion,
		AgentInfo:       &wire.Implementation{Name: "lathe", Title: "lathe", Version: s.Version},
		AuthMethods:     s.authMethods(),
		AgentCapabilities: &wire.AgentCapabilities{
			LoadSession:        true,
			Auth:               &wire.AgentAuthCapabilities{Logout: &wire.LogoutCapabilities{}, Status: &wire.AuthStatusCapabilities{}},
			PromptCapabilities: &wire.PromptCapabilities{Image: true, Audio: true, EmbeddedContext: true},
			MCPCapabilities:    &wire.MCPCapabilities{HTTP: !s.Remote, SSE: !s.Remote},
			SessionCapabilities: &wire.SessionCapabilities{
				List: &wire.SessionListCapabilities{}, Delete: &wire.SessionDeleteCapabilities{}, Resume: &wire.SessionResumeCapabilities{},
				Close: &wire.SessionCloseCapabilities{}, Fork: &wire.SessionForkCapabilities{}, Archive: &wire.SessionArchiveCapabilities{},
				Status: &wire.SessionStatusCapabilities{}, Title: &wire.SessionTitleCapabilities{},
			},
		},
	}, nil
}

// authMethods are the ways to log in. A terminal of the client runs `lathe acp login`.
func (s *server) authMethods() []wire.AuthMethod {
	const name, text = "Log in to a model provider", "Save an API key or log in to a provider in a terminal: lathe auth login"
	if s.client.Auth != nil && s.client.Auth.Terminal {
		return []wire.AuthMethod{{Terminal: &wire.AuthMethodTerminal{ID: loginMethod, Name: name, Description: text, Args: []string{"login"}}}}
	}
	return []wire.AuthMethod{{Agent: &wire.AuthMethodAgent{ID: loginMethod, Name: name, Description: text}}}
}

// empty is the result of requests that return nothing.
type empty struct{}

// authenticate succeeds if a provider can be used. Logins happen outside of the protocol, in a terminal.
func (s *server) authenticate(ctx context.Context, p wire.AuthenticateRequest) (empty, error) {
	if p.MethodID != loginMethod {
		return empty{}, invalidf("unknown login method %q; use %q", p.MethodID, loginMethod)
	}
	l, err := s.open()
	if err != nil {
		return empty{}, err
	}
	all, err := l.backend.Providers(ctx, cmp.Or(s.Dir, s.Start))
	if err != nil {
		return empty{}, err
	}
	if len(all.Connected) == 0 {
		return empty{}, lathe.Errorf(lathe.Unauthorized, "no model provider is set up; run `lathe auth login` in a terminal, then try again")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.loggedOut = false
	return empty{}, nil
}

// logout makes new sessions need authenticate again. Saved keys stay: other front ends use them too.
func (s *server) logout(context.Context, empty) (empty, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.loggedOut = true
	return empty{}, nil
}

// requireLogin fails after a logout.
func (s *server) requireLogin() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.loggedOut {
		return lathe.Errorf(lathe.Unauthorized, "logged out; authenticate first")
	}
	return nil
}

// asLogin makes the error of a prompt one for which clients offer the login, if no provider can be used.
func (s *server) asLogin(ctx context.Context, l *loop, err error) error {
	if lathe.CodeOf(err) != lathe.Invalid {
		return err
	}
	if all, failed := l.backend.Providers(ctx, cmp.Or(s.Dir, s.Start)); failed != nil || len(all.Connected) > 0 {
		return err
	}
	return lathe.Errorf(lathe.Unauthorized, "%w", err)
}
