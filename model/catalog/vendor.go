package catalog

import "slices"

// The packages that name a protocol in the config and in models.dev, as far as code here asks
// for them; package provider has the whole table.
const (
	Anthropic       = "@ai-sdk/anthropic"
	Azure           = "@ai-sdk/azure"
	Bedrock         = "@ai-sdk/amazon-bedrock"
	Mantle          = "@ai-sdk/amazon-bedrock/mantle"
	Cerebras        = "@ai-sdk/cerebras"
	Cohere          = "@ai-sdk/cohere"
	Compatible      = "@ai-sdk/openai-compatible"
	Copilot         = "@ai-sdk/github-copilot"
	DeepInfra       = "@ai-sdk/deepinfra"
	Gateway         = "@ai-sdk/gateway"
	Google          = "@ai-sdk/google"
	Groq            = "@ai-sdk/groq"
	Mistral         = "@ai-sdk/mistral"
	OpenAI          = "@ai-sdk/openai"
	OpenRouter      = "@openrouter/ai-sdk-provider"
	Perplexity      = "@ai-sdk/perplexity"
	Together        = "@ai-sdk/togetherai"
	Venice          = "venice-ai-sdk-provider"
	Vercel          = "@ai-sdk/vercel"
	Vertex          = "@ai-sdk/google-vertex"
	VertexAnthropic = "@ai-sdk/google-vertex/anthropic"
	XAI             = "@ai-sdk/xai"
)

// Vendor is built-in knowledge about a provider.
type Vendor struct {
	ID, Name string
	NPM      string
	API      string
	Env      []string // variables that may hold its key
	// Catwalk are the ids the embedded list has its models under.
	Catwalk []string
	// ModelPrefix is the prefix of those models' IDs; "" takes all.
	ModelPrefix string
	// Subscription says that tokens are paid for by subscription: its prices are 0.
	Subscription bool
	// NativeProtocol says that each model family uses the protocol of its maker.
	NativeProtocol bool
	// Keyless means that its free models need no credential.
	Keyless bool
}

// vendors lists those whose id, variables, address or protocol the embedded list does not
// have as models.dev does. The others are taken from there as they are.
var vendors = []Vendor{
	{ID: "alibaba", Name: "Alibaba", API: "https://dashscope-intl.aliyuncs.com/compatible-mode/v1", Env: []string{"DASHSCOPE_API_KEY"}, Catwalk: []string{"alibaba-singapore"}},
	{ID: "amazon-bedrock", Name: "Amazon Bedrock", NPM: Bedrock, Env: []string{"AWS_BEARER_TOKEN_BEDROCK"}, Catwalk: []string{"bedrock", "bedrock-europe"}},
	{ID: "anthropic", Name: "Anthropic", NPM: Anthropic, Env: []string{"ANTHROPIC_API_KEY"}, Catwalk: []string{"anthropic"}},
	{ID: "azure", Name: "Azure", NPM: Azure, Env: []string{"AZURE_API_KEY", "AZURE_OPENAI_API_KEY"}, Catwalk: []string{"azure"}},
	{ID: "azure-cognitive-services", Name: "Azure Cognitive Services", NPM: Azure, Env: []string{"AZURE_COGNITIVE_SERVICES_API_KEY"}},
	{ID: "cerebras", Name: "Cerebras", NPM: Cerebras, API: "https://api.cerebras.ai/v1", Env: []string{"CEREBRAS_API_KEY"}, Catwalk: []string{"cerebras"}},
	{ID: "cohere", Name: "Cohere", NPM: Cohere, Env: []string{"COHERE_API_KEY"}},
	{ID: "deepinfra", Name: "Deep Infra", NPM: DeepInfra, Env: []string{"DEEPINFRA_API_KEY"}},
	{ID: "deepseek", Name: "DeepSeek", API: "https://api.deepseek.com", Env: []string{"DEEPSEEK_API_KEY"}, Catwalk: []string{"deepseek"}},
	{ID: "fireworks-ai", Name: "Fireworks AI", API: "https://api.fireworks.ai/inference/v1", Env: []string{"FIREWORKS_API_KEY"}, Catwalk: []string{"fireworks"}},
	{ID: "github-copilot", Name: "GitHub Copilot", NPM: Copilot, API: "https://api.githubcopilot.com", Env: []string{"GITHUB_TOKEN"}, Catwalk: []string{"copilot"}, Subscription: true},
	{ID: "google", Name: "Google", NPM: Google, Env: []string{"GOOGLE_GENERATIVE_AI_API_KEY", "GEMINI_API_KEY"}, Catwalk: []string{"gemini"}},
	{ID: "google-vertex", Name: "Vertex", NPM: Vertex, Env: []string{"GOOGLE_VERTEX_API_KEY"}, Catwalk: []string{"vertexai"}, NativeProtocol: true},
	{ID: "google-vertex-anthropic", Name: "Vertex (Anthropic)", NPM: VertexAnthropic, Env: []string{"GOOGLE_VERTEX_API_KEY"}, Catwalk: []string{"vertexai"}, ModelPrefix: "claude"},
	{ID: "groq", Name: "Groq", NPM: Groq, Env: []string{"GROQ_API_KEY"}, Catwalk: []string{"groq"}},
	{ID: "io-net", Name: "IO.NET", API: "https://api.intelligence.io.solutions/api/v1", Env: []string{"IOINTELLIGENCE_API_KEY"}, Catwalk: []string{"ionet"}},
	{ID: "kimi-for-coding", Name: "Kimi For Coding", NPM: Anthropic, API: "https://api.kimi.com/coding/v1", Env: []string{"KIMI_API_KEY"}, Catwalk: []string{"kimi-coding"}, Subscription: true},
	{ID: "llama.cpp", Name: "llama.cpp (local)", API: "http://127.0.0.1:8080/v1", Env: []string{}, Keyless: true},
	{ID: "lmstudio", Name: "LM Studio (local)", API: "http://127.0.0.1:1234/v1", Env: []string{"LMSTUDIO_API_KEY"}, Keyless: true},
	{ID: "minimax", Name: "MiniMax", NPM: Anthropic, API: "https://api.minimax.io/anthropic/v1", Env: []string{"MINIMAX_API_KEY"}, Catwalk: []string{"minimax"}},
	{ID: "minimax-cn", Name: "MiniMax (China)", NPM: Anthropic, API: "https://api.minimaxi.com/anthropic/v1", Env: []string{"MINIMAX_API_KEY"}, Catwalk: []string{"minimax-china"}},
	{ID: "mistral", Name: "Mistral", NPM: Mistral, Env: []string{"MISTRAL_API_KEY"}},
	{ID: "moonshotai", Name: "Moonshot AI", API: "https://api.moonshot.ai/v1", Env: []string{"MOONSHOT_API_KEY"}, Catwalk: []string{"moonshot"}},
	{ID: "ollama", Name: "Ollama (local)", API: "http://127.0.0.1:11434/v1", Env: []string{}, Keyless: true},
	{ID: "openai", Name: "OpenAI", NPM: OpenAI, Env: []string{"OPENAI_API_KEY"}, Catwalk: []string{"openai"}},
	{ID: "opencode", Name: "OpenCode Zen", API: "https://opencode.ai/zen/v1", Env: []string{"OPENCODE_API_KEY"}, Catwalk: []string{"opencode-zen"}, NativeProtocol: true, Keyless: true},
	{ID: "opencode-go", Name: "OpenCode Go", API: "https://opencode.ai/zen/go/v1", Env: []string{"OPENCODE_API_KEY"}, Catwalk: []string{"opencode-go"}, NativeProtocol: true},
	{ID: "openrouter", Name: "OpenRouter", NPM: OpenRouter, API: "https://openrouter.ai/api/v1", Env: []string{"OPENROUTER_API_KEY"}, Catwalk: []string{"openrouter"}},
	{ID: "perplexity", Name: "Perplexity", NPM: Perplexity, Env: []string{"PERPLEXITY_API_KEY"}},
	{ID: "qiniu-ai", Name: "Qiniu", API: "https://api.qnaigc.com/v1", Env: []string{"QINIU_API_KEY"}, Catwalk: []string{"qiniucloud"}},
	{ID: "scaleway", Name: "Scaleway", API: "https://api.scaleway.ai/v1", Env: []string{"SCALEWAY_API_KEY"}, Catwalk: []string{"scaleway"}},
	{ID: "togetherai", Name: "Together AI", NPM: Together, Env: []string{"TOGETHER_API_KEY"}},
	{ID: "venice", Name: "Venice AI", NPM: Venice, API: "https://api.venice.ai/api/v1", Env: []string{"VENICE_API_KEY"}, Catwalk: []string{"venice"}},
	{ID: "vercel", Name: "Vercel AI Gateway", NPM: Gateway, API: "https://ai-gateway.vercel.sh/v1", Env: []string{"AI_GATEWAY_API_KEY"}, Catwalk: []string{"vercel"}},
	{ID: "vllm", Name: "vLLM (local)", API: "http://127.0.0.1:8000/v1", Env: []string{}, Keyless: true},
	{ID: "xai", Name: "xAI", NPM: XAI, Env: []string{"XAI_API_KEY"}, Catwalk: []string{"xai"}},
	{ID: "zai", Name: "Z.AI", API: "https://api.z.ai/api/paas/v4", Env: []string{"ZHIPU_API_KEY", "ZAI_API_KEY"}, Catwalk: []string{"zai"}},
	{ID: "zai-coding-plan", Name: "Z.AI Coding Plan", API: "https://api.z.ai/api/coding/paas/v4", Env: []string{"ZHIPU_API_KEY", "ZAI_API_KEY"}, Catwalk: []string{"zai"}, Subscription: true},
	{ID: "zhipuai", Name: "Zhipu AI", API: "https://open.bigmodel.cn/api/paas/v4", Env: []string{"ZHIPU_API_KEY"}, Catwalk: []string{"zhipu"}},
	{ID: "zhipuai-coding-plan", Name: "Zhipu AI Coding Plan", API: "https://open.bigmodel.cn/api/coding/paas/v4", Env: []string{"ZHIPU_API_KEY"}, Catwalk: []string{"zhipu-coding"}, Subscription: true},
}

// VendorOf returns the built-in knowledge about a provider, zero if there is none.
func VendorOf(id string) Vendor {
	if i := slices.IndexFunc(vendors, func(v Vendor) bool { return v.ID == id }); i >= 0 {
		return vendors[i]
	}
	return Vendor{}
}

// keyPages are the pages where vendors give out API keys.
var keyPages = map[string]string{
	"anthropic": "https://console.anthropic.com/settings/keys", "cerebras": "https://cloud.cerebras.ai", "cohere": "https://dashboard.cohere.com/api-keys",
	"deepseek": "https://platform.deepseek.com/api_keys", "fireworks-ai": "https://app.fireworks.ai/settings/users/api-keys",
	"google": "https://aistudio.google.com/apikey", "groq": "https://console.groq.com/keys", "mistral": "https://console.mistral.ai/api-keys",
	"moonshotai": "https://platform.moonshot.ai/console/api-keys", "openai": "https://platform.openai.com/api-keys", "opencode": "https://opencode.ai/auth",
	"openrouter": "https://openrouter.ai/settings/keys", "perplexity": "https://www.perplexity.ai/settings/api",
	"togetherai": "https://api.together.ai/settings/api-keys", "xai": "https://console.x.ai",
}

// KeyPage is the page where a provider gives out API keys, "" if it is not known.
func KeyPage(id string) string { return keyPages[id] }

// LocalVendors are the vendors that run on the machine itself and can be asked for their models.
func LocalVendors() []Vendor {
	return []Vendor{VendorOf("ollama"), VendorOf("lmstudio"), VendorOf("llama.cpp"), VendorOf("vllm")}
}

// vendorsWith returns the vendors that take the models of an id of the embedded list.
func vendorsWith(catwalk string) (out []Vendor) {
	for _, v := range vendors {
		if slices.Contains(v.Catwalk, catwalk) {
			out = append(out, v)
		}
	}
	return out
}
