package push

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"iter"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/SherClockHolmes/webpush-go"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/filelock"
	"github.com/lathe-agent/lathe/internal/phrase"
	"github.com/lathe-agent/lathe/server/device"
)

// Engine is what a Notifier reads.
type Engine interface {
	Follow(ctx context.Context, scope lathe.Scope, after lathe.Opt[lathe.Cursor], rest func()) iter.Seq2[lathe.Event, error]
	Feed() string
	Get(ctx context.Context, id lathe.SessionID) (lathe.Session, error)
	Projects(ctx context.Context) ([]lathe.Project, error)
}

// Options are the surroundings of a Notifier.
type Options struct {
	Engine  Engine
	Devices *device.Store
	Reach   Reach
	Log     *slog.Logger
	Text    bool // payloads have titles and words of sessions
	// Grace is how long someone has to answer before devices are notified that a session waits.
	Grace time.Duration
}

// Notifier sends notifications to the devices that want them. Of the processes with one file of devices, one sends.
type Notifier struct {
	Options
	sender *sender
	wake   chan struct{}

	mu      sync.Mutex                      // guards the fields below
	turns   map[lathe.SessionID]lathe.Fault // of the last answer; nil without one
	waiting map[lathe.AskID]*time.Timer
}

const (
	lookEvery = 30 * time.Second // for devices of another process, and for its end
	mostTurns = 1000
	mostAsks  = 1000
	mostText  = 200 // characters
)

// New returns a notifier that does nothing yet.
func New(o Options) *Notifier {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	n := &Notifier{
		Options: o, sender: newSender(o.Reach, o.Log), wake: make(chan struct{}, 1),
		turns: map[lathe.SessionID]lathe.Fault{}, waiting: map[lathe.AskID]*time.Timer{},
	}
	n.sender.key, n.sender.gone = n.key, n.unsubscribe
	return n
}

// Key is the public key that browsers subscribe with.
func (n *Notifier) Key(ctx context.Context) (string, error) {
	private, err := n.key(ctx)
	if err != nil {
		return "", err
	}
	return publicKey(private)
}

func (n *Notifier) key(ctx context.Context) (string, error) { return n.Devices.PushKey(ctx, NewKey) }

// Subscribe checks where a device wants notifications, and saves it.
func (n *Notifier) Subscribe(ctx context.Context, id string, s device.Subscription) error {
	if err := Check(s, n.Reach); err != nil {
		return err
	}
	if err := n.Devices.Subscribe(ctx, id, &s); err != nil {
		return err
	}
	select {
	case n.wake <- struct{}{}:
	default: // it is woken already
	}
	return nil
}

// unsubscribe removes a subscription that its service no longer knows, unless the device has another by now.
func (n *Notifier) unsubscribe(ctx context.Context, id, endpoint string) {
	for _, d := range n.subscribed("") {
		if d.ID == id && d.Push.Endpoint == endpoint {
			if err := n.Devices.Subscribe(ctx, id, nil); err != nil {
				n.Log.Warn("subscription not removed", "device", id, "error", err)
			}
		}
	}
}

// subscribed are the devices that want notifications of a kind; "" is of any.
func (n *Notifier) subscribed(kind string) (out []device.Device) {
	all, err := n.Devices.List()
	if err != nil {
		n.Log.Warn("devices not read", "error", err)
	}
	for _, d := range all {
		if d.Push != nil && (kind == "" || slices.Contains(d.Push.Kinds, kind)) {
			out = append(out, d)
		}
	}
	return out
}

// Run follows the feed while a device wants notifications and no other process sends them, until the context ends.
func (n *Notifier) Run(ctx context.Context) {
	defer n.sender.wait()
	defer n.stopTimers()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for ctx.Err() == nil {
		if len(n.subscribed("")) > 0 {
			n.runAlone(ctx)
		}
		select {
		case <-ctx.Done():
		case <-n.wake:
		case <-tick.C:
		}
	}
}

// runAlone follows the feed unless another process does.
func (n *Notifier) runAlone(ctx context.Context) {
	lock, err := os.OpenFile(n.Devices.Path()+".push.lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err == nil {
		defer lock.Close()
		err = filelock.TryLock(lock)
	}
	if err != nil {
		if !errors.Is(err, filelock.ErrLocked) {
			n.Log.Warn("notifications are off", "error", err)
		}
		return
	}
	var after lathe.Opt[lathe.Cursor]
	for ctx.Err() == nil {
		for ev, err := range n.Engine.Follow(ctx, lathe.Scope{}, after, func() {}) {
			if err != nil {
				break // it fell behind, and continues where it was
			}
			if ev.Last && ev.Seq > 0 {
				after = lathe.Some(lathe.Cursor{Seq: ev.Seq, Feed: n.Engine.Feed()})
			}
			n.handle(ctx, ev.Fact)
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
		if len(n.subscribed("")) == 0 {
			return
		}
	}
}

// handle turns an event into a notification, if it is worth one.
func (n *Notifier) handle(ctx context.Context, f lathe.Fact) {
	switch f := f.(type) {
	case *lathe.PermissionAsked:
		n.await(ctx, f.ID, note{Kind: Needs, Session: f.Session, Ask: f.ID, lowRisk: isLowRisk(f.PermissionRequest), words: f.Permission + " " + f.Summary()})
	case *lathe.QuestionAsked:
		words := ""
		if len(f.Questions) > 0 {
			words = f.Questions[0].Question
		}
		n.await(ctx, f.ID, note{Kind: Needs, Session: f.Session, Ask: f.ID, words: words})
	case *lathe.PermissionReplied:
		n.settle(f.Request)
	case *lathe.QuestionReplied:
		n.settle(f.Request)
	case *lathe.QuestionRejected:
		n.settle(f.Request)
	case *lathe.MessageChanged:
		if a, ok := f.Info.Data.(*lathe.Assistant); ok {
			n.begin(f.Info.Session, a.Error)
		}
	case *lathe.StatusChanged:
		n.follow(ctx, f.Session, f.Status.Type)
	default: // nobody is notified of it
	}
}

// begin notes a turn, and why it failed if it did.
func (n *Notifier) begin(id lathe.SessionID, fault lathe.Fault) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if _, known := n.turns[id]; !known && len(n.turns) >= mostTurns {
		clear(n.turns)
	}
	n.turns[id] = fault
}

// follow notices the end of a turn.
func (n *Notifier) follow(ctx context.Context, id lathe.SessionID, status string) {
	n.mu.Lock()
	fault, busy := n.turns[id]
	if status == lathe.Idle {
		delete(n.turns, id)
	}
	n.mu.Unlock()
	if !busy || status != lathe.Idle {
		return
	}
	one := note{Kind: Done, Session: id}
	switch f := fault.(type) {
	case nil:
	case *lathe.AbortedFault: // someone stopped it, and knows
		return
	case *lathe.UnknownFault:
		if one.Kind = Failed; f.Ref == "budget" {
			one.Kind = Budget
		}
	default:
		one.Kind = Failed
	}
	if fault != nil {
		one.words = lathe.FaultMessage(fault)
	}
	n.send(ctx, one)
}

// await notifies of a request that nobody answers for a while.
func (n *Notifier) await(ctx context.Context, id lathe.AskID, one note) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if _, known := n.waiting[id]; known || len(n.waiting) >= mostAsks {
		return
	}
	n.sender.running.Add(1)
	n.waiting[id] = time.AfterFunc(n.Grace, func() {
		defer n.sender.running.Done()
		n.send(ctx, one)
	})
}

// settle forgets a request that is answered.
func (n *Notifier) settle(id lathe.AskID) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if t := n.waiting[id]; t != nil && t.Stop() {
		n.sender.running.Done()
	}
	delete(n.waiting, id)
}

func (n *Notifier) stopTimers() {
	n.mu.Lock()
	ids := make([]lathe.AskID, 0, len(n.waiting))
	for id := range n.waiting {
		ids = append(ids, id)
	}
	n.mu.Unlock()
	for _, id := range ids {
		n.settle(id)
	}
}

// note is the payload of a notification.
type note struct {
	Kind    string          `json:"kind"`
	Session lathe.SessionID `json:"session"`
	Project string          `json:"project,omitempty"` // its name
	Ask     lathe.AskID     `json:"ask,omitempty"`
	Actions bool            `json:"actions,omitempty"` // the notification may offer to allow once or to reject
	Title   string          `json:"title,omitempty"`   // only with Options.Text, as is Text
	Text    string          `json:"text,omitempty"`

	lowRisk bool
	words   string
}

// isLowRisk reports whether a request can be allowed from a notification, which does not show it: the call only finds
// names and words in the project, or keeps a list. Every other request needs a look at what it is about.
func isLowRisk(r lathe.PermissionRequest) bool {
	return slices.Contains([]string{"glob", "grep", "list", "lsp", "todowrite"}, r.Permission)
}

// send sends a notification to all devices that want it.
func (n *Notifier) send(ctx context.Context, one note) {
	devices := n.subscribed(one.Kind)
	if len(devices) == 0 {
		return
	}
	rec, err := n.Engine.Get(ctx, one.Session)
	if err != nil || rec.Parent != "" && one.Kind != Needs { // the end of a subagent is none of its session
		return
	}
	one.Project = n.projectOf(ctx, rec)
	if n.Text {
		one.Title, one.Text = clip(rec.Title), clip(one.words)
	}
	urgency := webpush.UrgencyNormal
	if one.Kind == Needs {
		urgency = webpush.UrgencyHigh
	}
	sum := sha256.Sum256([]byte(one.Session))
	topic := base64.RawURLEncoding.EncodeToString(sum[:24]) // 32 characters, which is the limit
	for _, d := range devices {
		mine := one
		mine.Actions = one.lowRisk && d.Right >= device.Answer
		body, err := json.Marshal(mine)
		if err != nil {
			n.Log.Warn("notification not sent", "error", err)
			continue
		}
		n.sender.send(ctx, d.ID, message{*d.Push, body, topic, urgency, time.Now().Add(deadline)})
	}
}

func clip(s string) string { return phrase.Shorten(s, mostText) }

// projectOf is the name of a session's project.
func (n *Notifier) projectOf(ctx context.Context, rec lathe.Session) string {
	all, err := n.Engine.Projects(ctx)
	if err != nil {
		return ""
	}
	for _, p := range all {
		if p.ID == rec.Project && (p.Name != "" || len(p.Worktree) > 1) {
			return clip(cmp.Or(p.Name, filepath.Base(p.Worktree)))
		}
	}
	return ""
}
