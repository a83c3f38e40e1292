package provider

import (
	"context"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/model/auth"
)

// Tokens returns what [Deps.Token] wants: it gives the token of a login, renewed by the
// vendor's method when it has ended, once for all processes that share the file.
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
				e := lathe.Errorf(lathe.Unauthorized, "the login to %s has ended and cannot be renewed here: log in again where it comes from, or give a key with \"lathe auth login %s\"", provider, provider)
				e.Fault = &lathe.ProviderAuthFault{ProviderID: provider, Message: e.Message}
				return auth.OAuth{}, e
			}
		}
		return f.Fresh(ctx, provider, now, renew)
	}
}
