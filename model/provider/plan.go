package provider

import (
	"strings"

	"github.com/lathe-agent/lathe/model/auth"
	"github.com/lathe-agent/lathe/model/catalog"
)

// A login with a ChatGPT plan is not for OpenAI's API: its requests go to the server that Codex uses,
// in the same protocol with a few rules of its own.

// planBase is where that server is.
const planBase = "https://chatgpt.com/backend-api/codex"

// onPlan reports whether a provider is used with a ChatGPT plan.
func onPlan(p *catalog.Provider, k key) bool { return p.ID == "openai" && k.login }

// planHeaders are the headers of that server: the account, and which program asks.
func planHeaders(k key) map[string]string {
	out := map[string]string{"Originator": "lathe", "Openai-Beta": "responses=experimental"}
	if k.account != "" {
		out["Chatgpt-Account-Id"] = k.account
	}
	return out
}

// ForCredentials returns what [catalog.Filter.Adapt] does to providers that are used with these
// credentials: a plan has other models than the API, and they cost nothing more.
func ForCredentials(all map[string]auth.Credential) func(*catalog.Provider) *catalog.Provider {
	return func(p *catalog.Provider) *catalog.Provider {
		o, err := readOptions(p)
		if k, _, ok := find(p, o, Deps{Credentials: all}); err != nil || !ok || !onPlan(p, k) {
			return p
		}
		out := *p
		out.Models = map[string]*catalog.Model{}
		for id, m := range p.Models {
			if isOnPlan(id) {
				own := *m
				own.Cost = catalog.Cost{}
				out.Models[id] = &own
			}
		}
		return &out
	}
}

// isOnPlan reports whether plans include a model. OpenAI publishes no list, so the models that are
// known to be for the API alone are left out.
func isOnPlan(id string) bool {
	for _, family := range []string{"gpt-3", "gpt-4", "gpt-oss", "gpt-image", "o1", "o3", "o4", "chatgpt", "text-"} {
		if strings.HasPrefix(id, family) {
			return false
		}
	}
	for _, variant := range []string{"-pro", "-nano", "-chat", "-deep-research", "-audio", "-realtime"} {
		if strings.Contains(id, variant) {
			return false
		}
	}
	return !strings.HasSuffix(id, "-mini") || strings.Contains(id, "codex")
}
