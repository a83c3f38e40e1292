package server

import (
	"slices"
	"sync"
)

// table lists every route, family by family. Each family gets only the part of the backend that
// it answers from.
func (s *Server) table(b Backend, events publisher) []row {
	o, branches := s.options, &branches{publisher: events}
	s.streams = newStreams(events, o.Heartbeat, s.meters, branches, s.watch)
	shares := shareAPI{b.Sessions, b.Messages, b.Settings, b.Feed, s.streams, o.Private}
	terminals := &ptyAPI{terminals: b.Terminals, guard: s.guard, closing: s.closing}
	clients := &tuiAPI{publisher: events, sessions: b.Sessions}
	rows := slices.Concat(
		globalAPI{o.Version, b.Instances, b.Feed}.routes(),
		s.streams.routes(),
		sessionAPI{b.Sessions, b.Turns, shares}.routes(),
		messageAPI{b.Messages}.routes(),
		turnAPI{b.Turns, o.Private}.routes(),
		askAPI{b.Asks}.routes(),
		shares.routes(),
		settingsAPI{b.Settings, b.Instances, b.Feed}.routes(),
		providerAPI{b.Providers}.routes(),
		commandAPI{b.Commands}.routes(),
		emptyRoutes(),
		mcpAPI{b.ToolServers}.routes(),
		v2API{b.Instances, b.Sessions, b.Settings, b.Commands, b.Providers}.routes(),
		pathAPI{b.Folders, o.Log}.routes(),
		projectAPI{b.Instances, b.Projects, b.Git}.routes(),
		fileAPI{b.Folders, b.Git}.routes(),
		findAPI{b.Folders}.routes(),
		vcsAPI{b.Git, branches}.routes(),
		terminals.routes(),
		clients.routes(),
		ownAPI{b.Own, b.Sessions, b.Turns}.routes(),
		metricsAPI{o.Metrics, o.Version, s.meters, b.Meters}.routes(),
	)
	// The document describes itself as well.
	doc := sync.OnceValue(func() []byte { return describe(rows, o.Version) })
	rows = append(rows, docRoutes(doc)...)
	return rows
}
