// Package push sends notifications to the browsers of paired devices by Web Push.
//
// A Notifier follows the feed like every other reader and turns a few of its events into notifications: a session
// needs an answer, is done, has failed, or has reached its budget. It never delays a turn: each device has a short
// queue and a goroutine of its own while that has entries. Payloads are encrypted for the browser and say which session,
// not what is in it. Run waits for all goroutines. All methods may be called by many goroutines.
//
// Start reading at Notifier.
package push

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/server/device"
)

// The kinds of notifications.
const (
	Needs  = "needs"  // a request or a question waits
	Done   = "done"   // a turn ended well
	Failed = "failed" // a turn failed
	Budget = "budget" // a turn ended because its budget is used up
)

// Kinds are all kinds.
func Kinds() []string { return []string{Needs, Done, Failed, Budget} }

// Reach judges where a notification may be sent, because a device names the address.
type Reach interface {
	// CheckURL refuses addresses that are visibly not on the internet.
	CheckURL(u *url.URL) error
	// Transport refuses them when it connects, whatever their name meant before.
	Transport() *http.Transport
}

const mostEndpoint = 2048 // bytes

// Check refuses a subscription that cannot or must not work.
func Check(s device.Subscription, reach Reach) error {
	if len(s.Endpoint) > mostEndpoint {
		return lathe.Errorf(lathe.Invalid, "endpoint is longer than %d bytes", mostEndpoint)
	}
	u, err := url.Parse(s.Endpoint)
	if err != nil || u.Scheme != "https" || u.Hostname() == "" || u.User != nil || strings.ContainsAny(s.Endpoint, " \r\n\t") {
		return lathe.Errorf(lathe.Invalid, "endpoint must be an https address of a push service")
	}
	if err := reach.CheckURL(u); err != nil {
		return lathe.Errorf(lathe.Invalid, "endpoint: %w", err)
	}
	if err := checkKeys(s.Key, s.Auth); err != nil {
		return err
	}
	if len(s.Kinds) == 0 {
		return lathe.Errorf(lathe.Invalid, "kinds is empty; use %s", strings.Join(Kinds(), ", "))
	}
	for _, k := range s.Kinds {
		if !slices.Contains(Kinds(), k) || len(s.Kinds) > len(Kinds()) {
			return lathe.Errorf(lathe.Invalid, "unknown kind %q; use %s", k, strings.Join(Kinds(), ", "))
		}
	}
	return nil
}
