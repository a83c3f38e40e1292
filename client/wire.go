package client

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/phrase"
)

// prepare builds the HTTP request.
func (c *Client) prepare(ctx context.Context, r request) (*http.Request, error) {
	address := c.base + r.path
	if len(r.query) > 0 {
		address += "?" + r.query.Encode()
	}
	var body io.Reader
	if r.body != nil {
		data, err := json.Marshal(r.body)
		if err != nil {
			return nil, lathe.Errorf(lathe.Invalid, "cannot encode the request: %w", err)
		}
		body = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(ctx, r.method, address, body)
	if err != nil {
		return nil, lathe.Errorf(lathe.Invalid, "cannot create the request: %w", err)
	}
	if r.body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.options.Password != "" {
		req.SetBasicAuth(c.options.Username, c.options.Password)
	}
	if r.unattended {
		req.Header.Set(lathe.UnattendedHeader, "true")
	}
	if dir := cmp.Or(r.directory, c.options.Directory); dir != "" { // a header holds no other letters
		req.Header.Set("X-Opencode-Directory", url.PathEscape(dir))
	}
	return req, nil
}

// decode reads a successful response.
func (c *Client) decode(r request, data []byte) error {
	if r.to == nil {
		return nil
	}
	if err := json.Unmarshal(data, r.to); err != nil {
		return lathe.Errorf(lathe.Invalid, "%s %s: %s did not respond like a lathe server (%w); check the address", r.method, r.path, c.where, err)
	}
	return nil
}

// wireError is the JSON of an error, in either of its two forms.
type wireError struct {
	Name string `json:"name"`
	Data struct {
		Message string `json:"message"`
	} `json:"data"`
	Tag     string `json:"_tag"`
	Message string `json:"message"`
}

// readError turns an error response into an error with a code.
func (c *Client) readError(res *http.Response, data []byte) error {
	var p wireError
	_ = json.Unmarshal(data, &p) // other bodies have no message
	message := cmp.Or(p.Data.Message, p.Message, strings.TrimSpace(p.Name+p.Tag))
	code := codeOf(res.StatusCode)
	switch {
	case code == lathe.Unauthorized && message == "":
		return lathe.Errorf(code, "the server at %s requires another password; set LATHE_SERVER_PASSWORD (and LATHE_SERVER_USERNAME) to its credentials", c.where)
	case res.StatusCode >= 300 && res.StatusCode < 400:
		return lathe.Errorf(lathe.Invalid, "%s redirects to %s; use that address", c.where, phrase.Shorten(res.Header.Get("Location"), 200))
	case message == "":
		return lathe.Errorf(code, "the server at %s answered %s", c.where, res.Status)
	case p.Tag == "BadRequest" && message == p.Tag:
		return lathe.Errorf(code, "the server at %s rejected the request as invalid", c.where)
	}
	if strings.HasPrefix(message, lathe.ErrNoModel.Error()) { // the wire has no code for it
		return &lathe.Error{Code: code, Message: message, Err: lathe.ErrNoModel}
	}
	return lathe.Errorf(code, "%s", phrase.Shorten(message, 4000))
}

// codeOf returns the code for an HTTP status, the inverse of the server's mapping.
func codeOf(status int) lathe.Code {
	switch status {
	case http.StatusNotFound:
		return lathe.NotFound
	case http.StatusConflict:
		return lathe.Conflict
	case http.StatusForbidden:
		return lathe.Denied
	case http.StatusUnauthorized, http.StatusProxyAuthRequired:
		return lathe.Unauthorized
	case http.StatusTooManyRequests:
		return lathe.Limited
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return lathe.Unavailable
	case http.StatusRequestEntityTooLarge:
		return lathe.Overflow
	case http.StatusUnprocessableEntity:
		return lathe.Refused
	}
	if status >= 400 && status < 500 {
		return lathe.Invalid
	}
	return lathe.Internal
}

// in returns the path of a route below a session.
func in(id lathe.SessionID, below string) string {
	return "/session/" + url.PathEscape(string(id)) + below
}

// own returns the path of a session route that only lathe servers have.
func own(id lathe.SessionID, below string) string { return "/lathe" + in(id, below) }
