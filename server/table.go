package server

import (
	"slices"
	"sync"

	"github.com/lathe-agent/lathe/server/device"
)

// table lists every route, family by family. Each family gets only the part of the backend that
// it answers from.
func (s *Server) table(b Backend, events publisher) []row {
	o, branches := s.options, &branches{publisher: events}
	streams := newStreams(events, o.Heartbeat, s.meters, branches, s.watch)
	shares := shareAPI{b.Engine, b.Config, streams}
	terminals := &ptyAPI{terminals: b.Terminals, closing: s.closing}
	clients := &tuiAPI{publisher: events}
	rows := slices.Concat(
		globalAPI{o.Version, b.Instances, b.Engine, o.Upgrade}.routes(),
		streams.routes(),
		sessionAPI{b.Engine, shares}.routes(),
		messageAPI{b.Engine}.routes(),
		turnAPI{b.Engine}.routes(),
		askAPI{b.Engine}.routes(),
		shares.routes(),
		configAPI{b.Config, b.Instances, b.Engine}.routes(),
		providerAPI{b.Providers}.routes(),
		commandAPI{b.Engine}.routes(),
		languageAPI{b.Languages}.routes(),
		worktreeAPI{b.Worktrees}.routes(),
		mcpAPI{b.ToolServers}.routes(),
		v2API{b.Instances, b.Engine, b.Config, b.Providers}.routes(),
		pathAPI{b.Folders, o.Log}.routes(),
		projectAPI{b.Instances, b.Engine, b.Git}.routes(),
		fileAPI{b.Folders, b.Git}.routes(),
		findAPI{b.Folders}.routes(),
		vcsAPI{b.Git, branches}.routes(),
		terminals.routes(),
		clients.routes(),
		latheAPI{b.Engine}.routes(),
		pageAPI{}.routes(),
		backgroundAPI{b.Engine}.routes(),
		untilAPI{b.Untils}.routes(),
		grantAPI{b.Engine}.routes(),
		deviceAPI{o.Pairing, s.guard, &device.Attempts{}}.routes(),
		pushAPI{o.Pairing.Devices, s.notifier}.routes(),
		reportAPI{b.Reports}.routes(),
		usageAPI{b.Usage}.routes(),
		metricsAPI{o.Metrics, o.Version, s.meters, b.Engine}.routes(),
	)
	// The document describes itself as well.
	doc := sync.OnceValue(func() []byte { return describe(rows, o.Version) })
	rows = append(rows, docRoutes(doc)...)
	return rows
}
