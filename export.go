package lathe

import (
	"bytes"
	"encoding/json"
	"io"
)

// Export is a whole session as files carry it: {"info","messages"}.
type Export struct {
	Info     Session
	Messages []Message // oldest first, with their parts
}

// MarshalJSON writes {"info","messages"}.
func (e Export) MarshalJSON() ([]byte, error) { return encode(nil, &e), nil }

func (e *Export) fields(c *codec) {
	object(c, "info", &e.Info)
	list(c, "messages", &e.Messages)
}

// WriteIndented writes one value of an export with two spaces an indent, below prefix.
func WriteIndented(w io.Writer, value []byte, prefix string) error {
	var b bytes.Buffer
	if err := json.Indent(&b, value, prefix, "  "); err != nil {
		return err
	}
	_, err := w.Write(b.Bytes())
	return err
}
