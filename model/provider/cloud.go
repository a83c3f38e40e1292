package provider

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/model/auth"
	"github.com/lathe-agent/lathe/model/catalog"
)

// Where providers are, the clouds with their regions and resources above all.

const authorization = "Authorization"

// keyHeader is the header a key travels in.
func (c *client) keyHeader() string {
	if c.isToken() {
		return authorization
	}
	switch c.model.NPM {
	case catalog.Anthropic:
		return "X-Api-Key"
	case catalog.Google, catalog.Vertex:
		return "X-Goog-Api-Key"
	case catalog.Azure:
		return "Api-Key"
	}
	return authorization
}

// isToken reports whether the credential is a login token and not a key. Google's tokens are
// known by how they begin, so that one can be where a key does; Claude is served there to
// tokens only.
func (c *client) isToken() bool {
	switch c.model.NPM {
	case catalog.VertexAnthropic:
		return true
	case catalog.Vertex:
		return c.key.login || strings.HasPrefix(c.key.secret.Reveal(), "ya29.")
	}
	return c.key.login
}

// address is the base address of requests. What settings say wins.
func (c *client) address() (string, error) {
	base := cmp.Or(c.options.BaseURL, c.options.Endpoint)
	if base == "" && onPlan(c.provider, c.key) {
		return planBase, nil // OPENAI_BASE_URL names another server, which must not get the token
	}
	if base == "" && c.proto.baseEnv != "" && c.model.API == "" {
		base = c.deps.env(c.proto.baseEnv)
	}
	base = cmp.Or(base, c.model.API)
	var err error
	if base == "" {
		switch c.model.NPM {
		case catalog.Azure:
			base, err = c.azure()
		case catalog.Bedrock, catalog.Mantle:
			base = c.bedrock()
		case catalog.Vertex, catalog.VertexAnthropic:
			base, err = c.vertex()
		default:
			base = c.proto.base
		}
	}
	if err == nil {
		base, err = c.expand(base)
	}
	if err == nil && base == "" {
		err = lathe.Errorf(lathe.Invalid, "no base URL for %s: set provider.%s.options.baseURL", c.provider.Name, c.provider.ID)
	}
	return c.adaptBase(trimBase(base)), err
}

// adaptBase turns the configured URL into the base URL of the protocol.
func (c *client) adaptBase(base string) string {
	switch {
	case base == "":
	case c.model.NPM == catalog.Copilot:
		return c.copilot(base)
	case c.model.NPM == catalog.Azure && !c.options.Deployments && !strings.HasSuffix(base, "/v1"):
		return base + "/v1"
	case c.model.NPM == catalog.VertexAnthropic:
		return strings.TrimSuffix(base, "/models")
	}
	return base
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
			return "", lathe.Errorf(lathe.Invalid, "the base URL of %s needs %s: set it in the environment or in provider.%s.options", c.provider.Name, name, c.provider.ID)
		}
		base = before + v + after
	}
}

func (c *client) azure() (string, error) {
	host, variable := "openai.azure.com", "AZURE_RESOURCE_NAME"
	if c.provider.ID == "azure-cognitive-services" {
		host, variable = "cognitiveservices.azure.com", "AZURE_COGNITIVE_SERVICES_RESOURCE_NAME"
	}
	name := cmp.Or(c.options.ResourceName, c.key.metadata["resourceName"], c.deps.env(variable))
	if name == "" {
		return "", lathe.Errorf(lathe.Invalid, "%s needs a resource name: set %s or provider.%s.options.resourceName", c.provider.Name, variable, c.provider.ID)
	}
	return "https://" + name + "." + host + "/openai", nil
}

func (c *client) region() string {
	if c.signer != nil {
		return c.signer.Region()
	}
	return cmp.Or(c.options.Region, c.deps.env("AWS_REGION", "AWS_DEFAULT_REGION"), "us-east-1")
}

func (c *client) bedrock() string {
	if c.model.NPM == catalog.Mantle {
		return "https://bedrock-mantle." + c.region() + ".api.aws/openai/v1"
	}
	domain := ".amazonaws.com"
	if strings.HasPrefix(c.region(), "cn-") {
		domain += ".cn"
	}
	return "https://bedrock-runtime." + c.region() + domain
}

// geography is an area with its own Bedrock inference profiles.
type geography struct {
	region, prefix string
	families       []string
}

// geographies lists the areas with Bedrock inference profiles, and the model families that need
// a profile there. The first row that matches a region counts.
var geographies = []geography{
	{"us-gov-", "us-gov.", []string{"anthropic.claude"}},
	{"us-", "us.", []string{"anthropic.claude", "amazon.nova", "deepseek."}},
	{"eu-", "eu.", []string{"anthropic.claude", "amazon.nova", "meta.llama3", "mistral.pixtral"}},
	{"ap-northeast-1", "jp.", []string{"anthropic.claude", "amazon.nova"}},
	{"ap-northeast-3", "jp.", []string{"anthropic.claude", "amazon.nova"}},
	{"ap-southeast-2", "au.", []string{"anthropic.claude", "amazon.nova"}},
	{"ap-southeast-4", "au.", []string{"anthropic.claude", "amazon.nova"}},
	{"ap-", "apac.", []string{"anthropic.claude", "amazon.nova"}},
}

// name is the model's in requests.
func (c *client) name() string {
	id := c.model.APIID
	switch c.model.NPM {
	case catalog.VertexAnthropic:
		return atDate(id)
	case catalog.Bedrock:
		i := slices.IndexFunc(geographies, func(w geography) bool { return strings.HasPrefix(c.region(), w.region) })
		if i >= 0 && slices.ContainsFunc(geographies[i].families, func(f string) bool { return strings.HasPrefix(id, f) }) {
			return geographies[i].prefix + id
		}
	}
	return id
}

// atDate writes the release in a name as Google does: with another sign before its date.
func atDate(id string) string {
	n := len(id) - len("-20251001")
	if n <= 0 || id[n] != '-' {
		return id
	}
	if _, err := time.Parse("20060102", id[n+1:]); err != nil {
		return id
	}
	return id[:n] + "@" + id[n+1:]
}

// vertex is at the project's place with a token, and at the common one with a key.
func (c *client) vertex() (string, error) {
	publisher, location := "/publishers/google", "us-central1"
	if c.model.NPM == catalog.VertexAnthropic {
		publisher, location = "/publishers/anthropic", "global"
	}
	if !c.isToken() {
		return "https://aiplatform.googleapis.com/v1" + publisher, nil
	}
	project := cmp.Or(c.options.Project, c.deps.env("GOOGLE_VERTEX_PROJECT", "GOOGLE_CLOUD_PROJECT", "GCP_PROJECT", "GCLOUD_PROJECT"))
	if project == "" {
		return "", lathe.Errorf(lathe.Invalid, "Vertex needs a project: set GOOGLE_VERTEX_PROJECT or provider.%s.options.project", c.provider.ID)
	}
	location = cmp.Or(c.options.Location, c.deps.env("GOOGLE_VERTEX_LOCATION", "GOOGLE_CLOUD_LOCATION", "VERTEX_LOCATION"), location)
	host := location + "-aiplatform.googleapis.com"
	switch location {
	case "global":
		host = "aiplatform.googleapis.com"
	case "us", "eu":
		host = "aiplatform." + location + ".rep.googleapis.com"
	}
	return "https://" + host + "/v1/projects/" + project + "/locations/" + location + publisher, nil
}

// copilot uses a self-hosted server if one is configured.
func (c *client) copilot(base string) string {
	enterprise := c.options.EnterpriseURL
	if login, ok := c.deps.Credentials[c.provider.ID].(auth.OAuth); ok {
		enterprise = cmp.Or(enterprise, login.EnterpriseURL)
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
