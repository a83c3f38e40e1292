package release

// WithKey returns the source with a public key, as a signed release has it built in.
func (s *Source) WithKey(key string) *Source {
	out := *s
	out.key = key
	return &out
}
