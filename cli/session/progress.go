package session

import (
	"fmt"
	"io"
	"time"

	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/internal/termtext"
)

// progress shows on a terminal how much of a long import has been read. Elsewhere it prints nothing.
type progress struct {
	a     *cli.App
	on    bool
	name  string
	total int64 // bytes, 0 if unknown
	read  int64
	drawn time.Time
	any   bool
	width int // of the longest line so far
}

// progressEvery is the time between two updates; a short import ends before the first.
const progressEvery = 500 * time.Millisecond

func startProgress(a *cli.App, total int64) *progress {
	return &progress{a: a, on: !a.JSON && cli.IsTerminal(a.Stderr), total: total, drawn: a.Now()}
}

// reader counts what is read through it.
func (p *progress) reader(r io.Reader) io.Reader { return &countedReader{r, p} }

type countedReader struct {
	io.Reader
	p *progress
}

func (r *countedReader) Read(b []byte) (int, error) {
	n, err := r.Reader.Read(b)
	r.p.add(int64(n))
	return n, err
}

// add counts bytes, and draws at most twice a second.
func (p *progress) add(n int64) {
	p.read += n
	if !p.on || p.a.Now().Sub(p.drawn) < progressEvery {
		return
	}
	p.drawn, p.any = p.a.Now(), true
	line := "Reading " + p.name
	if p.name == "" {
		line = "Reading"
	}
	line += " " + termtext.ByteSize(p.read)
	if p.total > 0 {
		line += fmt.Sprintf(" of %s (%d%%)", termtext.ByteSize(p.total), min(100, p.read*100/p.total))
	}
	line = termtext.Plain(line)
	_, _ = fmt.Fprintf(p.a.Stderr, "\r%-*s", p.width, line)
	p.width = max(p.width, len(line))
}

// end clears the line.
func (p *progress) end() {
	if p.any {
		_, _ = fmt.Fprintf(p.a.Stderr, "\r%*s\r", p.width, "")
	}
}
