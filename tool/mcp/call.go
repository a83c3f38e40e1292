package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/lathe-agent/lathe/internal/phrase"
	"github.com/lathe-agent/lathe/tool"
)

const (
	// mostCalls is how often a call is tried that can be tried again.
	mostCalls = 3
	// mostCall limits a call, even if its server reports progress.
	mostCall = time.Hour
	// showPause is the least time between two showings of a call's progress.
	showPause = 250 * time.Millisecond
)

// build makes the tools of all servers: those for resources, then those of the servers by name.
// Names that two servers share are settled by the order of the servers' names, so that a name
// means the same tool each time.
func (h *Hub) build() []tool.Tool {
	taken := map[string]string{}
	for _, name := range resourceTools {
		taken[name] = "this program"
	}
	all, resources := h.all(), false
	prefixes := prefixesOf(all)
	var out []tool.Tool
	for i, p := range all {
		list := p.offers()
		if list == nil {
			continue
		}
		resources = resources || list.Resources
		var clash []string
		for _, o := range list.Tools {
			name := toolName(prefixes, prefixes[i], o.Name)
			if other, twice := taken[name]; twice {
				clash = append(clash, fmt.Sprintf("tool %s was left out: %s has one named %s", phrase.Shorten(o.Name, 100), other, name))
				continue
			}
			taken[name] = p.def.Name
			out = append(out, p.tool(tool.Permission{Name: name, Server: prefixes[i], Servers: prefixes}, o))
		}
		p.noteClashes(clash)
	}
	if resources {
		out = append(h.resourceTools(), out...)
	}
	return out
}

// prefixesOf are how the names of the tools of servers begin, also of those that are not connected.
func prefixesOf(all []*serverEntry) (out []string) {
	for _, p := range all {
		name := sanitize(p.def.Name)
		prefix := name
		for n := 2; slices.Contains(out, prefix); n++ {
			prefix = name + "_" + strconv.Itoa(n)
		}
		out = append(out, prefix)
	}
	return out
}

// noteClashes notes which tools were left out.
func (p *serverEntry) noteClashes(list []string) {
	p.mu.Lock()
	before := len(p.clash)
	p.clash = list
	p.mu.Unlock()
	if len(list) != before {
		for _, text := range list[:min(len(list), mostNotes)] {
			p.hub.o.Log.Warn("mcp server", "server", p.def.Name, "note", text)
		}
	}
}

// tool makes the tool of an offer.
//
// A server on this machine may change any file, so its calls are framed; one that calls its tool
// read-only is believed, because all that a lie gains is an undo that knows less, and the frame
// costs two walks over the project. A remote server reaches no file.
func (p *serverEntry) tool(asks tool.Permission, o offer) tool.Tool {
	asks.Patterns, asks.Always = []string{"*"}, []string{"*"}
	about := cmp.Or(o.Description, "The tool "+line(o.Name, 100)+" of MCP server "+p.def.Name+".") // some providers want a text
	spec := tool.Spec{Name: asks.Name, Description: about, Schema: o.Schema, Anywhere: p.def.near() && !o.ReadOnly}
	return tool.Raw(spec, func(ctx context.Context, c *tool.Call) (tool.Result, error) {
		if err := c.Host.Ask(ctx, asks); err != nil {
			return tool.Result{}, err
		}
		raw, err := p.call(ctx, c, o)
		if err != nil {
			return tool.Result{}, p.failure(ctx, o, err)
		}
		return p.result(raw)
	})
}

// call calls a tool. It is called again if the server did not take the call, and one that does no
// harm if the server was lost meanwhile.
func (p *serverEntry) call(ctx context.Context, c *tool.Call, o offer) (json.RawMessage, error) {
	for tries := 1; ; tries++ {
		l, err := p.connected(ctx)
		if err != nil {
			return nil, &callError{absent, err}
		}
		raw, err := l.call(ctx, c, o)
		if how := outcomeOf(err); tries == mostCalls || ctx.Err() != nil || how != unsent && !(o.Repeatable && how == lost) {
			return raw, err
		}
	}
}

// outcome is the state of a call without an answer.
type outcome int

const (
	absent outcome = iota + 1 // it was never sent
	late                      // no answer came in time
	unsent                    // it was not taken, so that it can be sent again
	lost                      // no answer will come: the call may have been executed
)

// callError is why a call has no answer.
type callError struct {
	outcome
	err error
}

func (e *callError) Error() string { return e.err.Error() }
func (e *callError) Unwrap() error { return e.err }

// outcomeOf is that of a call with this error; 0 means that its server answered something.
func outcomeOf(err error) outcome {
	if e, ok := errors.AsType[*callError](err); ok {
		return e.outcome
	}
	return 0
}

// call sends a call and waits for its answer, longer as long as its server tells of progress.
func (l *conn) call(ctx context.Context, c *tool.Call, o offer) (json.RawMessage, error) {
	token, news, forget := l.watch()
	defer forget()
	q := &question{Name: o.Name, Arguments: c.Input}
	q.SetMeta(map[string]any{"progressToken": token})
	limit := l.p.timeout()
	ctx, cancel := context.WithTimeout(ctx, max(mostCall, limit))
	defer cancel()
	type answered struct {
		raw json.RawMessage
		err error
	}
	done := make(chan answered, 1)
	sent, abandon := context.WithCancel(ctx)
	defer abandon()
	go func() { // it returns soon after abandon at the latest
		raw, err := l.ask(sent, "tools/call", q)
		done <- answered{raw, err}
	}()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	var shown time.Time
	for {
		select {
		case out := <-done:
			return out.raw, out.err
		case n := <-news:
			timer.Reset(limit)
			if now := time.Now(); now.Sub(shown) > showPause {
				shown = now
				c.Host.Progress(n.String(), nil)
			}
		case <-timer.C:
			abandon() // the server is notified
			<-done
			return nil, &callError{late, l.p.slow("to answer")}
		}
	}
}

// String is the progress in a few words.
func (p progress) String() string {
	part := ""
	switch {
	case p.total > 0:
		part = fmt.Sprintf("%.0f %%", 100*min(max(p.done/p.total, 0), 1))
	case p.done > 0:
		part = strconv.FormatFloat(p.done, 'g', 6, 64)
	}
	switch {
	case part == "":
		return p.text
	case p.text == "":
		return part
	}
	return p.text + " (" + part + ")"
}

// failure is the message to the model for a failed call.
func (p *serverEntry) failure(ctx context.Context, o offer, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	name, tried := p.def.Name, line(o.Name, 100)
	done := "It may have been done or not: look before you call it again."
	if o.ReadOnly {
		done = "Nothing was changed by it."
	}
	var said *serverError
	var denied *deniedError
	how := outcomeOf(err)
	switch {
	case errors.As(err, &denied):
		return tool.Failf("%s. The call was not made.", p.absent(state{at: denied.state}).Error())
	case how == absent:
		return tool.Failf("%s. The call was not made.", hide(line(err.Error(), 1200), p.def.secrets()))
	case errors.As(err, &said):
		return tool.Failf("MCP server %s refused the call of %s: %s", name, tried, hide(said.Error(), p.def.secrets()))
	case how == late:
		return tool.Failf("MCP server %s did not answer the call of %s: %s. The call was canceled. %s", name, tried, p.show(err), done)
	}
	return tool.Failf("MCP server %s was lost during the call of %s: %s. %s", name, tried, p.show(err), done)
}
