package server

import (
	"crypto/rand"
	"crypto/sha256"
	"net/http"
	"sync"
	"time"

	"github.com/lathe-agent/lathe"
)

const (
	ticketTime  = time.Minute
	mostTickets = 1000 // that wait to be used
)

// tickets let browsers, whose WebSockets cannot carry a password, connect to one terminal once.
// Only their hashes are stored, so that timing does not reveal a correct prefix.
type tickets struct {
	mu  sync.Mutex // guards all
	all map[[sha256.Size]byte]ticket
}

type ticket struct {
	dir    string
	pty    lathe.PtyID
	device string // that got it; "" for the password
	until  time.Time
}

// issue makes a ticket; "" means that there are too many.
func (k *tickets) issue(dir string, id lathe.PtyID, device string) string {
	word := rand.Text()
	k.mu.Lock()
	defer k.mu.Unlock()
	now := time.Now()
	for sum, t := range k.all {
		if now.After(t.until) {
			delete(k.all, sum)
		}
	}
	if len(k.all) >= mostTickets {
		return ""
	}
	if k.all == nil {
		k.all = map[[sha256.Size]byte]ticket{}
	}
	k.all[sha256.Sum256([]byte(word))] = ticket{dir, id, device, now.Add(ticketTime)}
	return word
}

// take redeems a ticket and reports whether it is valid for this terminal.
func (k *tickets) take(word, dir string, id lathe.PtyID) (ticket, bool) {
	sum := sha256.Sum256([]byte(word))
	k.mu.Lock()
	defer k.mu.Unlock()
	t, ok := k.all[sum]
	delete(k.all, sum)
	return t, ok && t.dir == dir && t.pty == id && time.Now().Before(t.until)
}

type ticketReply struct {
	Ticket  string `json:"ticket"`
	Expires int    `json:"expires_in"`
}

func (ticketReply) schemaName() string { return "PtyTicketConnectToken" }

// connectToken requires a header that a foreign page cannot send without a preflight.
func (a *ptyAPI) connectToken(c *call, _, _ none) (ticketReply, error) {
	dir, id, err := a.ticketSubject(c)
	if err != nil {
		return ticketReply{}, err
	}
	if c.Header.Get("X-Opencode-Ticket") != "1" {
		return ticketReply{}, noTicket("send the header x-opencode-ticket: 1 to get a ticket")
	}
	word := a.tickets.issue(dir, id, c.device.ID)
	if word == "" {
		return ticketReply{}, lathe.Errorf(lathe.Limited, "too many unused tickets; try again in a minute")
	}
	return ticketReply{Ticket: word, Expires: int(ticketTime.Seconds())}, nil
}

// ticketSubject is the terminal of a ticket. One of another node is looked for when the ticket is used.
func (a *ptyAPI) ticketSubject(c *call) (dir string, id lathe.PtyID, err error) {
	if c.device.ID != "" {
		name, err := c.pathID("ptyID", lathe.PrefixPty)
		if err != nil {
			return "", "", err
		}
		if dir, err = c.directory(); err != nil {
			return "", "", err
		}
		if to, err := c.node(dir, atTerminal); err != nil || to != "" {
			return dir, lathe.PtyID(name), err
		}
	}
	at, t, err := a.terminal(c)
	if err != nil {
		return "", "", err
	}
	return at.Directory, t.Info().ID, nil
}

func noTicket(why string) error {
	return &problem{status: http.StatusForbidden, body: taggedBody{Tag: "PtyForbiddenError", Message: why}}
}
