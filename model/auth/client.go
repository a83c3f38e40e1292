package auth

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/scrub"
)

// How long one answer of a vendor may take, how much it may say, and how long a user may take
// for a login.
const (
	answerTime = 30 * time.Second
	answerSize = 1 << 20
	loginTime  = 15 * time.Minute
)

// Client logs in to vendors and renews tokens. The zero value works.
type Client struct {
	HTTP      *http.Client
	Now       func() time.Time
	UserAgent string // how this program calls itself
}

// Prompt is the page and code for the user to log in.
type Prompt struct {
	URL  string // the page to open
	Code string // to be typed there; "" when there is nothing to type
}

// LoginUI shows a login to its user.
type LoginUI struct {
	Show func(Prompt)
	// Paste waits for what the user copied from the page, for browsers that run elsewhere, and
	// until the context ends; nil when pasting is not possible.
	Paste func(ctx context.Context) (string, error)
}

// Login logs a user in. It ends when the user has, has not in time, or the context ends.
func (c Client) Login(ctx context.Context, m Method, talk LoginUI) (Credential, error) {
	if m.NeedsClientID && m.ClientID == "" {
		return nil, lathe.Errorf(lathe.Invalid, "a login to %s needs the client ID of a registered app; pass --client-id", m.Provider)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, loginTime,
		lathe.Errorf(lathe.Unauthorized, "the login to %s timed out after %s; start again", m.Provider, loginTime))
	defer cancel()
	if m.Flow == Device {
		return c.device(ctx, m, talk)
	}
	return c.browser(ctx, m, talk)
}

func (c Client) now() time.Time {
	if c.Now == nil {
		return time.Now()
	}
	return c.Now()
}

// said is the answer of a vendor to a question that no standard has, or its refusal of any.
type said struct {
	Key string `json:"key"` // of a login that gives one

	Token     string  `json:"token"`      // of an exchange
	ExpiresAt float64 `json:"expires_at"` // seconds since 1970

	Error       problem `json:"error"`
	Description string  `json:"error_description"`
	Message     string  `json:"message"`
}

// problem is the word for an error. Some vendors put an object in its place.
type problem string

// UnmarshalJSON takes a word, or an object with one.
func (p *problem) UnmarshalJSON(b []byte) error {
	var word string
	var object struct{ Code, Type, Message string }
	if json.Unmarshal(b, &word) != nil && json.Unmarshal(b, &object) == nil {
		word = cmp.Or(object.Code, object.Type, object.Message, "error")
	}
	*p = problem(word)
	return nil
}

// question is a request. Secrets must not appear in an error.
type question struct {
	kind    string
	body    []byte
	bearer  string
	secrets []string
}

// ask sends a question and reads the answer. A refusal that says why is an answer too.
func (c Client) ask(parent context.Context, method, address string, q question) (said, error) {
	ctx, cancel := context.WithTimeout(parent, answerTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(q.body))
	if err != nil || !isSafe(req.URL) {
		return said{}, lathe.Errorf(lathe.Invalid, "%q is not a URL that secrets can be sent to; use https", address)
	}
	req.Header.Set("Accept", "application/json")
	if q.kind != "" {
		req.Header.Set("Content-Type", q.kind)
	}
	if q.bearer != "" {
		req.Header.Set("Authorization", "Bearer "+q.bearer)
	}
	if c.UserAgent != "" {
		req.Header.Set("User-Agent", c.UserAgent)
		req.Header.Set("Editor-Version", c.UserAgent) // some ask for it by this name
	}
	client := c.plain()
	resp, err := client.Do(req)
	if err != nil {
		return said{}, unreachable(parent, req.URL.Host, err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(resp.Body, answerSize))
	if err != nil {
		return said{}, unreachable(parent, req.URL.Host, err)
	}
	return readResponse(req.URL.Host, resp.StatusCode, body, q.secrets)
}

// readResponse reads an answer, and returns it also with an error.
func readResponse(host string, status int, body []byte, secrets []string) (said, error) {
	var out said
	readable := json.Unmarshal(body, &out) == nil
	if readable && out.Error == "" && status == http.StatusOK {
		return out, nil
	}
	secrets = slices.DeleteFunc(secrets, func(s string) bool { return len(s) < 4 }) // they are part of any word
	why := scrub.String(cmp.Or(out.Description, out.Message, string(out.Error), http.StatusText(status)), secrets)
	switch {
	case status >= 500 || status == http.StatusTooManyRequests:
		return out, lathe.Errorf(lathe.Unavailable, "%s is unavailable (%d: %s); try again later", host, status, why)
	case !readable:
		return out, lathe.Errorf(lathe.Unavailable, "%s sent a response that is not JSON (%d)", host, status)
	}
	return out, lathe.Errorf(lathe.Unauthorized, "%s refused: %s", host, why)
}

func unreachable(ctx context.Context, host string, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if of, ok := errors.AsType[*url.Error](err); ok {
		err = of.Err
	}
	return lathe.Errorf(lathe.Unavailable, "%s cannot be reached: %w", host, err)
}

// Renew returns what renews the tokens of a login by this method.
func (c Client) Renew(m Method) Renew {
	return func(ctx context.Context, old OAuth) (OAuth, error) {
		m, err := m.ForHost(old.EnterpriseURL)
		if err != nil {
			return OAuth{}, err
		}
		refresh := old.Refresh.Reveal()
		var out OAuth
		switch {
		case refresh == "":
			err = errors.New("no refresh token")
		case m.Exchange != "" && !strings.HasPrefix(refresh, m.RefreshPrefix):
			out, err = c.exchange(ctx, m, old)
		default:
			out, err = c.refresh(ctx, m, old)
		}
		if lathe.CodeOf(err) == lathe.Internal || lathe.CodeOf(err) == lathe.Unauthorized {
			return OAuth{}, expired(m.Provider, err)
		}
		return out, err
	}
}

func expired(provider string, err error) error {
	e := lathe.Errorf(lathe.Unauthorized, "the login to %s has expired (%w): run \"lathe auth login %s\"", provider, err, provider)
	e.Fault = &lathe.ProviderAuthFault{ProviderID: provider, Message: e.Message}
	return e
}

// refresh asks for a new token with the one that renews.
func (c Client) refresh(ctx context.Context, m Method, old OAuth) (OAuth, error) {
	m.ClientID = cmp.Or(old.ClientID, m.ClientID)
	if m.Token == "" || m.GivesKey {
		return OAuth{}, errors.New("the login cannot be renewed")
	}
	held := &oauth2.Token{RefreshToken: old.Refresh.Reveal()}
	token, err := m.config("").TokenSource(c.within(ctx, once), held).Token()
	if err != nil {
		return OAuth{}, explain(ctx, m, err, held.RefreshToken)
	}
	out, err := c.token(m, token) // it has the old refresh token if that stays valid
	out.AccountID, out.EnterpriseURL = old.AccountID, old.EnterpriseURL
	return out, err
}

// exchange gets a short-lived token for the lasting one.
func (c Client) exchange(ctx context.Context, m Method, old OAuth) (OAuth, error) {
	lasting := old.Refresh.Reveal()
	a, err := c.ask(ctx, http.MethodGet, m.Exchange, question{bearer: lasting, secrets: []string{lasting}})
	if err != nil {
		return OAuth{}, err
	}
	if a.Token == "" || a.ExpiresAt <= 0 || a.ExpiresAt > 1<<40 {
		return OAuth{}, lathe.Errorf(lathe.Unavailable, "%s sent no token", m.Provider)
	}
	out := old
	out.Access, out.Expires = NewSecret(a.Token), time.Unix(int64(a.ExpiresAt), 0)
	return out, nil
}
