package provider

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/lathe-agent/lathe/internal/scrub"
	"github.com/lathe-agent/lathe/model/auth"
	"github.com/lathe-agent/lathe/model/catalog"
)

// Limits for the check of a key: it must not keep a user waiting who has no network.
const (
	checkTime = 8 * time.Second
	checkSize = 1 << 20
)

// Verdict is the outcome of the check of a key.
type Verdict string

// The verdicts. All but Refused allow saving the key.
const (
	Works       Verdict = "works"
	Refused     Verdict = "refused"     // the key is wrong
	NoCredit    Verdict = "no-credit"   // the key is right, and its account has no credit or quota left
	Unreachable Verdict = "unreachable" // no network, or the server does not work
	Unchecked   Verdict = "unchecked"   // the provider has no cheap call that tells
)

// KeyCheck is the result of a check.
type KeyCheck struct {
	Verdict Verdict
	Detail  string // the reason, in words for people; it never holds the key
	Host    string // the server that was asked
}

// CheckKey asks a provider for its list of models with a key, which costs nothing, and tells a wrong key,
// missing credit and a missing network apart.
func CheckKey(ctx context.Context, p *catalog.Provider, k auth.Key, d Deps) KeyCheck {
	c, m := &client{provider: p, deps: d, key: key{secret: k.Key, metadata: k.Metadata}}, anyModel(p)
	o, err := readOptions(p)
	if err != nil || m == nil {
		return KeyCheck{Verdict: Unchecked, Detail: "the provider has no models"}
	}
	o.APIKey = "" // the key under test counts, not that of the config
	c.options, c.model, c.proto = o, m, proto(m)
	if c.base, err = c.address(); err != nil {
		return KeyCheck{Verdict: Unchecked, Detail: err.Error()}
	}
	at, open := c.checkAddress()
	if at == "" {
		return KeyCheck{Verdict: Unchecked, Detail: p.Name + " has no list of models for keys"}
	}
	out := c.check(ctx, at, c.header())
	if out.Verdict == Works && open {
		// Some servers list their models to anyone, which says nothing about the key.
		if without := c.check(ctx, at, nil); without.Verdict == Works {
			return KeyCheck{Unchecked, p.Name + " lists its models without a key", out.Host}
		}
	}
	return out
}

// anyModel returns a model, for its protocol.
func anyModel(p *catalog.Provider) *catalog.Model {
	if all := p.Sorted(); len(all) > 0 {
		return all[0]
	}
	return nil
}

// checkAddress is the cheapest question that needs the key, "" if there is none. Open says that the
// server may answer it without one.
func (c *client) checkAddress() (at string, open bool) {
	switch c.model.NPM {
	case catalog.OpenRouter: // its models are public
		return c.base + "/key", false
	case catalog.Gateway:
		return c.base + "/credits", false
	case catalog.Anthropic:
		return c.base + "/models?limit=1", c.provider.ID != "anthropic"
	case catalog.Google:
		return c.base + "/models?pageSize=1", false
	case catalog.Bedrock:
		return strings.Replace(c.base, "://bedrock-runtime.", "://bedrock.", 1) + "/foundation-models", false
	case catalog.Azure:
		return c.base + "/models?api-version=" + cmp.Or(c.options.APIVersion, "preview"), false
	case catalog.Vertex, catalog.VertexAnthropic:
		return "", false
	}
	return c.base + "/models", c.model.NPM != catalog.OpenAI && c.model.NPM != catalog.Mantle
}

// check asks once. It follows no redirect: the key is for this server alone.
func (c *client) check(ctx context.Context, at string, header map[string]string) KeyCheck {
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return KeyCheck{Verdict: Unchecked, Detail: "its address is not valid"}
	}
	for name, value := range header {
		req.Header.Set(name, value)
	}
	req.Header.Set("Accept", "application/json")
	if c.protocol() == Messages {
		req.Header.Set("Anthropic-Version", "2023-06-01")
	}
	web := http.Client{}
	if c.deps.Client != nil {
		web = *c.deps.Client
	}
	web.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	resp, err := web.Do(req)
	if err != nil {
		return KeyCheck{Unreachable, unreachable(req.URL.Hostname(), err), req.URL.Host}
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(resp.Body, checkSize))
	if err != nil {
		return KeyCheck{Unreachable, unreachable(req.URL.Hostname(), err), req.URL.Host}
	}
	out := judge(resp.StatusCode, body)
	out.Host, out.Detail = req.URL.Host, scrub.String(out.Detail, []string{c.key.secret.Reveal()})
	return out
}

// unreachable says in plain words why a server did not answer.
func unreachable(host string, err error) string {
	var dns *net.DNSError
	if of, ok := errors.AsType[*url.Error](err); ok {
		err = of.Err
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return host + " did not answer in time"
	case errors.As(err, &dns):
		return host + " was not found; is there a network?"
	}
	return fmt.Sprintf("%s cannot be reached: %v", host, err)
}

// The words by which providers say what is wrong, where the status does not.
var (
	creditWords = []string{
		"insufficient_quota", "insufficient quota", "credit balance", "insufficient balance", "insufficient credit", "insufficient_funds",
		"out of credit", "no credit", "billing", "payment required", "exceeded your current quota", "quota exceeded", "spending limit",
	}
	keyWords = []string{
		"api_key_invalid", "api key not valid", "invalid api key", "invalid_api_key", "incorrect api key", "invalid x-api-key", "api key expired",
		"authentication", "unauthorized", "unauthenticated", "invalid token", "invalid key", "security token", "unrecognizedclient",
	}
	scopeWords = []string{"missing scopes", "insufficient permissions", "insufficient_permissions"}
)

// judge reads an answer. It is pure.
func judge(status int, body []byte) KeyCheck {
	said := reason(body)
	text := strings.ToLower(said + " " + string(body[:min(len(body), 4<<10)]))
	has := func(words []string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
	}
	detail := fmt.Sprintf("%d: %s", status, cmp.Or(said, http.StatusText(status)))
	switch {
	case status == http.StatusOK && !isJSON(body): // the page of a network that wants a login
		return KeyCheck{Verdict: Unreachable, Detail: "the answer is a page and not the provider's; does your network want a login?"}
	case status == http.StatusOK && spent(body):
		return KeyCheck{Verdict: NoCredit, Detail: "no credit is left"}
	case status == http.StatusOK:
		return KeyCheck{Verdict: Works}
	case status == http.StatusPaymentRequired, (status == 400 || status == 403 || status == 429) && has(creditWords):
		return KeyCheck{Verdict: NoCredit, Detail: detail}
	case status == http.StatusForbidden && has(scopeWords): // a key for some calls only is right
		return KeyCheck{Verdict: Unchecked, Detail: detail}
	case status == http.StatusUnauthorized, status == http.StatusForbidden, status == http.StatusBadRequest && has(keyWords):
		return KeyCheck{Verdict: Refused, Detail: detail}
	case status >= 500, status == http.StatusTooManyRequests, status >= 300 && status < 400:
		return KeyCheck{Verdict: Unreachable, Detail: detail}
	}
	return KeyCheck{Verdict: Unchecked, Detail: detail}
}

// isJSON reports whether an answer begins as JSON does. A long list is cut off, so that it need not be valid.
func isJSON(body []byte) bool {
	text := bytes.TrimSpace(body)
	return len(text) > 0 && (text[0] == '{' || text[0] == '[')
}

// spent reports whether an account says that nothing is left on it, as OpenRouter's and Vercel's do.
func spent(body []byte) bool {
	var a struct {
		Data struct {
			Remaining *float64 `json:"limit_remaining"`
		} `json:"data"`
		Balance json.Number `json:"balance"`
	}
	if json.Unmarshal(body, &a) != nil {
		return false
	}
	if a.Data.Remaining != nil {
		return *a.Data.Remaining <= 0
	}
	left, err := a.Balance.Float64()
	return err == nil && left <= 0
}

// reason is the message in an error of any provider, on one line and short.
func reason(body []byte) string {
	var a struct {
		Error   json.RawMessage `json:"error"`
		Message string          `json:"message"`
		Detail  any             `json:"detail"`
	}
	if json.Unmarshal(body, &a) != nil {
		return ""
	}
	var object struct{ Message, Type, Code string }
	var word string
	_ = json.Unmarshal(a.Error, &object) // one of both fits
	_ = json.Unmarshal(a.Error, &word)
	detail, _ := a.Detail.(string)
	text := strings.Join(strings.Fields(cmp.Or(object.Message, word, a.Message, detail, object.Code, object.Type)), " ")
	if len(text) > 200 {
		text = strings.ToValidUTF8(text[:200], "") + "…"
	}
	return text
}
