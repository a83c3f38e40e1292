package push

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	"github.com/SherClockHolmes/webpush-go"

	"github.com/lathe-agent/lathe/server/device"
)

const (
	queued     = 16               // notifications of a device; the oldest is dropped
	tryTime    = 10 * time.Second // of one attempt
	deadline   = 5 * time.Minute  // of a notification, with its retries
	firstRetry = time.Second
	lastRetry  = time.Minute
	// keepSeconds is how long a service keeps a notification for a device that is off.
	keepSeconds = 4 * 60 * 60
	// contact is how the operator of a push service finds out what sends the requests. Services require an address.
	contact = "https://github.com/lathe-agent/lathe"
)

// message is a notification for one device.
type message struct {
	to      device.Subscription
	body    []byte // not encrypted
	topic   string // a newer one replaces those that the service still keeps
	urgency webpush.Urgency
	until   time.Time
}

// sender sends messages, each device's in order.
type sender struct {
	client *http.Client
	key    func(context.Context) (string, error)
	gone   func(ctx context.Context, id, endpoint string) // called when a service no longer knows a subscription
	log    *slog.Logger
	retry  time.Duration // before the second attempt

	mu      sync.Mutex           // guards the fields below
	lanes   map[string][]message // by device; one goroutine each
	running sync.WaitGroup
}

func newSender(reach Reach, log *slog.Logger) *sender {
	return &sender{
		log: log, retry: firstRetry, lanes: map[string][]message{},
		client: &http.Client{
			Transport:     reach.Transport(),
			Timeout:       tryTime,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
}

// send queues a message and returns at once.
func (s *sender) send(ctx context.Context, id string, m message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	lane, running := s.lanes[id]
	if len(lane) >= queued {
		lane = lane[1:]
	}
	s.lanes[id] = append(lane, m)
	if !running {
		s.running.Go(func() { s.run(ctx, id) })
	}
}

// run sends the messages of a device until there are none.
func (s *sender) run(ctx context.Context, id string) {
	for {
		s.mu.Lock()
		lane := s.lanes[id]
		if len(lane) == 0 || ctx.Err() != nil {
			delete(s.lanes, id)
			s.mu.Unlock()
			return
		}
		m := lane[0]
		s.lanes[id] = lane[1:]
		s.mu.Unlock()
		if err := s.deliver(ctx, id, m); err != nil && ctx.Err() == nil {
			s.log.Warn("notification not sent", "device", id, "service", hostOf(m.to.Endpoint), "error", err)
		}
	}
}

// errTry says that a later attempt may work.
type errTry struct {
	error
	after time.Duration // that the service asks for
}

// deliver tries until the service has the message, refuses it, or its time is over.
func (s *sender) deliver(ctx context.Context, id string, m message) error {
	ctx, stop := context.WithDeadline(ctx, m.until)
	defer stop()
	for wait := s.retry; ; wait = min(4*wait, lastRetry) {
		err := s.try(ctx, id, m)
		again := errTry{}
		if err == nil || !errors.As(err, &again) {
			return err
		}
		if pause := max(wait, again.after); time.Now().Add(pause).After(m.until) {
			return err
		} else if timer := time.NewTimer(pause); true {
			select {
			case <-ctx.Done():
				timer.Stop()
				return err
			case <-timer.C:
			}
		}
	}
}

// try makes one request. All bodies have the same length, so that it does not tell what they are about.
func (s *sender) try(ctx context.Context, id string, m message) error {
	private, err := s.key(ctx)
	if err != nil {
		return err
	}
	public, err := publicKey(private)
	if err != nil {
		return err
	}
	res, err := webpush.SendNotificationWithContext(ctx, m.body, &webpush.Subscription{
		Endpoint: m.to.Endpoint, Keys: webpush.Keys{P256dh: m.to.Key, Auth: m.to.Auth},
	}, &webpush.Options{
		HTTPClient: s.client, Subscriber: contact, VAPIDPublicKey: public, VAPIDPrivateKey: private,
		TTL: keepSeconds, Topic: m.topic, Urgency: m.urgency,
	})
	var failed *url.Error
	if errors.As(err, &failed) {
		return errTry{error: fmt.Errorf("send: %w", failed.Err)} // the outer error has the address, which is a secret
	}
	if err != nil {
		return err
	}
	defer res.Body.Close()
	_, _ = io.CopyN(io.Discard, res.Body, 4096) // the rest is of no use
	switch {
	case res.StatusCode/100 == 2:
		return nil
	case res.StatusCode == http.StatusNotFound, res.StatusCode == http.StatusGone:
		s.gone(ctx, id, m.to.Endpoint)
		return nil
	case res.StatusCode == http.StatusTooManyRequests, res.StatusCode/100 == 5:
		seconds, _ := strconv.Atoi(res.Header.Get("Retry-After")) // without one the usual pause
		return errTry{fmt.Errorf("the service answered %d", res.StatusCode), time.Duration(min(max(seconds, 0), 3600)) * time.Second}
	default: // redirects too
		return fmt.Errorf("the service answered %d", res.StatusCode)
	}
}

// hostOf is as much of an endpoint as a log may have.
func hostOf(endpoint string) string {
	u, err := url.Parse(endpoint)
	if err != nil {
		return ""
	}
	return u.Host
}

// wait returns when no message is sent any more.
func (s *sender) wait() { s.running.Wait() }
