package store

// KeepRows changes how many tombstones and answered asks are kept, before anything is written.
func (s *Store) KeepRows(n int64) { s.keepRows = n }
