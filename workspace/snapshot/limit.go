package snapshot

import "time"

// Limit changes how long and how much is kept, from the next tidying on; zero is the default.
func (s *Store) Limit(age time.Duration, bytes int64) {
	if age <= 0 {
		age = defaultAge
	}
	if bytes <= 0 {
		bytes = defaultBytes
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.o.MaxAge, s.o.MaxBytes = age, bytes
}

// limits are how long and how much is kept.
func (s *Store) limits() (age time.Duration, bytes int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.o.MaxAge, s.o.MaxBytes
}
