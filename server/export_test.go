package server

import "github.com/lathe-agent/lathe/server/device"

// RouteRight is a route and the right that it needs.
type RouteRight struct {
	Method, Path string
	Right        device.Right
}

// Rights are the routes of a server.
func Rights(s *Server) (all []RouteRight) {
	for _, r := range s.table(Backend{}, publisher{}) {
		all = append(all, RouteRight{r.method, r.path, r.right})
	}
	return all
}
