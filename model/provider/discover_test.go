package provider

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/lathe-agent/lathe/model/catalog"
)

func TestDiscover(t *testing.T) {
	serve := func(h http.HandlerFunc) string {
		s := httptest.NewServer(h)
		t.Cleanup(s.Close)
		return s.URL + "/v1"
	}
	body := func(status int, text string) string {
		return serve(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/v1/models" {
				status = http.StatusNotFound
			}
			w.WriteHeader(status)
			_, _ = w.Write([]byte(text))
		})
	}
	slow := serve(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	servers := []catalog.Vendor{
		{ID: "good", Name: "Good", API: body(200, `{"object":"list","data":[{"id":"b"},{"id":"a"},{"id":"a"},{"id":""}]}`)},
		{ID: "page", API: body(200, `<html>`)},
		{ID: "list", API: body(200, `[1]`)},
		{ID: "empty", API: body(200, `{"data":[]}`)},
		{ID: "no", API: body(404, `{"data":[{"id":"x"}]}`)},
		{ID: "gone", API: "http://127.0.0.1:1/v1"},
		{ID: "bad", API: "::"},
		{ID: "slow", API: slow},
	}
	start := time.Now()
	found := Discover(t.Context(), nil, servers)
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("took %s", took)
	}
	if len(found) != 1 || found[0].Vendor.ID != "good" || fmt.Sprint(found[0].Models) != "[a b]" {
		t.Fatalf("%+v", found)
	}
	c := newCatalog(t, string(ConfigSection(found)))
	m, err := c.Find("good/a")
	if err != nil || m.API != servers[0].API {
		t.Fatal(m, err)
	}
	if _, info, err := Open(c.Provider("good"), m, Deps{}); err != nil || info.Protocol != Chat {
		t.Error(info, err)
	}
}

func TestLocals(t *testing.T) {
	want := map[string]string{"ollama": "11434", "lmstudio": "1234", "llama.cpp": "8080", "vllm": "8000"}
	for _, v := range catalog.LocalVendors() {
		if v.API != "http://127.0.0.1:"+want[v.ID]+"/v1" || !v.Keyless {
			t.Errorf("%+v", v)
		}
		delete(want, v.ID)
	}
	if len(want) > 0 {
		t.Error(want)
	}
}
