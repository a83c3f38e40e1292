package auth

import (
	"context"
	"errors"
	"net/url"

	"golang.org/x/oauth2"

	"github.com/lathe-agent/lathe"
)

// How often a vendor is asked at least and at most whether the user has come, in seconds.
const leastPace, mostPace = 1, 60

// device is the login by a short code.
func (c Client) device(ctx context.Context, m Method, talk LoginUI) (Credential, error) {
	how := m.config("")
	a, err := how.DeviceAuth(c.within(ctx, once))
	if err != nil {
		err = explain(ctx, m, err)
		if lathe.CodeOf(err) == lathe.Unavailable {
			return nil, lathe.Errorf(lathe.Unavailable, "%s sent no login code: %w", m.Provider, err)
		}
		return nil, err
	}
	page, err := url.Parse(a.VerificationURI)
	if a.DeviceCode == "" || a.UserCode == "" || err != nil || !isSafe(page) {
		return nil, lathe.Errorf(lathe.Unavailable, "%s sent no login code", m.Provider)
	}
	talk.Show(Prompt{URL: a.VerificationURI, Code: a.UserCode})
	if a.Interval != 0 {
		a.Interval = min(max(a.Interval, leastPace), mostPace)
	}
	token, err := how.DeviceAccessToken(c.within(ctx, again), a)
	if refused, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
		switch refused.ErrorCode {
		case "expired_token":
			return nil, tooLate(m)
		case "access_denied":
			return nil, lathe.Errorf(lathe.Unauthorized, "the login to %s was denied", m.Provider)
		}
	}
	switch {
	case err == nil:
		return c.credential(m, token)
	case ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded):
		return nil, tooLate(m) // the time that the vendor gave is over
	}
	return nil, explain(ctx, m, err, a.DeviceCode)
}

func tooLate(m Method) error {
	return lathe.Errorf(lathe.Unauthorized, "the code for %s has expired; start again", m.Provider)
}
