package lathe

import (
	"net/url"
	"strconv"
	"strings"
	"time"
)

// untilKey is the part of a share's address that holds its expiry, because the wire's record has no field for it. The
// address in the record counts, not the requested one.
const untilKey = "until"

// WithExpiry returns the share with an end.
func (s Share) WithExpiry(end time.Time) Share {
	if u, err := url.Parse(s.URL); err == nil {
		u.RawQuery = url.Values{untilKey: {strconv.FormatInt(end.Unix(), 10)}}.Encode()
		s.URL = u.String()
	}
	return s
}

// ExpiresAt is when the share ends; false if never.
func (s *Share) ExpiresAt() (time.Time, bool) {
	u, err := url.Parse(s.URL)
	if err != nil {
		return time.Time{}, false
	}
	n, err := strconv.ParseInt(u.Query().Get(untilKey), 10, 64)
	return time.Unix(n, 0), err == nil
}

// Expired reports whether the share is over.
func (s *Share) Expired(now time.Time) bool {
	end, ok := s.ExpiresAt()
	return ok && !now.Before(end)
}

// ParseDuration reads a time such as 30m, 12h, 7d or 2w; "" and never are 0.
func ParseDuration(text string) (time.Duration, error) {
	if text == "" || text == "never" {
		return 0, nil
	}
	days := map[string]time.Duration{"d": 24 * time.Hour, "w": 7 * 24 * time.Hour}
	for unit, length := range days {
		if number, ok := strings.CutSuffix(text, unit); ok {
			if n, err := strconv.ParseUint(number, 10, 16); err == nil && n > 0 {
				return time.Duration(n) * length, nil
			}
		}
	}
	if d, err := time.ParseDuration(text); err == nil && d > 0 {
		return d, nil
	}
	return 0, Errorf(Invalid, "write a time as 30m, 12h, 7d or 2w, not %q", text)
}
