package server

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/coder/websocket"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/phrase"
	"github.com/lathe-agent/lathe/server/device"
	"github.com/lathe-agent/lathe/workspace/terminal"
)

type connectQuery struct {
	Cursor string  `query:"cursor"`
	Ticket *string `query:"ticket"`
}

const (
	frameSize  = 64 << 10 // characters of a frame
	inputSize  = 1 << 20  // bytes of one frame of input
	inputRate  = 1 << 20  // bytes of input in a second, after which the client has to wait
	socketTime = 30 * time.Second
	pingEvery  = 30 * time.Second
)

// noTerminal is the close code if the terminal is gone; before the upgrade it is a 404.
const noTerminal websocket.StatusCode = 4404

// connectTerminal checks the client and the request, and then serves the connection.
func (a *ptyAPI) connectTerminal(c *call, q connectQuery) error {
	if to, err := a.connectElsewhere(c, q.Ticket); err != nil {
		return err
	} else if to != "" {
		return c.forward(to)
	}
	if err := a.authorize(c, q.Ticket); err != nil { // before revealing anything
		return err
	}
	at, t, err := a.terminal(c)
	if err != nil {
		return err
	}
	from, err := startOf(t, q.Cursor)
	if err != nil {
		return err
	}
	if !strings.EqualFold(c.Header.Get("Upgrade"), "websocket") {
		c.w.Header().Set("Upgrade", "websocket")
		return badStatus(http.StatusUpgradeRequired, "Headers", "connect with a WebSocket", nil)
	}
	conn, err := websocket.Accept(c.w, c.Request, &websocket.AcceptOptions{
		InsecureSkipVerify: true, // the guard has judged the origin, by the rules that hold for all routes
		CompressionMode:    websocket.CompressionDisabled,
	})
	if err != nil {
		return badRequest("Headers", "%v", err) // Accept has answered already, unless it could not
	}
	if a.terminals.Find(at.Directory, t.Info().ID) == nil { // it went while the connection was made
		_ = conn.Close(noTerminal, "the terminal no longer exists")
		return nil
	}
	conn.SetReadLimit(inputSize)
	a.attach(c.Context(), conn, t, from)
	return nil
}

// authorize checks the ticket, or without one the credentials. The connection ends when the device of either is revoked.
func (a *ptyAPI) authorize(c *call, word *string) error {
	if word == nil {
		err := c.server.identify(c)
		if err == nil && c.right < device.Full {
			err = forbidden("This device has the right %q; terminals need %q", c.right, device.Full)
		}
		return err
	}
	dir, err := c.directory()
	if err != nil {
		return err
	}
	t, ok := a.tickets.take(*word, dir, lathe.PtyID(c.PathValue("ptyID")))
	if !ok || t.device != "" && !c.hold(t.device) {
		return noTicket("the ticket is used, expired or for another terminal; request a new one")
	}
	return nil
}

// connectElsewhere returns the node with the terminal, "" for this one. That node judges a ticket unless it is from here.
func (a *ptyAPI) connectElsewhere(c *call, word *string) (to string, err error) {
	dir, err := c.directory()
	if err != nil {
		return "", nil // reported to those who may know
	}
	if to, err = c.node(dir, atTerminal); err != nil || to == "" {
		return "", err
	}
	if word == nil {
		return to, a.authorize(c, nil)
	}
	t, ok := a.tickets.take(*word, dir, lathe.PtyID(c.PathValue("ptyID")))
	if !ok {
		return to, nil
	}
	if t.device != "" && !c.hold(t.device) {
		return "", noTicket("the ticket is used, expired or for another terminal; request a new one")
	}
	c.right = device.Full
	return to, nil
}

// startOf reads a cursor: the offset in the output to start at.
func startOf(t *terminal.Terminal, cursor string) (int64, error) {
	start, end := t.Bounds()
	if cursor == "" {
		return start, nil
	}
	n, err := strconv.ParseInt(cursor, 10, 64)
	switch {
	case err != nil || n < -1:
		return 0, badRequest("Query", "cursor: expected a whole number, -1 or more, not %q", phrase.Shorten(cursor, 40))
	case n == -1:
		return end, nil
	}
	return min(max(n, start), end), nil
}

// attach shows a terminal to a client, and lets it type, until one of them ends or the server.
func (a *ptyAPI) attach(ctx context.Context, conn *websocket.Conn, t *terminal.Terminal, from int64) {
	ctx, stop := context.WithCancel(ctx)
	gone, leave := context.WithCancel(ctx) // the client takes its leave
	typed := make(chan struct{})
	go func() {
		defer close(typed)
		defer leave()
		takeInput(ctx, conn, t)
	}()
	code, why := websocket.StatusNormalClosure, ""
	switch ended := a.show(gone, conn, t, from); {
	case ended:
		why = "the program has exited"
	case a.closing.Err() != nil:
		code, why = websocket.StatusGoingAway, "the server is shutting down"
	}
	_ = conn.Close(code, why) // the client may be gone
	stop()                    // not before, or the connection would end without a word
	<-typed
}

// show sends the past output, one frame with its offset, and the output that follows. It reports
// whether the program has exited.
func (a *ptyAPI) show(ctx context.Context, conn *websocket.Conn, t *terminal.Terminal, from int64) (ended bool) {
	_, end := t.Bounds()
	for from < end {
		p := t.Read(from, int(min(frameSize, end-from)))
		if p.Next <= from || send(ctx, conn, websocket.MessageText, []byte(p.Text)) != nil {
			break
		}
		from = p.Next
	}
	mark, _ := json.Marshal(cursorMark{from}) // a number always can be
	if send(ctx, conn, websocket.MessageBinary, append([]byte{0}, mark...)) != nil {
		return false
	}
	ping := time.NewTicker(pingEvery)
	defer ping.Stop()
	for {
		p := t.Read(from, frameSize)
		from = p.Next
		if p.Ended {
			return true
		}
		if p.Text != "" {
			if send(ctx, conn, websocket.MessageText, []byte(p.Text)) != nil {
				return false
			}
			continue
		}
		select {
		case <-p.More:
		case <-ctx.Done():
			return false
		case <-a.closing.Done():
			return false
		case <-ping.C:
			if !alive(ctx, conn) {
				return false
			}
		}
	}
}

type cursorMark struct {
	Cursor int64 `json:"cursor"`
}

// send writes one frame. A client that takes nothing for a while is cut off.
func send(ctx context.Context, conn *websocket.Conn, kind websocket.MessageType, data []byte) error {
	ctx, stop := context.WithTimeout(ctx, socketTime)
	defer stop()
	return conn.Write(ctx, kind, data)
}

// alive asks a client that may have gone without a word.
func alive(ctx context.Context, conn *websocket.Conn) bool {
	ctx, stop := context.WithTimeout(ctx, socketTime)
	defer stop()
	return conn.Ping(ctx) == nil
}

// takeInput passes what the client types on, no faster than the limit.
func takeInput(ctx context.Context, conn *websocket.Conn, t *terminal.Terminal) {
	var debt time.Duration // how far the client is ahead of its rate
	last := time.Now()
	for {
		_, data, err := conn.Read(ctx)
		if err != nil || t.Type(data) != nil {
			return
		}
		now := time.Now()
		debt = max(0, debt-now.Sub(last)) + time.Duration(len(data))*time.Second/inputRate
		last = now
		if debt > time.Second {
			select {
			case <-time.After(debt - time.Second):
			case <-ctx.Done():
				return
			}
		}
	}
}
