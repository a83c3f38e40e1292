// Package provider makes a client from a catalog entry.
//
// It maps package names of the config to protocols (protocol.go), knows the address and
// authentication of each provider (cloud.go), interprets options, and lists the usable
// providers (source.go). On request it finds servers on this machine (discover.go). It reads no
// environment and no file itself: both are arguments.
//
// Its clients are safe for use by many goroutines. Start reading at [Open].
package provider

import (
	"cmp"
	"context"
	"encoding/json"
	"iter"
	"maps"
	"net/http"
	"strings"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/model"
	"github.com/lathe-agent/lathe/model/anthropic"
	"github.com/lathe-agent/lathe/model/auth"
	"github.com/lathe-agent/lathe/model/bedrock"
	"github.com/lathe-agent/lathe/model/catalog"
	"github.com/lathe-agent/lathe/model/gemini"
	"github.com/lathe-agent/lathe/model/openai"
)

// Deps are the dependencies of a client. Nil members mean that there is nothing.
type Deps struct {
	Env         func(name string) string
	Credentials map[string]auth.Credential // by provider id
	// Token returns a login's token, renewed if need be; nil uses the one in Credentials.
	Token func(ctx context.Context, provider string) (auth.OAuth, error)
	// AWS finds the signer of requests to Amazon without an API key; nil means none.
	AWS    func(a AWS) (Signer, error)
	IDs    *lathe.IDs
	Client *http.Client
}

// AWS is the config for requests that are signed for Amazon. An empty value is left to Amazon's
// own config.
type AWS struct {
	Service, Region, Profile                   string
	AccessKeyID, SecretAccessKey, SessionToken string
}

// Signer signs requests; package model/aws has one.
type Signer interface {
	Region() string
	Sign(req *http.Request, body []byte) error
}

func (d Deps) env(names ...string) string {
	for _, name := range names {
		if d.Env == nil {
			break
		}
		if v := d.Env(name); v != "" {
			return v
		}
	}
	return ""
}

// Info describes an opened model.
type Info struct {
	Provider *catalog.Provider
	Model    *catalog.Model
	Name     string // of the model in requests
	Protocol Protocol
	BaseURL  string
	Price    model.Price
	Source   Source
}

// Open returns a client for a model of a provider.
func Open(p *catalog.Provider, m *catalog.Model, d Deps) (model.Model, Info, error) {
	info := Info{Provider: p, Model: m, Name: m.APIID, Price: m.Cost.Price()}
	o, err := readOptions(p)
	if err != nil {
		return nil, info, err
	}
	c := &client{provider: p, model: m, deps: d, options: o, proto: proto(m)}
	if c.proto.protocol == "" && m.API == "" && o.BaseURL == "" {
		return nil, info, lathe.Errorf(lathe.Invalid, "%s uses %s, which is not supported; if its API is OpenAI-compatible, set provider.%s.npm to %s and options.baseURL to its URL",
			p.Name, m.NPM, p.ID, catalog.Compatible)
	}
	if c.key, info.Source, err = c.findKey(); err != nil {
		return nil, info, err
	}
	if onPlan(p, c.key) {
		info.Price = model.Price{}
	}
	if c.base, err = c.address(); err != nil {
		return nil, info, err
	}
	info.BaseURL, info.Protocol, info.Name = c.base, c.protocol(), c.name()
	return c.open(info.Protocol), info, nil
}

// client gathers what a client is made of.
type client struct {
	provider *catalog.Provider
	model    *catalog.Model
	deps     Deps
	options  options
	proto    protocolInfo
	key      key
	signer   Signer // where requests are signed instead of having a key
	base     string
}

// open makes the client itself.
func (c *client) open(p Protocol) model.Model {
	e := model.Endpoint{
		Provider: c.provider.ID, BaseURL: c.base, Header: c.header(), Client: c.deps.Client, Deadlines: c.options.deadlines(),
	}
	if c.signer != nil {
		e.Sign = c.sign
	}
	ids := c.deps.IDs
	if ids == nil {
		ids = lathe.NewIDs()
	}
	var out model.Model
	switch p {
	case Messages:
		out = anthropic.New(e, ids)
		if c.model.NPM == catalog.VertexAnthropic {
			out = anthropic.NewVertex(e, ids)
		}
	case Converse:
		out = bedrock.New(e, ids)
	case Gemini:
		out = gemini.New(e, ids)
	case Responses:
		out = openai.NewResponses(e, ids, c.dialect(p))
	default:
		out = openai.NewChat(e, ids, c.dialect(p))
	}
	if c.key.login && c.deps.Token != nil {
		out = renewing{Model: out, id: c.provider.ID, name: c.keyHeader(), token: c.deps.Token}
	}
	return out
}

// header are the headers of each request: the key, those of the vendor, and those of the
// config, which win.
func (c *client) header() map[string]string {
	out := map[string]string{}
	add := func(more map[string]string) {
		for k, v := range more {
			out[http.CanonicalHeaderKey(k)] = v
		}
	}
	if name := c.keyHeader(); !c.key.secret.IsEmpty() {
		out[name] = keyValue(name, c.key.secret.Reveal())
	}
	add(vendorHeaders(c.provider.ID))
	switch {
	case onPlan(c.provider, c.key):
		add(planHeaders(c.key))
	case c.model.NPM == catalog.Copilot && c.key.login:
		add(map[string]string{"Editor-Version": "lathe/1.0", "Copilot-Integration-Id": "vscode-chat"}) // the server refuses short-lived tokens without
	}
	add(c.options.Headers)
	add(c.model.Headers)
	return out
}

func keyValue(name, key string) string {
	if name == authorization {
		return "Bearer " + key
	}
	return key
}

// vendorHeaders are the extra headers of single vendors.
func vendorHeaders(id string) map[string]string {
	switch id {
	case "anthropic":
		return map[string]string{"Anthropic-Beta": "interleaved-thinking-2025-05-14,fine-grained-tool-streaming-2025-05-14"}
	case "github-copilot":
		return map[string]string{"Openai-Intent": "conversation-edits", "X-Initiator": "agent"}
	case "openrouter", "zenmux", "vercel", "kilo":
		return map[string]string{"Http-Referer": "https://github.com/lathe-agent/lathe", "X-Title": "lathe"}
	}
	return nil
}

// renewing sends each request with a token that is good at that time.
type renewing struct {
	model.Model
	id, name string
	token    func(ctx context.Context, provider string) (auth.OAuth, error)
}

// Stream sends the request with a fresh token.
func (m renewing) Stream(ctx context.Context, r model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		token, err := m.token(ctx, m.id)
		if err != nil {
			yield(nil, err)
			return
		}
		headers := map[string]string{}
		maps.Copy(headers, r.Headers)
		headers[m.name] = keyValue(m.name, token.Access.Reveal())
		r.Headers = headers
		m.Model.Stream(ctx, r)(yield)
	}
}

// options are the config of a provider's client.
type options struct {
	APIKey        string            `json:"apiKey"`
	BaseURL       string            `json:"baseURL"`
	Endpoint      string            `json:"endpoint"`
	EnterpriseURL string            `json:"enterpriseUrl"`
	Headers       map[string]string `json:"headers"`
	Timeout       limit             `json:"timeout"`
	HeaderTimeout limit             `json:"headerTimeout"`
	ChunkTimeout  limit             `json:"chunkTimeout"`

	ResourceName string `json:"resourceName"`
	APIVersion   string `json:"apiVersion"`
	Deployments  bool   `json:"useDeploymentBasedUrls"`
	Completions  bool   `json:"useCompletionUrls"`
	LiteLLM      bool   `json:"litellmProxy"`
	Region       string `json:"region"`
	Profile      string `json:"profile"`
	AccessKey    string `json:"accessKeyId"`
	SecretKey    string `json:"secretAccessKey"`
	Session      string `json:"sessionToken"`
	Project      string `json:"project"`
	Location     string `json:"location"`
}

// limit is a time: milliseconds, or false for none.
type limit time.Duration

// UnmarshalJSON reads milliseconds; true says nothing.
func (l *limit) UnmarshalJSON(b []byte) error {
	var on bool
	if json.Unmarshal(b, &on) == nil {
		if !on {
			*l = -1
		}
		return nil
	}
	var ms float64
	if err := json.Unmarshal(b, &ms); err != nil {
		return err
	}
	*l = limit(min(max(ms, 0), 1e12) * float64(time.Millisecond))
	return nil
}

func readOptions(p *catalog.Provider) (o options, err error) {
	for name, raw := range p.Options {
		one, _ := json.Marshal(map[string]json.RawMessage{name: raw})
		if err := json.Unmarshal(one, &o); err != nil {
			return o, lathe.Errorf(lathe.Invalid, "config: provider.%s.options.%s has the wrong type", p.ID, name)
		}
	}
	return o, nil
}

// deadlines bounds each wait by the most exact of the options; timeout is for all of them.
func (o options) deadlines() model.Deadlines {
	pick := func(l limit) time.Duration {
		l = cmp.Or(l, o.Timeout)
		return time.Duration(l)
	}
	return model.Deadlines{Headers: pick(o.HeaderTimeout), First: pick(o.ChunkTimeout), Gap: pick(o.ChunkTimeout)}
}

func trimBase(s string) string { return strings.TrimRight(s, "/") }
