package scrub_test

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lathe-agent/lathe/internal/scrub"
)

func TestIsSecret(t *testing.T) {
	for name, want := range map[string]bool{
		"Authorization": true, "x-api-key": true, "API-Key": true, "x-goog-api-key": true, "key": true, "access_token": true,
		"Cookie": true, "Set-Cookie": true, "Proxy-Authorization": true, "X-Amz-Security-Token": true, "X-Amz-Signature": true,
		"openai-organization": true, "openai-project": true, "anthropic-organization-id": true,
		"Content-Type": false, "alt": false, "Retry-After": false, "anthropic-version": false, "request-id": false,
		"anthropic-ratelimit-input-tokens-remaining": false, "x-ratelimit-limit-tokens": false,
	} {
		if got := scrub.IsSecret(name); got != want {
			t.Errorf("IsSecret(%q) = %v", name, got)
		}
	}
}

func TestHeaderAndQuery(t *testing.T) {
	h := http.Header{"X-Api-Key": {"k"}, "Accept": {"a", "b"}}
	if diff := cmp.Diff(http.Header{"Accept": {"a", "b"}}, scrub.Header(h)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(url.Values{"alt": {"sse"}}, scrub.Query(url.Values{"alt": {"sse"}, "key": {"k"}})); diff != "" {
		t.Error(diff)
	}
	if len(h) != 2 {
		t.Error("the header itself was changed")
	}
}

func TestSecrets(t *testing.T) {
	u, err := url.Parse("https://me:hunter22@host/x?key=AIza%2Bsecret&alt=sse&token=ab")
	if err != nil {
		t.Fatal(err)
	}
	got := scrub.Secrets(http.Header{"Authorization": {"Bearer sk-123456"}, "Accept": {"text/plain"}}, u)
	want := []string{"Bearer sk-123456", "AIza+secret", "sk-123456", "hunter22"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	const before = "key sk-123456, query AIza%2Bsecret, sk-1234567"
	if got, want := scrub.String(before, got), "key [scrubbed], query [scrubbed], [scrubbed]7"; got != want {
		t.Errorf("String = %q, want %q", got, want)
	}
}

// What is sent as a secret is nowhere afterwards.
func TestBytes_NothingIsLeft(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key := rapid.StringMatching(`[a-zA-Z0-9+/=_-]{6,40}`).Draw(t, "key")
		text := rapid.StringMatching(`[a-z {}":]{0,40}`).Draw(t, "before") + key + rapid.StringMatching(`[a-z ]{0,9}`).Draw(t, "after")
		got := scrub.Bytes([]byte(text), scrub.Secrets(http.Header{"X-Api-Key": {key}}, nil))
		if len(key) > len(scrub.Mark) && string(got) == text {
			t.Fatalf("%q is still in %q", key, got)
		}
	})
}
