package bus

import (
	"slices"

	"github.com/lathe-agent/lathe"
)

// index finds the subscriptions in scope of an event without a scan of the others. The
// mutex of the bus guards it.
type index struct {
	all         group
	directories map[string]*group
	sessions    map[lathe.SessionID]*group
	count       int
}

// group is the subscriptions with the same scope, unordered.
type group struct{ members []*Subscription }

// enter adds a subscription.
func (x *index) enter(s *Subscription) {
	g := x.find(s.scope)
	s.group, s.at = g, len(g.members)
	g.members = append(g.members, s)
	x.count++
}

// find returns the group of a scope and creates it if necessary. If the scope has a session,
// its directory is ignored.
func (x *index) find(scope lathe.Scope) *group {
	switch {
	case scope.Session != "":
		return entry(&x.sessions, scope.Session)
	case scope.Directory != "":
		return entry(&x.directories, scope.Directory)
	default:
		return &x.all
	}
}

func entry[K comparable](m *map[K]*group, key K) *group {
	if *m == nil {
		*m = map[K]*group{}
	}
	g := (*m)[key]
	if g == nil {
		g = &group{}
		(*m)[key] = g
	}
	return g
}

// leave removes a subscription, if it is still there.
func (x *index) leave(s *Subscription) {
	g := s.group
	if g == nil {
		return
	}
	last := len(g.members) - 1
	moved := g.members[last]
	g.members[s.at], moved.at = moved, s.at
	g.members[last] = nil
	g.members = g.members[:last]
	s.group = nil
	x.count--
	if last > 0 {
		return
	}
	switch {
	case s.scope.Session != "":
		delete(x.sessions, s.scope.Session)
	case s.scope.Directory != "":
		delete(x.directories, s.scope.Directory)
	default:
		x.all.members = nil
	}
}

// reaches reports whether each would find a subscription.
func (x *index) reaches(session lathe.SessionID, directory string) bool {
	if len(x.all.members) > 0 || session != "" && x.sessions[session] != nil {
		return true
	}
	if directory == "" {
		return len(x.directories) > 0
	}
	return x.directories[directory] != nil
}

// each calls f for all subscriptions whose scope includes the session and directory. It
// removes those for which f returns false.
func (x *index) each(session lathe.SessionID, directory string, f func(*Subscription) bool) {
	x.visit(&x.all, f)
	if session != "" {
		x.visit(x.sessions[session], f)
	}
	if directory != "" {
		x.visit(x.directories[directory], f)
		return
	}
	for _, g := range x.directories { // the event is for all directories
		x.visit(g, f)
	}
}

// visit starts at the end, because leave fills a gap with the last member, which was visited.
func (x *index) visit(g *group, f func(*Subscription) bool) {
	if g == nil {
		return
	}
	for i := len(g.members) - 1; i >= 0; i-- {
		if s := g.members[i]; !f(s) {
			x.leave(s)
		}
	}
}

// members lists all subscriptions.
func (x *index) members() []*Subscription {
	out := slices.Clone(x.all.members)
	for _, g := range x.directories {
		out = append(out, g.members...)
	}
	for _, g := range x.sessions {
		out = append(out, g.members...)
	}
	return out
}
