package auth

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lathe-agent/lathe"
)

const secret = "sk-very-secret-0123456789"

func TestSecret_NeverShown(t *testing.T) {
	s := NewSecret(secret)
	key := Key{Key: s}
	token := OAuth{Refresh: s, Access: s, Expires: time.UnixMilli(1)}
	known := WellKnown{Variable: "X", Token: s}
	type around struct {
		Shown  Credential
		hidden Credential
		list   []Secret
	}
	values := []any{s, &s, key, &key, token, &token, known, []Credential{key, token, known}, around{key, token, []Secret{s}}, map[string]Secret{"a": s}, errors.New(fmt.Sprint(token))}
	for _, v := range values {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%T", "%p", "%t", "%10.3s"} {
			if out := fmt.Sprintf(verb, v); shows(out) {
				t.Errorf("%s of %T: %s", verb, v, out)
			}
		}
		for _, h := range []func(*bytes.Buffer) slog.Handler{
			func(b *bytes.Buffer) slog.Handler { return slog.NewTextHandler(b, nil) },
			func(b *bytes.Buffer) slog.Handler { return slog.NewJSONHandler(b, nil) },
		} {
			var b bytes.Buffer
			slog.New(h(&b)).Info("m", "v", v, slog.Group("g", "v", v))
			if shows(b.String()) {
				t.Errorf("slog of %T: %s", v, &b)
			}
		}
		if b, err := json.Marshal(v); err == nil && shows(string(b)) {
			t.Errorf("JSON of %T: %s", v, b)
		}
	}
	if s.Reveal() != secret || NewSecret("").Reveal() != "" || fmt.Sprint(Secret{}) != "" {
		t.Error("the text itself is lost")
	}
}

func shows(out string) bool {
	return strings.Contains(out, secret) || strings.Contains(strings.ToLower(out), fmt.Sprintf("%x", secret)) || strings.Contains(out, "sk-")
}

// file returns a credential file with that text, none if it is empty.
func file(t *testing.T, text string) (*File, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "data", "auth.json")
	if text != "" {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return Open(Source{Path: path}), path
}

const entries = `{
 "a": {"type":"api","key":"k1","metadata":{"resourceName":"r"},"later":[1]},
 "b": {"type":"oauth","refresh":"r","access":"a","expires":1700000000000,"accountId":"acc","enterpriseUrl":"e","later":true},
 "https://x.test//": {"type":"wellknown","key":"X_TOKEN","token":"t"},
 "bad1": {"type":"api"}, "bad2": 5, "bad3": {"type":"new","key":"x"}, "bad4": {"type":"oauth","refresh":"r"}, "bad5": null
}`

func all(t *testing.T, f *File) map[string]Credential {
	t.Helper()
	out, err := f.All()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestFile_Read(t *testing.T) {
	f, _ := file(t, entries)
	want := map[string]Credential{
		"a":              Key{Key: NewSecret("k1"), Metadata: map[string]string{"resourceName": "r"}},
		"b":              OAuth{Refresh: NewSecret("r"), Access: NewSecret("a"), Expires: time.UnixMilli(1700000000000), AccountID: "acc", EnterpriseURL: "e"},
		"https://x.test": WellKnown{Variable: "X_TOKEN", Token: NewSecret("t")},
	}
	if got := all(t, f); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v", got)
	}
	if c, err := f.Credential("https://x.test/"); c == nil || err != nil {
		t.Errorf("%v %v", c, err)
	}
	none, _ := file(t, "")
	if got := all(t, none); len(got) != 0 {
		t.Error(got)
	}
	for _, text := range []string{"{", "[]", "null", `"` + secret + `"`} {
		f, path := file(t, text)
		if _, err := f.All(); lathe.CodeOf(err) != lathe.Invalid || shows(err.Error()) {
			t.Errorf("%q: %v", text, err)
		}
		if err := f.Set(t.Context(), "a", Key{Key: NewSecret("k")}); err == nil {
			t.Errorf("%q was written over", text)
		}
		if src, _ := os.ReadFile(path); string(src) != text {
			t.Errorf("%q became %q", text, src)
		}
	}
}

func TestFile_Write(t *testing.T) {
	f, path := file(t, entries)
	ctx := t.Context()
	for id, c := range map[string]Credential{
		"a": Key{Key: NewSecret("k2")}, "new": WellKnown{Variable: "N", Token: NewSecret("t")}, "https://x.test/": Key{Key: NewSecret("k3")},
	} {
		if err := f.Set(ctx, id, c); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Remove(ctx, "b"); err != nil {
		t.Fatal(err)
	}
	if err := f.Remove(ctx, "b"); lathe.CodeOf(err) != lathe.NotFound {
		t.Error(err)
	}
	src, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var got, want any
	const text = `{"a":{"type":"api","key":"k2","later":[1]},"https://x.test":{"type":"api","key":"k3"},"new":{"type":"wellknown","key":"N","token":"t"},
	 "bad1":{"type":"api"},"bad2":5,"bad3":{"type":"new","key":"x"},"bad4":{"type":"oauth","refresh":"r"},"bad5":null}`
	if json.Unmarshal(src, &got) != nil || json.Unmarshal([]byte(text), &want) != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %s", src)
	}
	info, err := os.Stat(path)
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v %v", info.Mode(), err)
	}
	left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".auth-*"))
	if len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestFile_LinkStays(t *testing.T) {
	f, path := file(t, entries)
	real := filepath.Join(t.TempDir(), "real.json")
	if err := os.Rename(path, real); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(real, path); err != nil {
		t.Skipf("this machine has no links: %v", err)
	}
	if err := f.Set(t.Context(), "z", Key{Key: NewSecret("k")}); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(path); err != nil || info.Mode()&os.ModeSymlink == 0 || all(t, f)["z"] == nil {
		t.Errorf("%v %v", info, err)
	}
}

func TestFile_ManyWriters(t *testing.T) {
	_, path := file(t, "")
	var wg sync.WaitGroup
	for i := range 4 { // each with its own file, as processes have
		f := Open(Source{Path: path})
		for j := range 5 {
			wg.Go(func() {
				if err := f.Set(t.Context(), fmt.Sprintf("p%d-%d", i, j), Key{Key: NewSecret("k")}); err != nil {
					t.Error(err)
				}
			})
		}
	}
	wg.Wait()
	if n := len(all(t, Open(Source{Path: path}))); n != 20 {
		t.Errorf("%d of 20", n)
	}
}

func TestSource_Content(t *testing.T) {
	_, path := file(t, entries)
	f := Open(Source{Path: path, Borrowed: path, Content: `{"c/":{"type":"api","key":"k"}}`})
	if got := all(t, f); len(got) != 1 || got["c"] == nil {
		t.Error(got)
	}
	if err := f.Set(t.Context(), "d", Key{Key: NewSecret("k")}); lathe.CodeOf(err) != lathe.Conflict {
		t.Error(err)
	}
}

func TestSource_Borrowed(t *testing.T) {
	_, borrowed := file(t, entries)
	f, path := file(t, `{"a":{"type":"api","key":"ours"}}`)
	f.from.Borrowed = borrowed
	got := all(t, f)
	if got["a"].(Key).Key.Reveal() != "ours" || got["b"] == nil {
		t.Error(got)
	}
	_, err := f.FreshToken(t.Context(), "b", time.Now, func(context.Context, OAuth) (OAuth, error) {
		t.Error("a borrowed token was renewed")
		return OAuth{}, nil
	})
	if lathe.CodeOf(err) != lathe.Unauthorized {
		t.Error(err)
	}
	if src, _ := os.ReadFile(path); strings.Contains(string(src), `"b"`) {
		t.Errorf("%s", src)
	}
	f.from.Borrowed = filepath.Join(t.TempDir(), "none")
	if len(all(t, f)) != 1 {
		t.Error("a missing one matters not")
	}
}

func TestFresh_OneRenewal(t *testing.T) {
	_, path := file(t, entries)
	now := func() time.Time { return time.UnixMilli(1700000000000) }
	var renewals atomic.Int64
	var wg sync.WaitGroup
	for range 4 {
		f := Open(Source{Path: path})
		for range 3 {
			wg.Go(func() {
				token, err := f.FreshToken(t.Context(), "b", now, func(_ context.Context, old OAuth) (OAuth, error) {
					renewals.Add(1)
					old.Access, old.Refresh, old.Expires = NewSecret("a2"), NewSecret("r2"), now().Add(time.Hour)
					return old, nil
				})
				if err != nil || token.Access.Reveal() != "a2" || token.AccountID != "acc" {
					t.Error(token, err)
				}
			})
		}
	}
	wg.Wait()
	if renewals.Load() != 1 {
		t.Errorf("%d renewals", renewals.Load())
	}
	src, _ := os.ReadFile(path)
	if !strings.Contains(string(src), `"later": true`) || !strings.Contains(string(src), `"refresh": "r2"`) {
		t.Errorf("%s", src)
	}
}

func TestFresh_Errors(t *testing.T) {
	f, _ := file(t, entries)
	boom := errors.New("boom")
	renew := func(context.Context, OAuth) (OAuth, error) { return OAuth{}, boom }
	if _, err := f.FreshToken(t.Context(), "b", time.Now, renew); !errors.Is(err, boom) {
		t.Error(err)
	}
	for _, id := range []string{"a", "none"} {
		_, err := f.FreshToken(t.Context(), id, time.Now, renew)
		var e *lathe.Error
		if !errors.As(err, &e) || e.Code != lathe.Unauthorized || e.Fault == nil {
			t.Error(err)
		}
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	f.turn <- struct{}{}
	if _, err := f.FreshToken(canceled, "b", time.Now, renew); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestFresh_SavedInMemory(t *testing.T) {
	f := Open(Source{Content: entries})
	n := 0
	for range 2 {
		token, err := f.FreshToken(t.Context(), "b", func() time.Time { return time.UnixMilli(1700000000000) }, func(_ context.Context, old OAuth) (OAuth, error) {
			n++
			old.Expires = old.Expires.Add(time.Hour)
			return old, nil
		})
		if err != nil || n != 1 {
			t.Fatal(token, err, n)
		}
	}
}

func TestOAuth_Expired(t *testing.T) {
	now := time.UnixMilli(1e12)
	a := NewSecret("a")
	for _, c := range []struct {
		token OAuth
		want  bool
	}{
		{OAuth{}, true},
		{OAuth{Access: a}, false},
		{OAuth{Access: a, Expires: now.Add(time.Hour)}, false},
		{OAuth{Access: a, Expires: now.Add(30 * time.Second)}, true},
		{OAuth{Access: a, Expires: now.Add(-time.Hour)}, true},
	} {
		if got := c.token.Expired(now); got != c.want {
			t.Errorf("%v: %v", c.token, got)
		}
	}
}
