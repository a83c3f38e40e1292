package bus

// Limit bounds each subscriber's queue to so many bytes, so that tests need not fill a large one.
func Limit(bytes int) Option { return func(b *Bus) { b.limit = bytes } }
