package provider

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/model/auth"
	"github.com/lathe-agent/lathe/model/modeltest"
)

// A login that is kept as a lasting and a short-lived token: the request carries a new short
// one, and the next request the same.
func TestTokens_Exchange(t *testing.T) {
	asked := 0
	vendor := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		if r.Header.Get("Authorization") != "Bearer ghu_lasting" || r.URL.Path != "/copilot_internal/v2/token" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = fmt.Fprintf(w, `{"token":"tid=short-%d","expires_at":%d}`, asked, time.Now().Add(30*time.Minute).Unix())
	}))
	defer vendor.Close()
	path := filepath.Join(t.TempDir(), "auth.json")
	text := `{"github-copilot":{"type":"oauth","refresh":"ghu_lasting","access":"tid=old","expires":1,"enterpriseUrl":"` + vendor.URL + `"}}`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	file := auth.Open(auth.Source{Path: path})
	credentials, err := file.All()
	if err != nil {
		t.Fatal(err)
	}
	server := modeltest.Start(t, nil) // which has nothing to say
	m, info, err := open(t, `{"github-copilot":{"options":{"baseURL":"`+server.URL+`"}}}`, "github-copilot/claude-sonnet-4.6",
		Deps{Credentials: credentials, Token: Tokens(file, auth.Client{}, auth.Methods())})
	if err != nil || info.Source != FromLogin {
		t.Fatal(info, err)
	}
	for range 2 {
		ask(t, m, info.Name, nil)
		if !server.Last().HasKey("tid=short-1") {
			t.Error("the request does not carry the new token")
		}
	}
	if src, err := os.ReadFile(path); err != nil || asked != 1 || !strings.Contains(string(src), "tid=short-1") {
		t.Errorf("asked %d times: %s %v", asked, src, err)
	}
}

func TestTokens_UnknownVendor(t *testing.T) {
	file := auth.Open(auth.Source{Content: `{"x":{"type":"oauth","refresh":"r","access":"a","expires":1},"y":{"type":"oauth","refresh":"r","access":"a","expires":0}}`})
	token := Tokens(file, auth.Client{}, auth.Methods())
	if _, err := token(t.Context(), "x"); lathe.CodeOf(err) != lathe.Unauthorized || !strings.Contains(err.Error(), "cannot be renewed here") {
		t.Error(err)
	}
	if got, err := token(t.Context(), "y"); err != nil || got.Access.Reveal() != "a" {
		t.Error(got, err)
	}
}
