package harness

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/internal/scrub"
	"github.com/lathe-agent/lathe/internal/termtext"
	"github.com/lathe-agent/lathe/model/auth"
	"github.com/lathe-agent/lathe/model/catalog"
	"github.com/lathe-agent/lathe/server"
	"github.com/lathe-agent/lathe/workspace"
)

// Providers returns the usable providers of a directory, or all providers of the catalog.
func (b *backend) Providers(_ context.Context, at workspace.Place, all bool) ([]server.Provider, error) {
	k, err := b.setup.ConfigFor(at)
	if err != nil {
		return nil, err
	}
	var out []server.Provider
	if all {
		for _, p := range k.Providers.Catalog.Providers() {
			out = append(out, wireProvider(p, "custom"))
		}
		return out, nil
	}
	for _, one := range k.Providers.Active() {
		if !one.Implicit || k.Providers.isNamed(one.Provider.ID) {
			out = append(out, wireProvider(one.Provider, string(one.Source)))
		}
	}
	return out, nil
}

// isNamed reports whether the user has chosen a model of a provider.
func (p *Providers) isNamed(id string) bool {
	return strings.HasPrefix(p.Settings.Config.Model, id+"/")
}

// wireProvider returns a provider for clients, without keys.
func wireProvider(p *catalog.Provider, source string) server.Provider {
	out := server.Provider{
		ID: p.ID, Name: p.Name, Source: source, Env: append([]string{}, p.Env...),
		Options: map[string]json.RawMessage{}, Models: map[string]json.RawMessage{}, Package: p.NPM, Address: p.API,
	}
	for name, value := range p.Options {
		if !scrub.IsSecret(name) && name != "headers" {
			out.Options[name] = value
		}
	}
	for id, m := range p.Models {
		wire := m.Wire()
		for name := range wire.Headers {
			if scrub.IsSecret(name) {
				delete(wire.Headers, name)
			}
		}
		for name := range wire.Options {
			if scrub.IsSecret(name) {
				delete(wire.Options, name)
			}
		}
		out.Models[id], _ = json.Marshal(wire) // JSON in, JSON out
	}
	return out
}

// Defaults returns the best model of each provider.
func (b *backend) Defaults(_ context.Context, at workspace.Place) (map[string]string, error) {
	k, err := b.setup.ConfigFor(at)
	if err != nil {
		return nil, err
	}
	return k.Providers.Catalog.Defaults(), nil
}

// Methods returns the login methods of each provider. The vendor's own login comes first, as in OpenCode, then the API
// key.
func (b *backend) Methods(_ context.Context, at workspace.Place) (map[string][]lathe.LoginMethod, error) {
	k, err := b.setup.ConfigFor(at)
	if err != nil {
		return nil, err
	}
	out := map[string][]lathe.LoginMethod{}
	for _, p := range k.Providers.Catalog.Providers() {
		if m, ok := b.method(k, p.ID); ok {
			out[p.ID] = []lathe.LoginMethod{{Type: "oauth", Label: m.Label}, {Type: "api", Label: "API key"}}
		}
	}
	return out, nil
}

// method returns the login method of a provider that this program supports.
func (b *backend) method(k *DirConfig, id string) (auth.Method, bool) {
	m, ok := auth.MethodOf(b.app.LoginMethods(k.loaded.Config), id)
	if m.ClientID == "" { // an option of a wrong type counts as absent
		m.ClientID = k.loaded.Config.Providers[id].Options.Text("clientId")
	}
	return m, ok && (m.ClientID != "" || !m.NeedsClientID)
}

// logins holds the logins in progress, at most one for each provider.
type logins struct {
	running sync.WaitGroup

	mu      sync.Mutex // guards started
	started map[string]*login
}

// close ends all logins and waits for them.
func (l *logins) close() {
	l.mu.Lock()
	for _, one := range l.started {
		one.stop()
	}
	l.mu.Unlock()
	l.running.Wait()
}

type login struct {
	stop context.CancelFunc
	code chan string   // the code that the user copied from the page
	done chan struct{} // closed when err is set
	err  error
}

// loginTime limits how long a login waits for the user.
const loginTime = 10 * time.Minute

// replace stores a login and ends the previous one of its provider.
func (l *logins) replace(id string, next *login) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if old := l.started[id]; old != nil {
		old.stop()
	}
	if l.started == nil {
		l.started = map[string]*login{}
	}
	l.started[id] = next
}

func (l *logins) find(id string) *login {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.started[id]
}

// Authorize starts a login, which runs until the user completes it or loginTime is over. It returns nil for an API
// key, which needs no login.
func (b *backend) Authorize(ctx context.Context, at workspace.Place, id string, index int, _ map[string]string) (*lathe.Authorization, error) {
	k, err := b.setup.ConfigFor(at)
	if err != nil {
		return nil, err
	}
	m, ok := b.method(k, id)
	if !ok {
		return nil, lathe.Errorf(lathe.NotFound, "no login method for %s; use an API key", termtext.Plain(id))
	}
	if index != 0 {
		return nil, nil
	}
	life, stop := context.WithTimeout(context.WithoutCancel(ctx), loginTime)
	one := &login{stop: stop, code: make(chan string, 1), done: make(chan struct{})}
	b.logins.replace(id, one)
	shown := make(chan auth.Prompt, 1)
	b.logins.running.Go(func() { b.logIn(life, k, m, one, shown) })
	select {
	case p := <-shown:
		out := &lathe.Authorization{URL: p.URL, Method: "auto", Instructions: "Log in on the page. lathe continues when you are done."}
		if p.Code != "" {
			out.Instructions = "Enter code: " + p.Code
		}
		return out, nil
	case <-one.done:
		return nil, one.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// logIn runs the login with the vendor and saves the credential.
func (b *backend) logIn(ctx context.Context, k *DirConfig, m auth.Method, one *login, shown chan<- auth.Prompt) {
	defer close(one.done)
	defer one.stop()
	c, err := b.app.AuthClient().Login(ctx, m, auth.LoginUI{
		Show: func(p auth.Prompt) { shown <- p },
		Paste: func(ctx context.Context) (string, error) {
			select {
			case code := <-one.code:
				return code, nil
			case <-ctx.Done():
				return "", context.Cause(ctx)
			}
		},
	})
	if err == nil {
		err = k.Providers.File.Set(context.WithoutCancel(ctx), m.Provider, c)
	}
	one.err = err
}

// Complete passes the code of the page to a login, if it has one, and waits until the login ends.
func (b *backend) Complete(ctx context.Context, _ workspace.Place, id string, _ int, code string) error {
	one := b.logins.find(id)
	if one == nil {
		return lathe.Errorf(lathe.NotFound, "no login to %s in progress; start one first", termtext.Plain(id))
	}
	if code != "" {
		select {
		case one.code <- code:
		default: // a code was already sent
		}
	}
	select {
	case <-one.done:
		return one.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// CheckKey asks a provider about a key. No error contains any part of it.
func (b *backend) CheckKey(ctx context.Context, at workspace.Place, id, text string) (api.KeyCheck, error) {
	k, err := b.setup.ConfigFor(at)
	if err != nil {
		return api.KeyCheck{}, err
	}
	key, err := auth.ParseKey(text)
	if err != nil {
		return api.KeyCheck{}, lathe.Errorf(lathe.Invalid, "%w", err)
	}
	c := k.Providers.CheckKey(ctx, id, auth.Key{Key: key})
	return api.KeyCheck{Verdict: string(c.Verdict), Detail: c.Detail}, context.Cause(ctx)
}

// credential is the JSON of a credential, as in the credential file.
type credential struct {
	Type       string            `json:"type"`
	Key        string            `json:"key"`
	Metadata   map[string]string `json:"metadata"`
	Refresh    string            `json:"refresh"`
	Access     string            `json:"access"`
	Expires    float64           `json:"expires"`
	Account    string            `json:"accountId"`
	Enterprise string            `json:"enterpriseUrl"`
	Token      string            `json:"token"`
}

// SetCredential saves a credential. No error contains any part of it.
func (b *backend) SetCredential(ctx context.Context, id string, raw json.RawMessage) error {
	var in credential
	if json.Unmarshal(raw, &in) != nil {
		return lathe.Errorf(lathe.Invalid, "the credential must be an object with type api, oauth or wellknown and string members")
	}
	var c auth.Credential
	switch in.Type {
	case "api":
		key, err := auth.ParseKey(in.Key)
		if err != nil {
			return lathe.Errorf(lathe.Invalid, "%w", err)
		}
		c = auth.Key{Key: key, Metadata: in.Metadata}
	case "oauth":
		login := auth.OAuth{Refresh: auth.NewSecret(in.Refresh), Access: auth.NewSecret(in.Access), AccountID: in.Account, EnterpriseURL: in.Enterprise}
		if in.Expires > 0 {
			login.Expires = time.UnixMilli(int64(in.Expires))
		}
		c = login
	case "wellknown":
		c = auth.WellKnown{Variable: in.Key, Token: auth.NewSecret(in.Token)}
	default:
		return lathe.Errorf(lathe.Invalid, "the type of a credential must be api, oauth or wellknown")
	}
	f, err := b.app.CredentialFile(b.at)
	if err != nil {
		return err
	}
	return f.Set(ctx, id, c)
}

// RemoveCredential deletes a saved credential. A missing one is not an error.
func (b *backend) RemoveCredential(ctx context.Context, id string) error {
	f, err := b.app.CredentialFile(b.at)
	if err != nil {
		return err
	}
	if err := f.Remove(ctx, id); lathe.CodeOf(err) != lathe.NotFound {
		return err
	}
	return nil
}
