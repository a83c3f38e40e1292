package wire

import "github.com/lathe-agent/lathe/model"

// Opaque gathers the pieces of a field that a provider wants back unchanged, up to [model.MaxOpaque].
type Opaque struct{ data []byte }

// Add appends a piece. An error ends the answer.
func (o *Opaque) Add(piece string) error {
	if len(o.data)+len(piece) > model.MaxOpaque {
		return model.TooLong("opaque data", model.MaxOpaque)
	}
	o.data = append(o.data, piece...)
	return nil
}

func (o *Opaque) String() string { return string(o.data) }
