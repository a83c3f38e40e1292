package auth

import (
	"cmp"
	"context"
	"net/url"
	"time"

	"github.com/lathe-agent/lathe"
)

// How often a vendor is asked whether the user has come, in seconds: unless it says, at least
// and at most, and how much more after it complained.
const (
	usualPace, leastPace, mostPace, slower = 5, 1, 60, 5
)

// device is the login by a short code.
func (c Client) device(ctx context.Context, m Method, talk LoginUI) (Credential, error) {
	a, err := c.form(ctx, m.Device, withScope(m, url.Values{"client_id": {m.ClientID}}))
	if err != nil {
		return nil, err
	}
	page, err := url.Parse(a.Verification)
	if a.DeviceCode == "" || a.UserCode == "" || err != nil || !isSafe(page) {
		return nil, lathe.Errorf(lathe.Unavailable, "%s sent no login code", m.Provider)
	}
	talk.Show(Prompt{URL: a.Verification, Code: a.UserCode})
	if a.ExpiresIn > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadlineCause(ctx, time.Now().Add(seconds(a.ExpiresIn)), tooLate(m))
		defer cancel()
	}
	pace := cmp.Or(a.Interval, usualPace)
	for {
		pace = min(max(pace, leastPace), mostPace)
		if err := c.wait(ctx, seconds(pace)); err != nil {
			return nil, err
		}
		got, err := c.form(ctx, m.Token, url.Values{
			"client_id": {m.ClientID}, "device_code": {a.DeviceCode}, "grant_type": {"urn:ietf:params:oauth:grant-type:device_code"},
		})
		switch {
		case err == nil:
			return c.credential(m, got)
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case got.Error == "authorization_pending":
		case got.Error == "slow_down":
			pace = max(pace+slower, got.Interval)
		case got.Error == "expired_token":
			return nil, tooLate(m)
		case got.Error == "access_denied":
			return nil, lathe.Errorf(lathe.Unauthorized, "the login to %s was denied", m.Provider)
		case lathe.CodeOf(err) == lathe.Unavailable: // the user may still be at it
			pace += slower
		default:
			return nil, err
		}
	}
}

func tooLate(m Method) error {
	return lathe.Errorf(lathe.Unauthorized, "the code for %s has expired; start again", m.Provider)
}

func withScope(m Method, v url.Values) url.Values {
	if m.Scope != "" {
		v.Set("scope", m.Scope)
	}
	return v
}
