// Package record records the traffic with a provider in a file, and replays such a file without
// a network.
//
// A [Recorder] and a [Player] replace an http.RoundTripper, so that any client of a provider
// can be recorded and replayed, streams included: the client sees bytes as they come. A file
// has one exchange per line, as JSON, with the bytes of both bodies. Credentials, cookies and
// account names are removed from it. When a client stops reading, the part it had read is
// stored and marked as cut.
//
// The package does not know what a request means. Both types are safe for many goroutines.
//
// Start reading with [Exchange], the line of the file.
package record

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

// version is that of the file's form; a later one is refused.
const version = 1

// Exchange is one line of a recording.
type Exchange struct {
	Version  int      `json:"v"`
	Request  Request  `json:"request"`
	Response Response `json:"response"`
}

// Request is the client's request. Path includes the query, without keys.
type Request struct {
	Method string              `json:"method"`
	Host   string              `json:"host"`
	Path   string              `json:"path"`
	Header map[string][]string `json:"header,omitempty"`
	Body   Body                `json:"body"`
}

// Response is the server's response. Failed is the error when nothing did; Cut is why the body
// has no end.
type Response struct {
	Status int                 `json:"status,omitempty"`
	Header map[string][]string `json:"header,omitempty"`
	Body   Body                `json:"body"`
	Chunks []Chunk             `json:"chunks,omitempty"`
	Cut    string              `json:"cut,omitempty"`
	Failed string              `json:"failed,omitempty"`
}

// Chunk is a piece of the body as the client read it: milliseconds since the request, and bytes.
type Chunk struct {
	At    int64 `json:"at"`
	Bytes int   `json:"n"`
}

// Body is bytes: in JSON a string, or an object with base64 where they are no text.
type Body []byte

// MarshalJSON writes text as text, for people read recordings.
func (b Body) MarshalJSON() ([]byte, error) {
	if !utf8.Valid(b) {
		return json.Marshal(map[string][]byte{"base64": b})
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	err := enc.Encode(string(b))
	return out.Bytes(), err
}

// UnmarshalJSON reads both forms.
func (b *Body) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		*b = Body(text)
		return nil
	}
	var box struct{ Base64 *[]byte }
	if err := json.Unmarshal(data, &box); err != nil {
		return err
	}
	if box.Base64 == nil {
		return errors.New("a body must be a string or an object with base64")
	}
	*b = *box.Base64
	return nil
}

// maxLine is the length of an exchange up to which a recording is read: far more than a provider takes.
const maxLine = 128 << 20

// readLine reads a line of bounded length, since a file may be something else, such as a device.
func readLine(r *bufio.Reader) (line []byte, err error) {
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > maxLine:
			return nil, fmt.Errorf("a line is longer than %d MB", maxLine>>20)
		case !errors.Is(err, bufio.ErrBufferFull):
			return line, err
		}
	}
}

// Read reads a recording. A last line without its end, as a crash leaves it, is left out.
func Read(r io.Reader) ([]Exchange, error) {
	var out []Exchange
	lines := bufio.NewReader(r)
	for n := 1; ; n++ {
		line, err := readLine(lines)
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read recording: %w", err)
		}
		var e Exchange
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, fmt.Errorf("read recording: line %d: %w", n, err)
		}
		if e.Version != version {
			return nil, fmt.Errorf("read recording: line %d: format %d is not supported, only %d; record it again", n, e.Version, version)
		}
		out = append(out, e)
	}
}
