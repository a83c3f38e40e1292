package server

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/workspace"
)

// Providers lists providers and manages their credentials.
type Providers interface {
	// Providers returns the usable providers of a directory, or all.
	Providers(ctx context.Context, at workspace.Place, all bool) ([]Provider, error)
	// Defaults returns the default model of each provider.
	Defaults(ctx context.Context, at workspace.Place) (map[string]string, error)
	// Methods returns the login methods by provider.
	Methods(ctx context.Context, at workspace.Place) (map[string][]lathe.LoginMethod, error)
	// Integrations returns all providers with their login methods and credentials.
	Integrations(ctx context.Context, at workspace.Place) ([]Integration, error)
	// Authorize starts a login; nil means that the provider needs only a key.
	Authorize(ctx context.Context, at workspace.Place, provider string, method int, inputs map[string]string) (*lathe.Authorization, error)
	// Complete waits for the end of a started login, with the code that the page showed, if any.
	Complete(ctx context.Context, at workspace.Place, provider string, method int, code string) error
	// CheckKey asks a provider about an API key, without saving it.
	CheckKey(ctx context.Context, at workspace.Place, provider, key string) (api.KeyCheck, error)
	// SetCredential saves a credential in the form of the credential file; RemoveCredential deletes it.
	SetCredential(ctx context.Context, provider string, credential json.RawMessage) error
	RemoveCredential(ctx context.Context, provider string) error
}

// Provider is a provider as clients see it. Keys are never among its options.
type Provider struct {
	ID      string                     `json:"id"`
	Name    string                     `json:"name"`
	Source  string                     `json:"source" enum:"env,config,custom,api"`
	Env     []string                   `json:"env"`
	Options map[string]json.RawMessage `json:"options"`
	Models  map[string]json.RawMessage `json:"models"` // as the catalog writes them

	Package string `json:"-"` // names the protocol; only the next API tells it of a provider
	Address string `json:"-"`
}

func (Provider) schemaName() string { return "Provider" }

// providerAPI answers for providers and the credentials for them.
type providerAPI struct{ providers Providers }

func (a providerAPI) routes() []row {
	bad := []failure{failsBad}
	return []row{
		answer(route("GET /config/providers", "config.providers", "config", mayRead,
			"List the usable providers with their default models", bad), inPlace(a.usableProviders)),
		answer(route("GET /provider", "provider.list", "provider", mayRead,
			"List all providers and the connected ones", bad), inPlace(a.allProviders)),
		answer(route("GET /provider/auth", "provider.auth", "provider", mayAll,
			"List the login methods by provider", bad), inPlace(a.loginMethods)),
		answer(route("POST /provider/{providerID}/oauth/authorize", "provider.oauth.authorize", "provider", mayAll,
			"Start a login", bad), inPlace(a.authorize)),
		answer(route("POST /provider/{providerID}/oauth/callback", "provider.oauth.callback", "provider", mayAll,
			"Wait for a started login to complete", bad), inPlace(a.completeLogin)),
		answer(route("POST /lathe/provider/{providerID}/check", "lathe.provider.check", "lathe", mayAll,
			"Ask a provider whether it accepts an API key, without saving the key", []failure{failsBad, failsMissing}), inPlace(a.checkKey)),
		answer(route("PUT /auth/{providerID}", "auth.set", "control", mayAll,
			"Save a provider credential", bad, withoutDirectory), a.setCredential),
		answer(route("DELETE /auth/{providerID}", "auth.remove", "control", mayAll,
			"Remove a provider credential", bad, withoutDirectory), a.removeCredential),
	}
}

type usableReply struct {
	Providers []Provider        `json:"providers"`
	Default   map[string]string `json:"default"`
}

func (a providerAPI) usableProviders(c *call, at workspace.Place, _, _ none) (usableReply, error) {
	usable, err := a.providers.Providers(c.Context(), at, false)
	if err != nil {
		return usableReply{}, err
	}
	defaults, err := a.providers.Defaults(c.Context(), at)
	if err != nil {
		return usableReply{}, err
	}
	out := usableReply{Providers: append([]Provider{}, usable...), Default: map[string]string{}}
	for _, p := range usable {
		if best := defaults[p.ID]; best != "" {
			out.Default[p.ID] = best
		}
	}
	return out, nil
}

type allReply struct {
	All       []Provider        `json:"all"`
	Default   map[string]string `json:"default"`
	Connected []string          `json:"connected"`
}

// allProviders lists all providers, the usable ones in their configured form.
func (a providerAPI) allProviders(c *call, at workspace.Place, _, _ none) (allReply, error) {
	all, err := a.providers.Providers(c.Context(), at, true)
	if err != nil {
		return allReply{}, err
	}
	usable, err := a.providers.Providers(c.Context(), at, false)
	if err != nil {
		return allReply{}, err
	}
	defaults, err := a.providers.Defaults(c.Context(), at)
	if err != nil {
		return allReply{}, err
	}
	out := allReply{All: []Provider{}, Default: defaults, Connected: []string{}}
	used := map[string]bool{}
	for _, p := range usable {
		used[p.ID] = true
		out.All, out.Connected = append(out.All, p), append(out.Connected, p.ID)
	}
	for _, p := range all {
		if !used[p.ID] {
			out.All = append(out.All, p)
		}
	}
	return out, nil
}

func (a providerAPI) loginMethods(c *call, at workspace.Place, _, _ none) (map[string][]lathe.LoginMethod, error) {
	return a.providers.Methods(c.Context(), at)
}

type authorizeBody struct {
	Method int               `json:"method"`
	Inputs map[string]string `json:"inputs,omitempty"`
}

func (a providerAPI) authorize(c *call, at workspace.Place, _ none, in authorizeBody) (*lathe.Authorization, error) {
	login, err := a.providers.Authorize(c.Context(), at, c.PathValue("providerID"), in.Method, in.Inputs)
	return login, loginProblem(err, c.PathValue("providerID"))
}

type callbackBody struct {
	Method int    `json:"method"`
	Code   string `json:"code,omitempty"`
}

// completeLogin may take as long as the user does.
func (a providerAPI) completeLogin(c *call, at workspace.Place, _ none, in callbackBody) (bool, error) {
	ctx, stop := c.longContext()
	defer stop()
	err := a.providers.Complete(ctx, at, c.PathValue("providerID"), in.Method, in.Code)
	return err == nil, loginProblem(err, c.PathValue("providerID"))
}

// loginData describes a failed login.
type loginData struct {
	Provider string `json:"providerID"`
	Message  string `json:"message"`
}

// loginProblem names the error of a login: none was started, or it failed.
func loginProblem(err error, provider string) error {
	name := "ProviderAuthOauthCallbackFailed"
	switch lathe.CodeOf(err) {
	case "", lathe.Canceled:
		return err
	case lathe.NotFound:
		name = "ProviderAuthOauthMissing"
	case lathe.Invalid:
		name = "ProviderAuthValidationFailed"
	default:
	}
	return &problem{status: http.StatusBadRequest, body: named(name, loginData{provider, err.Error()}), cause: err}
}

type keyBody struct {
	Key string `json:"key"`
}

// checkKey waits for the provider, whose time is limited.
func (a providerAPI) checkKey(c *call, at workspace.Place, _ none, in keyBody) (api.KeyCheck, error) {
	return a.providers.CheckKey(c.Context(), at, c.PathValue("providerID"), in.Key)
}

func (a providerAPI) setCredential(c *call, _ none, in object) (bool, error) {
	err := a.providers.SetCredential(c.Context(), c.PathValue("providerID"), json.RawMessage(in))
	return err == nil, err
}

func (a providerAPI) removeCredential(c *call, _, _ none) (bool, error) {
	err := a.providers.RemoveCredential(c.Context(), c.PathValue("providerID"))
	return err == nil, err
}
