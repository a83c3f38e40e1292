package provider

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/model/auth"
	"github.com/lathe-agent/lathe/model/catalog"
)

// Source says why a provider is usable, in the words of the wire.
type Source string

// The sources, the stronger first.
const (
	FromConfig Source = "config" // settings
	FromAPI    Source = "api"    // a key in the credential file
	FromLogin  Source = "custom" // a login, or no credential needed
	FromEnv    Source = "env"    // a variable
)

// key is the credential for a provider.
type key struct {
	secret   auth.Secret
	login    bool // a token of a login, not a key
	account  string
	metadata map[string]string
}

// Active is a provider that can be used.
type Active struct {
	Provider *catalog.Provider // with those of its models that can be
	Source   Source
	// Implicit means that the user has not set it up: its free models need no key. It is used only by
	// name, never as a default, since it would receive the user's prompts.
	Implicit bool
}

// ActiveProviders returns the providers that can be used, by id.
func ActiveProviders(c *catalog.Catalog, d Deps) (out []Active) {
	for _, p := range c.Providers() {
		o, err := readOptions(p)
		if err != nil { // Open says what is wrong with them
			continue
		}
		k, s, ok := find(p, o, d)
		if ok && p.ID == gateway && k.secret.IsEmpty() && !hasKey(o.Headers) {
			p = free(p)
		}
		if ok && len(p.Models) > 0 {
			out = append(out, Active{p, s, s == FromLogin && !k.login && k.secret.IsEmpty()})
		}
	}
	return out
}

// Selectable returns the providers for a default: the ones that the user has set up.
func Selectable(all []Active) (out []*catalog.Provider) {
	for _, a := range all {
		if !a.Implicit {
			out = append(out, a.Provider)
		}
	}
	return out
}

// gateway is the provider that serves some models to anyone.
const gateway = "opencode"

// free returns the provider with only the models that cost nothing.
func free(p *catalog.Provider) *catalog.Provider {
	out := *p
	out.Models = map[string]*catalog.Model{}
	for id, m := range p.Models {
		if isFree(m) {
			out.Models[id] = m
		}
	}
	return &out
}

func isFree(m *catalog.Model) bool { return m.Cost.Input == 0 && m.Cost.Output == 0 }

// find looks for a key: settings, then the credential file, then the environment.
func find(p *catalog.Provider, o options, d Deps) (key, Source, bool) {
	if o.APIKey != "" {
		return key{secret: auth.NewSecret(o.APIKey)}, FromConfig, true
	}
	switch c := d.Credentials[p.ID].(type) {
	case auth.Key:
		return key{secret: c.Key, metadata: c.Metadata}, FromAPI, true
	case auth.OAuth:
		return key{secret: c.Access, login: true, account: c.AccountID}, FromLogin, true
	case auth.Reference: // it cannot be read now; Token says why
		return key{login: true}, FromLogin, true
	case auth.WellKnown: // its token is for a variable
	}
	for _, name := range EnvVars(p) {
		if v := d.env(name); v != "" {
			return key{secret: auth.NewSecret(v)}, FromEnv, true
		}
	}
	if from, ok := signs(p, o, d); ok {
		return key{}, from, true
	}
	if hasLogin(p) {
		return key{}, "", false // it needs its login
	}
	if v := catalog.VendorOf(p.ID); v.Keyless || len(EnvVars(p)) == 0 || hasKey(o.Headers) {
		if p.Configured {
			return key{}, FromConfig, true
		}
		return key{}, FromLogin, v.Keyless
	}
	return key{}, "", false
}

// signs reports whether requests can be signed, as far as that shows without reading files.
func signs(p *catalog.Provider, o options, d Deps) (Source, bool) {
	switch {
	case d.AWS == nil || p.NPM != catalog.Bedrock && p.NPM != catalog.Mantle:
		return "", false
	case o.AccessKey != "" || o.Profile != "":
		return FromConfig, true
	case d.env("AWS_ACCESS_KEY_ID", "AWS_PROFILE") != "":
		return FromEnv, true
	}
	return "", false
}

// hasLogin reports whether the user logs in to a provider by the config's own OAuth settings, which package
// harness reads.
func hasLogin(p *catalog.Provider) bool { return strings.HasPrefix(string(p.Options["oauth"]), "{") }

func hasKey(headers map[string]string) bool {
	for name := range headers {
		if slices.Contains([]string{"authorization", "x-api-key", "api-key", "x-goog-api-key"}, strings.ToLower(name)) {
			return true
		}
	}
	return false
}

// EnvVars returns the variables that may hold the key of a provider. Others of its list
// name resources and regions.
func EnvVars(p *catalog.Provider) (out []string) {
	for _, name := range append(slices.Clone(p.Env), catalog.VendorOf(p.ID).Env...) {
		isKey := strings.Contains(name, "KEY") || strings.Contains(name, "TOKEN") || strings.Contains(name, "PAT") || strings.Contains(name, "SECRET")
		signs := slices.Contains([]string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"}, name)
		if isKey && !signs && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// findKey returns the key of the client, or says how to get one.
func (c *client) findKey() (key, Source, error) {
	k, s, ok := find(c.provider, c.options, c.deps)
	if ok && c.provider.ID == gateway && k.secret.IsEmpty() && !hasKey(c.options.Headers) {
		k.secret, ok = auth.NewSecret("public"), isFree(c.model) // the gateway's word for anyone
	}
	if signed := c.model.NPM == catalog.Bedrock || c.model.NPM == catalog.Mantle; signed && k.secret.IsEmpty() && c.deps.AWS != nil && !hasKey(c.options.Headers) {
		return c.findSigner(s)
	}
	if !ok {
		return key{}, "", c.unauthorized()
	}
	return k, s, nil
}

// findSigner looks for signing credentials, also in default files, since the user asked for this
// provider.
func (c *client) findSigner(s Source) (key, Source, error) {
	o := c.options
	ask := AWS{Service: "bedrock", Region: o.Region, Profile: o.Profile, AccessKeyID: o.AccessKey, SecretAccessKey: o.SecretKey, SessionToken: o.Session}
	if c.model.NPM == catalog.Mantle {
		ask.Service = "bedrock-mantle"
	}
	s = cmp.Or(s, FromLogin)
	var err error
	c.signer, err = c.deps.AWS(ask)
	return key{}, s, c.asUnauthorized(err)
}

// sign signs a request, and reports a failure as a credential error.
func (c *client) sign(req *http.Request, body []byte) error {
	return c.asUnauthorized(c.signer.Sign(req, body))
}

// asUnauthorized adds to an error how messages show it.
func (c *client) asUnauthorized(err error) error {
	var known *lathe.Error
	if errors.As(err, &known) && known.Code == lathe.Unauthorized && known.Fault == nil {
		return &lathe.Error{Code: known.Code, Message: known.Message, Err: known, Fault: &lathe.ProviderAuthFault{ProviderID: c.provider.ID, Message: known.Message}}
	}
	return err
}

// unauthorized is the error for missing credentials. It names the variables and commands that supply them.
func (c *client) unauthorized() error {
	p := c.provider
	how := "set " + strings.Join(EnvVars(p), " or ") + ", or run \"lathe auth login " + p.ID + "\""
	what := p.Name + " needs an API key"
	if hasLogin(p) {
		what, how = p.Name+" needs a login", "run \"lathe auth login "+p.ID+"\""
	}
	switch c.model.NPM {
	case catalog.Bedrock, catalog.Mantle:
		what = "Amazon Bedrock needs an API key"
	case catalog.Copilot:
		what = "GitHub Copilot needs a login"
	case catalog.Vertex:
		what = "Vertex needs an API key, or an access token (gcloud auth print-access-token); service account files are not supported"
	case catalog.VertexAnthropic:
		what = "Claude on Vertex needs an access token (gcloud auth print-access-token); service account files are not supported"
	}
	e := lathe.Errorf(lathe.Unauthorized, "%s: %s", what, how)
	e.Fault = &lathe.ProviderAuthFault{ProviderID: p.ID, Message: e.Message}
	return e
}

// Tokens returns a function for [Deps.Token]: it returns the token of a login, and renews an expired one
// with the vendor's method, once for all processes that share the file.
func Tokens(f *auth.File, c auth.Client, methods []auth.Method) func(ctx context.Context, provider string) (auth.OAuth, error) {
	now := c.Now
	if now == nil {
		now = time.Now
	}
	return func(ctx context.Context, provider string) (auth.OAuth, error) {
		m, known := auth.MethodOf(methods, provider)
		renew := c.Renew(m)
		if !known {
			renew = func(context.Context, auth.OAuth) (auth.OAuth, error) {
				e := lathe.Errorf(lathe.Unauthorized, "the login to %s has expired and cannot be renewed here: import it again with \"lathe auth import\", or add an API key with \"lathe auth login %s\"", provider, provider)
				e.Fault = &lathe.ProviderAuthFault{ProviderID: provider, Message: e.Message}
				return auth.OAuth{}, e
			}
		}
		return f.FreshToken(ctx, provider, now, renew)
	}
}
