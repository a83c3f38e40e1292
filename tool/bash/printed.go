package bash

import (
	"encoding/json"
	"sync"
	"time"

	"github.com/lathe-agent/lathe"
)

// printed is what a command prints: as the model will read it, as clients see it while it runs,
// and whole in a file if it becomes long. Its memory is bounded, and a piece costs what it is
// long, however much there was before.
type printed struct {
	clean cleaner
	text  ends // of what clean makes
	spool spool

	show func(json.RawMessage)
	wake chan struct{} // there is something to show
	quit chan struct{} // nothing is shown any more
	once sync.Once     // closes it
	done sync.WaitGroup

	// mu also guards spool and log while the command runs. It is held during writes of the file: only the start of a
	// log competes for it.
	mu     sync.Mutex
	recent recent
	log    *logFile // takes the output of a command in the background; nil in the foreground
}

func (b *bash) newPrinted(session lathe.SessionID, show func(json.RawMessage)) *printed {
	l := b.Output.Limits
	p := &printed{
		text:  ends{limits: l},
		spool: spool{output: b.Output.ForSession(session), most: l.Bytes, limit: b.FileBytes},
		show:  show, wake: make(chan struct{}, 1), quit: make(chan struct{}),
	}
	p.clean.to = p.text.write
	show(json.RawMessage(`{"output":""}`))
	p.done.Go(p.watch)
	return p
}

func (p *printed) write(piece []byte) {
	p.clean.write(piece)
	p.mu.Lock()
	if p.log != nil {
		p.log.write(piece)
	} else {
		p.spool.write(piece)
	}
	p.recent.write(piece)
	p.mu.Unlock()
	select {
	case p.wake <- struct{}{}:
	default: // it is known already
	}
}

// end takes no more, and returns when nothing is shown any more.
func (p *printed) end() {
	p.clean.end()
	p.hide()
}

// hide returns when nothing is shown any more.
func (p *printed) hide() {
	p.once.Do(func() { close(p.quit) })
	p.done.Wait()
}

// watch shows what is new: at once, then after a while that is longer for longer texts, since
// each time the whole is sent and stored. The last of it is for the result to show.
func (p *printed) watch() {
	const least = 100 * time.Millisecond
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
		case <-p.quit:
			return
		}
		select {
		case <-p.wake:
		case <-p.quit:
			return
		}
		text := p.last()
		p.show(append(lathe.AppendJSONString([]byte(`{"output":`), text), '}'))
		timer.Reset(least + time.Duration(len(text)/60)*time.Millisecond)
	}
}

func (p *printed) last() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.recent.text()
}
