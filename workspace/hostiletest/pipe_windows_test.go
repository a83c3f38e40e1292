package hostiletest

// pipe makes a named pipe, which Windows has in no folder.
func (s *scene) pipe(string) { s.t.Skip("Windows has no named pipes in folders") }
