package provider

import (
	"context"
	"encoding/json"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/model"
	"github.com/lathe-agent/lathe/model/auth"
	"github.com/lathe-agent/lathe/model/catalog"
)

// Where providers are, the clouds with their regions and resources above all.

const authorization = "Authorization"

// keyHeader is the header a key travels in.
func (c *client) keyHeader() string {
	switch c.model.NPM {
	case catalog.Anthropic:
		if !c.key.login {
			return "X-Api-Key"
		}
	case catalog.Google, catalog.Vertex:
		if !c.key.login {
			return "X-Goog-Api-Key"
		}
	case catalog.Azure:
		if !c.key.login {
			return "Api-Key"
		}
	}
	return authorization
}

// address is the base address of requests. What settings say wins.
func (c *client) address() (string, error) {
	if c.model.NPM == catalog.VertexAnthropic {
		return "", lathe.Errorf(lathe.Invalid, "Claude on Vertex is not supported yet: use it from Anthropic or Amazon Bedrock, or a Gemini of google-vertex")
	}
	base := first(c.options.BaseURL, c.options.Endpoint)
	if base == "" && c.speaks.baseEnv != "" && c.model.API == "" {
		base = c.deps.env(c.speaks.baseEnv)
	}
	base = first(base, c.model.API)
	var err error
	if base == "" {
		switch c.model.NPM {
		case catalog.Azure:
			base, err = c.azure()
		case catalog.Bedrock, catalog.Mantle:
			base = c.bedrock()
		case catalog.Vertex:
			base, err = c.vertex()
		default:
			base = c.speaks.base
		}
	}
	if c.model.NPM == catalog.Copilot {
		base = c.copilot(base)
	}
	if err == nil {
		base, err = c.expand(base)
	}
	if err == nil && base == "" {
		err = lathe.Errorf(lathe.Invalid, "it is not known where %s is: set provider.%s.options.baseURL", c.provider.Name, c.provider.ID)
	}
	return trimBase(base), err
}

// expand puts values in the place of ${NAME}: options of that name, else variables. Only
// variables that the provider lists are looked up, so that no address can ask for others.
func (c *client) expand(base string) (string, error) {
	for {
		before, rest, found := strings.Cut(base, "${")
		name, after, closed := strings.Cut(rest, "}")
		if !found || !closed {
			return base, nil
		}
		var v string
		if json.Unmarshal(c.provider.Options[name], &v) != nil && slices.Contains(c.provider.Env, name) {
			v = c.deps.env(name)
		}
		if v == "" || strings.Contains(v, "${") {
			return "", lathe.Errorf(lathe.Invalid, "the address of %s needs %s: set it in the environment or in provider.%s.options", c.provider.Name, name, c.provider.ID)
		}
		base = before + v + after
	}
}

func (c *client) azure() (string, error) {
	host, variable := "openai.azure.com", "AZURE_RESOURCE_NAME"
	if c.provider.ID == "azure-cognitive-services" {
		host, variable = "cognitiveservices.azure.com", "AZURE_COGNITIVE_SERVICES_RESOURCE_NAME"
	}
	name := first(c.options.ResourceName, c.key.metadata["resourceName"], c.deps.env(variable))
	if name == "" {
		return "", lathe.Errorf(lathe.Invalid, "%s needs the name of a resource: set %s or provider.%s.options.resourceName", c.provider.Name, variable, c.provider.ID)
	}
	if c.options.Deployments {
		return "https://" + name + "." + host + "/openai", nil
	}
	return "https://" + name + "." + host + "/openai/v1", nil
}

func (c *client) region() string {
	return first(c.options.Region, c.deps.env("AWS_REGION", "AWS_DEFAULT_REGION"), "us-east-1")
}

func (c *client) bedrock() string {
	switch {
	case c.model.NPM == catalog.Mantle:
		return "https://bedrock-mantle." + c.region() + ".api.aws/openai/v1"
	case c.protocol() == Messages:
		return "https://bedrock-runtime." + c.region() + ".amazonaws.com/anthropic/v1"
	}
	return "https://bedrock-runtime." + c.region() + ".amazonaws.com/openai/v1"
}

// name is the model's in requests. Bedrock serves a Claude by the name of a profile, which
// begins with the part of the world.
func (c *client) name() string {
	id := c.model.APIID
	if c.model.NPM != catalog.Bedrock || !strings.HasPrefix(id, "anthropic.claude") {
		return id
	}
	for _, part := range []struct{ region, prefix string }{
		{"us-gov-", "us-gov."},
		{"us-", "us."},
		{"eu-", "eu."},
		{"ap-northeast-1", "jp."},
		{"ap-northeast-3", "jp."},
		{"ap-southeast-2", "au."},
		{"ap-southeast-4", "au."},
		{"ap-", "apac."},
	} {
		if strings.HasPrefix(c.region(), part.region) {
			return part.prefix + id
		}
	}
	return id
}

// vertex is at the project's place with a login, and at the common one with a key.
func (c *client) vertex() (string, error) {
	if !c.key.login && !c.key.secret.IsEmpty() {
		return "https://aiplatform.googleapis.com/v1/publishers/google", nil
	}
	project := first(c.options.Project, c.deps.env("GOOGLE_VERTEX_PROJECT", "GOOGLE_CLOUD_PROJECT", "GCP_PROJECT", "GCLOUD_PROJECT"))
	if project == "" {
		return "", lathe.Errorf(lathe.Invalid, "Vertex needs a project: set GOOGLE_VERTEX_PROJECT or provider.%s.options.project", c.provider.ID)
	}
	location := first(c.options.Location, c.deps.env("GOOGLE_VERTEX_LOCATION", "GOOGLE_CLOUD_LOCATION", "VERTEX_LOCATION"), "us-central1")
	host := location + "-aiplatform.googleapis.com"
	if location == "global" {
		host = "aiplatform.googleapis.com"
	}
	return "https://" + host + "/v1/projects/" + project + "/locations/" + location + "/publishers/google", nil
}

// copilot moves to a company's own server where there is one.
func (c *client) copilot(base string) string {
	enterprise := c.options.EnterpriseURL
	if login, ok := c.deps.Credentials[c.provider.ID].(auth.OAuth); ok {
		enterprise = first(enterprise, login.EnterpriseURL)
	}
	if enterprise == "" || c.options.BaseURL != "" {
		return base
	}
	_, host, found := strings.Cut(enterprise, "://")
	if !found {
		host = enterprise
	}
	return "https://copilot-api." + trimBase(host)
}

// thinking puts the options by which Bedrock is told to think into the words of the protocol
// it is spoken to in.
type thinking struct{ model.Model }

// Stream translates the options.
func (m thinking) Stream(ctx context.Context, r model.Request) iter.Seq2[model.Event, error] {
	raw, ok := r.Options["reasoningConfig"]
	var config struct {
		Type   string          `json:"type"`
		Budget int             `json:"budgetTokens"`
		Effort json.RawMessage `json:"maxReasoningEffort"`
	}
	if !ok || json.Unmarshal(raw, &config) != nil {
		return m.Model.Stream(ctx, r)
	}
	r.Options = maps.Clone(r.Options)
	delete(r.Options, "reasoningConfig")
	told := map[string]any{"type": config.Type}
	if config.Budget > 0 {
		told["budgetTokens"] = config.Budget
	}
	if slices.Contains([]string{"adaptive", "disabled"}, config.Type) || config.Budget > 0 {
		r.Options["thinking"], _ = json.Marshal(told)
	}
	if len(config.Effort) > 0 {
		r.Options["effort"], r.Options["reasoningEffort"] = config.Effort, config.Effort
	}
	return m.Model.Stream(ctx, r)
}

func first(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}
