package record

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/lathe-agent/lathe/internal/scrub"
)

// ErrNotRecorded says that a request is not in the recording.
var ErrNotRecorded = errors.New("the request is not in the recording")

// Player answers from a recording. A request finds its exchange by method, path and body; the
// host does not count. Exchanges of equal requests answer in their order, each once.
type Player struct {
	Timing bool // each piece comes after as long as it took, where that is known; set before use
	// Loose answers a request that is not in the recording with the nearest one of its method
	// and path: a whole turn in another folder, or on another day, says other things. Set before
	// use.
	Loose bool

	all []Exchange

	mu   sync.Mutex // guards used
	used map[int]bool
}

// key identifies equal requests.
type key struct {
	method, path string
	body         [sha256.Size]byte
}

func (r Request) key() key {
	return key{method: r.Method, path: r.Path, body: sha256.Sum256(r.Body)}
}

// NewPlayer reads a recording.
func NewPlayer(r io.Reader) (*Player, error) {
	all, err := Read(r)
	if err != nil {
		return nil, err
	}
	return &Player{all: all, used: map[int]bool{}}, nil
}

// RoundTrip answers a request, or fails with the recorded failure or an [ErrNotRecorded] that
// names the nearest request.
func (p *Player) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := readBody(req)
	if err != nil {
		return nil, err
	}
	asked := Request{Method: req.Method, Path: path(req.URL), Body: scrub.Bytes(body, scrub.Secrets(req.Header, req.URL))}
	found, err := p.take(asked)
	if err != nil {
		return nil, err
	}
	r := found.Response
	if r.Failed != "" {
		return nil, fmt.Errorf("recorded failure: %s", r.Failed)
	}
	header := http.Header{}
	for name, values := range r.Header {
		header[http.CanonicalHeaderKey(name)] = slices.Clone(values)
	}
	return &http.Response{
		Status:     strconv.Itoa(r.Status) + " " + http.StatusText(r.Status),
		StatusCode: r.Status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: header, ContentLength: -1, Request: req,
		Body: &playing{ctx: req.Context(), timing: p.Timing, start: time.Now(), left: r.Body, chunks: slices.Clone(r.Chunks), cut: r.Cut},
	}, nil
}

// take returns the next exchange of such requests.
func (p *Player) take(asked Request) (Exchange, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	k, n := asked.key(), 0
	for i, e := range p.all {
		if e.Request.key() != k {
			continue
		}
		if !p.used[i] {
			p.used[i] = true
			return e, nil
		}
		n++
	}
	if i := p.nearest(asked, p.used); p.Loose && i >= 0 {
		p.used[i] = true
		return p.all[i], nil
	}
	if n > 0 {
		return Exchange{}, fmt.Errorf("%w: %s %s was recorded %d times and requested once more", ErrNotRecorded, asked.Method, asked.Path, n)
	}
	return Exchange{}, fmt.Errorf("%w: %s %s (%d bytes); %s", ErrNotRecorded, asked.Method, asked.Path, len(asked.Body), p.hint(asked))
}

// nearest finds the recorded request that is most like the one asked for, the first of
// those; -1 if none is.
func (p *Player) nearest(asked Request, except map[int]bool) int {
	best, at := -1, -1
	for i, e := range p.all {
		if e.Request.Method != asked.Method || e.Request.Path != asked.Path || except[i] {
			continue
		}
		if n := common(e.Request.Body, asked.Body); n > at {
			best, at = i, n
		}
	}
	return best
}

// hint describes the nearest.
func (p *Player) hint(asked Request) string {
	if i := p.nearest(asked, nil); i >= 0 {
		body := p.all[i].Request.Body
		at := common(body, asked.Body)
		return fmt.Sprintf("the nearest is exchange %d, whose body differs from byte %d on: recorded %s, asked %s",
			i+1, at, excerpt(body, at), excerpt(asked.Body, at))
	}
	var paths []string
	for _, e := range p.all {
		paths = append(paths, e.Request.Method+" "+e.Request.Path)
	}
	if len(paths) == 0 {
		return "the recording is empty"
	}
	return "recorded are: " + strings.Join(paths, ", ")
}

// common is how many bytes both begin with.
func common(a, b []byte) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// excerpt shows the text around a byte.
func excerpt(b []byte, at int) string {
	from, to := max(0, at-20), min(len(b), at+40)
	return strconv.Quote(string(b[from:to]))
}

// playing is the body of a recorded response.
type playing struct {
	ctx    context.Context
	timing bool
	start  time.Time
	left   []byte
	chunks []Chunk
	cut    string
	closed bool
}

// Read gives the pieces that were recorded, at most one at a time.
func (b *playing) Read(p []byte) (int, error) {
	switch {
	case b.closed:
		return 0, http.ErrBodyReadAfterClose
	case b.ctx.Err() != nil:
		return 0, context.Cause(b.ctx)
	case len(p) == 0:
		return 0, nil
	case len(b.left) == 0 && b.cut == stopped:
		return 0, fmt.Errorf("%w: the recorded client stopped reading here", io.ErrUnexpectedEOF)
	case len(b.left) == 0 && b.cut != "":
		return 0, fmt.Errorf("%w: recorded as %s", io.ErrUnexpectedEOF, b.cut)
	case len(b.left) == 0:
		return 0, io.EOF
	}
	n := len(b.left)
	if len(b.chunks) > 0 {
		if err := b.wait(); err != nil {
			return 0, err
		}
		n = max(1, min(n, b.chunks[0].Bytes))
	}
	n = copy(p, b.left[:n])
	b.left = b.left[n:]
	if len(b.chunks) > 0 {
		if b.chunks[0].Bytes -= n; b.chunks[0].Bytes <= 0 {
			b.chunks = b.chunks[1:]
		}
	}
	return n, nil
}

// wait holds the next piece back until its time.
func (b *playing) wait() error {
	d := time.Until(b.start.Add(time.Duration(b.chunks[0].At) * time.Millisecond))
	if !b.timing || d <= 0 {
		return nil
	}
	select {
	case <-time.After(d):
		return nil
	case <-b.ctx.Done():
		return context.Cause(b.ctx)
	}
}

func (b *playing) Close() error {
	b.closed = true
	return nil
}
