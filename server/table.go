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
		at(atPlace, turnAPI{b.Engine}.routes()),
		askAPI{b.Engine}.routes(),
		shares.routes(),
		readable(configAPI{b.Config, b.Instances, b.Engine}.routes()),
		readable(providerAPI{b.Providers}.routes()),
		readable(commandAPI{b.Engine}.routes()),
		readable(languageAPI{b.Languages}.routes()),
		at(atPlace, worktreeAPI{b.Worktrees}.routes()),
		readable(mcpAPI{b.ToolServers}.routes()),
		readable(v2API{b.Instances, b.Engine, b.Config, b.Providers}.routes()),
		readable(pathAPI{b.Folders, o.Log}.routes()),
		readable(projectAPI{b.Instances, b.Engine, b.Git}.routes()),
		at(atPlace, fileAPI{b.Folders, b.Git}.routes()),
		at(atPlace, findAPI{b.Folders}.routes()),
		at(atPlace, vcsAPI{b.Git, branches}.routes()),
		at(atTerminal, terminals.routes()),
		clients.routes(),
		at(atPlace, latheAPI{b.Engine}.routes()),
		pageAPI{}.routes(),
		backgroundAPI{b.Engine}.routes(),
		at(atPlace, untilAPI{b.Untils}.routes()),
		grantAPI{b.Engine}.routes(),
		deviceAPI{o.Pairing, s.guard, &device.Attempts{}}.routes(),
		pushAPI{o.Pairing.Devices, s.notifier}.routes(),
		readable(reportAPI{b.Reports}.routes()),
		usageAPI{b.Usage}.routes(),
		probeAPI{b.Node, s.guard}.routes(),
		metricsAPI{o.Metrics, o.Version, s.meters, b.Engine}.routes(),
	)
	// The document describes itself as well.
	doc := sync.OnceValue(func() []byte { return describe(rows, o.Version) })
	rows = append(rows, docRoutes(doc)...)
	return rows
}
