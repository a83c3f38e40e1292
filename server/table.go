package server

import "slices"

// table lists every route, family by family.
func (s *Server) table() []row {
	return slices.Concat(
		s.globalRoutes(),
		s.streamRoutes(),
		s.sessionRoutes(),
		s.messageRoutes(),
		s.turnRoutes(),
		s.askRoutes(),
		s.shareRoutes(),
		s.settingsRoutes(),
		s.providerRoutes(),
		s.commandRoutes(),
		s.emptyRoutes(),
		s.mcpRoutes(),
		s.modernRoutes(),
		s.pathRoutes(),
		s.projectRoutes(),
		s.fileRoutes(),
		s.findRoutes(),
		s.vcsRoutes(),
		s.ptyRoutes(),
		s.tuiRoutes(),
		s.ownRoutes(),
		s.metricRoutes(),
		s.docRoutes(),
	)
}
