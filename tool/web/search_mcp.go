package web

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"github.com/lathe-agent/lathe/internal/phrase"
	"github.com/lathe-agent/lathe/internal/sse"
)

// searcher makes the searcher of the settings; nil if there can be none.
func (cfg SearchConfig) searcher() Searcher {
	if cfg.Key == "" && !cfg.Keyless {
		return nil
	}
	s := &remoteSearch{key: cfg.Key, agent: cmp.Or(cfg.UserAgent, "lathe"), transport: cfg.Transport, provider: cmp.Or(cfg.Provider, "exa")}
	if s.transport == nil {
		s.transport = &http.Transport{ForceAttemptHTTP2: true, DisableKeepAlives: true}
	}
	switch s.provider {
	case "exa":
		s.endpoint, s.label, s.search = cmp.Or(cfg.Endpoint, "https://mcp.exa.ai/mcp"), "Exa Web Search", s.searchExa
	case "parallel":
		s.endpoint, s.label, s.search = cmp.Or(cfg.Endpoint, "https://search.parallel.ai/mcp"), "Parallel Web Search", s.searchParallel
	default:
		return nil
	}
	return s
}

// searchExa asks Exa, whose key is in the address.
func (s *remoteSearch) searchExa(ctx context.Context, u *url.URL, q SearchQuery) (*http.Request, error) {
	if s.key != "" {
		query := u.Query()
		query.Set("exaApiKey", s.key)
		u.RawQuery = query.Encode()
	}
	return s.request(ctx, u, "web_search_exa", struct {
		Query      string `json:"query"`
		Type       string `json:"type"`
		NumResults int    `json:"numResults"`
		Livecrawl  string `json:"livecrawl"`
		Characters int    `json:"contextMaxCharacters,omitempty"`
	}{q.Query, q.Type, q.Results, q.Livecrawl, q.Characters})
}

// searchParallel asks Parallel, whose key is in a header.
func (s *remoteSearch) searchParallel(ctx context.Context, u *url.URL, q SearchQuery) (*http.Request, error) {
	req, err := s.request(ctx, u, "web_search", struct {
		Objective string   `json:"objective"`
		Queries   []string `json:"search_queries"`
		Session   string   `json:"session_id"`
		Model     string   `json:"model_name,omitempty"`
	}{q.Query, []string{q.Query}, q.Session, q.Model})
	if err == nil && s.key != "" {
		req.Header.Set("Authorization", "Bearer "+s.key)
	}
	return req, err
}

// remoteSearch calls a tool of an MCP server over HTTP, once and without a session.
type remoteSearch struct {
	provider, label, endpoint, key, agent string
	transport                             http.RoundTripper
	search                                func(context.Context, *url.URL, SearchQuery) (*http.Request, error)
}

func (s *remoteSearch) Provider() string { return s.provider }

func (s *remoteSearch) Label() string { return s.label }

func (s *remoteSearch) Search(ctx context.Context, q SearchQuery) (string, error) {
	u, err := url.Parse(s.endpoint)
	if err != nil {
		return "", errors.New("its URL in the config is invalid")
	}
	req, err := s.search(ctx, u, q)
	if err != nil {
		return "", err
	}
	return s.send(req)
}

func (s *remoteSearch) request(ctx context.Context, u *url.URL, name string, arguments any) (*http.Request, error) {
	body, err := json.Marshal(struct {
		Version string `json:"jsonrpc"`
		ID      int    `json:"id"`
		Method  string `json:"method"`
		Params  any    `json:"params"`
	}{"2.0", 1, "tools/call", struct {
		Name      string `json:"name"`
		Arguments any    `json:"arguments"`
	}{name, arguments}})
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), bytes.NewReader(body))
	if err != nil {
		return nil, errors.New("its URL in the config cannot be used")
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set("User-Agent", s.agent)
	return req, nil
}

// send returns the first text of the answer. A redirect is an error: the key is for the
// endpoint alone.
func (s *remoteSearch) send(req *http.Request) (string, error) {
	res, err := s.transport.RoundTrip(req)
	if err != nil {
		return "", s.hidden(err)
	}
	defer res.Body.Close()
	switch {
	case s.key == "" && (res.StatusCode == http.StatusUnauthorized || res.StatusCode == http.StatusForbidden):
		return "", fmt.Errorf("the provider wants a key, which the user can give in EXA_API_KEY or PARALLEL_API_KEY (status %d)", res.StatusCode)
	case res.StatusCode == http.StatusUnauthorized || res.StatusCode == http.StatusForbidden:
		return "", fmt.Errorf("the provider rejected the configured API key (status %d)", res.StatusCode)
	case res.StatusCode == http.StatusTooManyRequests:
		return "", errors.New("the provider allows no more searches for now (status 429)")
	case res.StatusCode < 200 || res.StatusCode > 299:
		return "", fmt.Errorf("the provider answered %d %s", res.StatusCode, http.StatusText(res.StatusCode))
	}
	body := io.LimitReader(res.Body, webBytes)
	if kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type")); kind == "text/event-stream" {
		return s.stream(body)
	}
	data, err := io.ReadAll(body)
	if err != nil {
		return "", s.hidden(err)
	}
	if bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) {
		text, _, err := s.answer(data)
		return text, err
	}
	return s.stream(bytes.NewReader(data)) // a stream that was not called one
}

// stream looks for the answer among events, and does not wait for their end.
func (s *remoteSearch) stream(r io.Reader) (string, error) {
	events := sse.NewReaderLimit(r, webBytes)
	for {
		e, err := events.Next()
		if errors.Is(err, io.EOF) {
			return "", nil
		}
		if err != nil {
			return "", s.hidden(err)
		}
		if text, usable, err := s.answer(e.Data); usable {
			return text, err
		}
	}
}

// answer reads a JSON-RPC message. It is usable if it is an answer to the call.
func (s *remoteSearch) answer(data []byte) (text string, usable bool, _ error) {
	var msg struct {
		Result *struct {
			Content []struct{ Type, Text string }
			IsError bool
		}
		Error *struct{ Message string }
	}
	if err := json.Unmarshal(data, &msg); err != nil {
		return "", false, errors.New("the provider's answer cannot be read")
	}
	switch {
	case msg.Error != nil:
		return "", true, s.hidden(fmt.Errorf("the provider says %q", phrase.Clip(msg.Error.Message)))
	case msg.Result == nil:
		return "", false, errors.New("the provider's answer has no result")
	}
	for _, c := range msg.Result.Content {
		if c.Text != "" {
			text = c.Text
			break
		}
	}
	if msg.Result.IsError {
		return "", true, s.hidden(fmt.Errorf("the provider says %q", phrase.Clip(text)))
	}
	return text, true, nil
}

// hidden is an error without the key, wherever it came from.
func (s *remoteSearch) hidden(err error) error {
	text := err.Error()
	if s.key != "" {
		for _, key := range []string{s.key, url.QueryEscape(s.key)} {
			text = strings.ReplaceAll(text, key, "[key]")
		}
	}
	return errors.New(text)
}
