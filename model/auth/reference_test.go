package auth

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lathe-agent/lathe"
)

const referring = `{
 "plan": {"type":"reference","tool":"codex","name":"Codex","path":"/h/auth.json","entry":"tokens","renew":"codex login","later":true},
 "lasting": {"type":"reference","tool":"copilot","path":"/h/apps.json"},
 "bad": {"type":"reference","tool":"codex"}
}`

// logins resolves references to what a map has for their tools.
func logins(all map[string]Credential) func(Reference) (Credential, error) {
	return func(r Reference) (Credential, error) {
		if c := all[r.Tool]; c != nil {
			return c, nil
		}
		return nil, errors.New(r.Path + " is gone")
	}
}

func never(t *testing.T) Renew {
	return func(context.Context, OAuth) (OAuth, error) {
		t.Error("a login of another tool was renewed")
		return OAuth{}, nil
	}
}

func TestReference_Resolved(t *testing.T) {
	f, path := file(t, referring)
	token := OAuth{Access: NewSecret("theirs"), Expires: noon.Add(time.Hour), AccountID: "acc"}
	f.from.Resolve = logins(map[string]Credential{"codex": token})
	got := all(t, f)
	if !alike(got["plan"], token) {
		t.Errorf("%v", got["plan"])
	}
	if ref, ok := got["lasting"].(Reference); !ok || ref.Tool != "copilot" || ref.Name != "copilot" || len(got) != 2 {
		t.Errorf("one that cannot be read: %v", got)
	}
	if c, err := f.FreshToken(t.Context(), "plan", clock, never(t)); err != nil || c.Access.Reveal() != "theirs" {
		t.Error(c, err)
	}
	if _, err := f.FreshToken(t.Context(), "lasting", clock, never(t)); lathe.CodeOf(err) != lathe.Unauthorized || !strings.Contains(err.Error(), "/h/apps.json is gone") {
		t.Error(err)
	}
	if src, _ := os.ReadFile(path); string(src) != referring {
		t.Errorf("reading changed the file: %s", src)
	}
	if len(f.References()) != 2 {
		t.Error(f.References())
	}
}

// A referenced login that has expired is not renewed; the command of its tool is named.
func TestReference_NeverRenewed(t *testing.T) {
	f, path := file(t, referring)
	f.from.Resolve = logins(map[string]Credential{"codex": OAuth{Access: NewSecret("old"), Expires: noon}})
	_, err := f.FreshToken(t.Context(), "plan", clock, never(t))
	var e *lathe.Error
	if !errors.As(err, &e) || e.Code != lathe.Unauthorized || e.Fault == nil || !strings.Contains(e.Message, "the Codex login for plan has expired") || !strings.Contains(e.Message, "run `codex login`") {
		t.Error(err)
	}
	if src, _ := os.ReadFile(path); string(src) != referring {
		t.Errorf("%s", src)
	}
}

// A lasting login gives short-lived tokens: one request for all processes, saved beside the reference,
// and worthless once the tool has another login.
func TestReference_ShortToken(t *testing.T) {
	_, path := file(t, referring)
	lasting := NewSecret("ghu_1")
	open := func() *File {
		return Open(Source{Path: path, Resolve: func(Reference) (Credential, error) { return OAuth{Refresh: lasting}, nil }})
	}
	var asked atomic.Int64
	renew := func(_ context.Context, old OAuth) (OAuth, error) {
		asked.Add(1)
		old.Access, old.Expires = NewSecret("short for "+old.Refresh.Reveal()), noon.Add(time.Hour)
		return old, nil
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if token, err := open().FreshToken(t.Context(), "lasting", clock, renew); err != nil || token.Access.Reveal() != "short for ghu_1" {
				t.Error(token, err)
			}
		})
	}
	wg.Wait()
	if asked.Load() != 1 {
		t.Errorf("asked %d times", asked.Load())
	}
	src, _ := os.ReadFile(path)
	if strings.Contains(string(src), `"ghu_1"`) || !strings.Contains(string(src), `"type": "reference"`) {
		t.Errorf("the login itself was copied, or is no reference any more: %s", src)
	}
	lasting = NewSecret("ghu_2")
	if token, err := open().FreshToken(t.Context(), "lasting", clock, renew); err != nil || token.Access.Reveal() != "short for ghu_2" {
		t.Error(token, err)
	}
	inMemory := Open(Source{Content: referring, Resolve: open().from.Resolve})
	for range 2 {
		if token, err := inMemory.FreshToken(t.Context(), "lasting", clock, renew); err != nil || asked.Load() != 3 {
			t.Error(token, err, asked.Load())
		}
	}
}
