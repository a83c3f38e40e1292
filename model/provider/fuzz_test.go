package provider

import (
	"encoding/json"
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/model/catalog"
)

// FuzzSettings opens what any provider section says: it works or says why not, no variable but
// the provider's own gets into an address, and no key into an error.
func FuzzSettings(f *testing.F) {
	for _, seed := range []string{
		`{"own":{"npm":"@ai-sdk/azure","options":{"resourceName":"r","useDeploymentBasedUrls":true,"timeout":false},"models":{"m":{"id":"x/y"}}}}`,
		`{"amazon-bedrock":{"options":{"region":"eu-west-1","profile":"p"},"models":{"anthropic.claude":{}}}}`,
		`{"google-vertex":{"options":{"project":"p","location":"${HOME}"},"models":{"claude-x-20250101":{"provider":{"npm":"@ai-sdk/google-vertex/anthropic"}}}}}`,
		`{"a":{"api":"https://${A_KEY}/${B}","env":["A_KEY"],"options":{"headers":{"x":"y"},"apiKey":"k"},"models":{"":{},"deepseek":{"interleaved":true}}}}`,
		`{"a":{"npm":"x","options":{"baseURL":7}},"b":null,"c":[]}`,
	} {
		f.Add([]byte(seed))
	}
	const key, home = "sk-secret-of-the-environment", "a-secret-of-another"
	d := Deps{
		Env: func(name string) string {
			if name == "HOME" {
				return home
			}
			return key
		},
		AWS: func(a AWS) (Signer, error) { return signer{AWS: a}, nil },
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c := catalog.New(catalog.Filter{}, catalog.Config(data))
		for _, p := range c.Providers() {
			if !p.Configured {
				continue
			}
			for _, m := range p.Models {
				client, info, err := Open(p, m, d)
				var known *lathe.Error
				switch {
				case err != nil && (!errors.As(err, &known) || strings.Contains(err.Error(), key)):
					t.Fatalf("%s: %v", m.Ref(), err)
				case err == nil && (client == nil || info.BaseURL == "" || info.Name == "" && m.APIID != ""):
					t.Fatalf("%s: %+v", m.Ref(), info)
				}
				if named := strings.Contains(string(data), home) || strings.Contains(string(data), "HOME"); strings.Contains(info.BaseURL, home) && !named {
					t.Fatalf("%s: %s", m.Ref(), info.BaseURL)
				}
				info.Target()
				info.Defaults("ses_1")
			}
		}
	})
}

// FuzzSection makes settings of what a server on this machine says it has: each of its models is
// found in them, whatever its name.
func FuzzSection(f *testing.F) {
	f.Add("ollama", "http://127.0.0.1:11434/v1", `{"data":[{"id":"llama3:8b"},{"id":"a/b"}]}`)
	f.Add("own", "http://h", `{"data":[{"id":"\u0000"},{"id":"x"},{"id":"x"}]}`)
	f.Fuzz(func(t *testing.T, id, api, body string) {
		var said struct {
			Data []struct {
				ID string `json:"id"`
			} `json:"data"`
		}
		if json.Unmarshal([]byte(body), &said) != nil || id == "" || api == "" {
			return
		}
		if _, err := url.Parse(api); err != nil {
			return
		}
		found := Found{Vendor: catalog.Vendor{ID: id, API: api}}
		for _, m := range said.Data {
			found.Models = append(found.Models, m.ID)
		}
		section := ConfigSection([]Found{found})
		if !json.Valid(section) {
			t.Fatalf("%s", section)
		}
		c := catalog.New(catalog.Filter{}, catalog.Config(section))
		if errs := c.Errors(); errs != nil {
			t.Fatalf("%s: %v", section, errs)
		}
	})
}
