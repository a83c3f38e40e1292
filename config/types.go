package config

import (
	"encoding/json"

	"github.com/lathe-agent/lathe/config/claudecode"
)

// Config is the merged config of all sources. Keys that lathe does not read stay in Raw.
type Config struct {
	Shell    string             `json:"shell,omitempty"`
	Server   Server             `json:"server,omitzero"`
	Commands map[string]Command `json:"command,omitempty"`
	Skills   struct {           // further places where skills are
		Paths []string `json:"paths,omitempty"`
		URLs  []string `json:"urls,omitempty"`
	} `json:"skills,omitzero"`
	References        map[string]Reference `json:"references,omitempty"`
	Snapshot          Snapshot             `json:"snapshot,omitzero"`
	Plugins           []Plugin             `json:"plugin,omitempty"`
	Share             string               `json:"share,omitempty"`
	DisabledProviders []string             `json:"disabled_providers,omitempty"`
	EnabledProviders  []string             `json:"enabled_providers,omitempty"`
	Model             string               `json:"model,omitempty"`
	SmallModel        string               `json:"small_model,omitempty"`
	DefaultAgent      string               `json:"default_agent,omitempty"`
	SubagentDepth     *int                 `json:"subagent_depth,omitempty"`
	Subagents         Subagents            `json:"subagents,omitzero"`
	Username          string               `json:"username,omitempty"`
	Agents            map[string]Agent     `json:"agent,omitempty"`
	Providers         map[string]Provider  `json:"provider,omitempty"`
	MCP               map[string]MCPServer `json:"mcp,omitempty"`
	Formatter         Formatters           `json:"formatter,omitzero"`
	LSP               LSP                  `json:"lsp,omitzero"`
	Instructions      []string             `json:"instructions,omitempty"`
	Permission        Permission           `json:"permission,omitempty"`
	PermissionMode    string               `json:"permission_mode,omitempty"`       // sandbox, ask or read-only
	PromptCache       string               `json:"prompt_cache,omitempty"`          // auto, 5m, 1h or off
	Unattended        string               `json:"permission_unattended,omitempty"` // wait or refuse
	Attachment        struct {             // how attachments are prepared
		Image ImageAttachment `json:"image,omitzero"`
	} `json:"attachment,omitzero"`
	ToolOutput ToolOutput      `json:"tool_output,omitzero"`
	WebFetch   WebFetch        `json:"webfetch,omitzero"`
	Compaction Compaction      `json:"compaction,omitzero"`
	Sandbox    Sandbox         `json:"sandbox,omitzero"`
	Checks     map[string]bool `json:"checks,omitempty"`   // the checks that are switched on or off
	Resume     string          `json:"resume,omitempty"`   // ask, auto or off
	Overview   *bool           `json:"overview,omitempty"` // add a project overview to the first prompt
	Search     *bool           `json:"search,omitempty"`   // index sessions for a search
	Retry      Retry           `json:"retry,omitzero"`
	Deadline   Deadline        `json:"deadline,omitzero"`
	Fallback   Fallback        `json:"fallback,omitzero"`
	Budget     Budget          `json:"budget,omitzero"`
	Worktree   struct {        // isolated trees of sessions
		Link  []string `json:"link,omitempty"`
		Setup string   `json:"setup,omitempty"`
	} `json:"worktree,omitzero"`
	Experimental Experimental `json:"experimental,omitzero"`

	claudecode.HookSettings

	// Raw is the merged value as JSON, with the keys we do not know.
	Raw json.RawMessage `json:"-"`
}

// The parts of Config. A nil pointer means that the key is not set.
type (
	// Server has the defaults of the HTTP server; flags win.
	Server struct {
		Port       int      `json:"port,omitempty"`
		Hostname   string   `json:"hostname,omitempty"`
		MDNS       bool     `json:"mdns,omitempty"`
		MDNSDomain string   `json:"mdnsDomain,omitempty"`
		CORS       []string `json:"cors,omitempty"`
		Auth       string   `json:"auth,omitempty"`
		Metrics    bool     `json:"metrics,omitempty"`
		Traces     bool     `json:"traces,omitempty"`
		TLS        string   `json:"tls,omitempty"`
		Push       Push     `json:"push,omitzero"`
	}
	// Push is about notifications to paired devices.
	Push struct {
		Text bool `json:"text,omitempty"`
	}
	// Command is a slash command. One without a Template changes a built-in one of its name.
	Command struct {
		Template    string `json:"template"`
		Description string `json:"description,omitempty"`
		Agent       string `json:"agent,omitempty"`
		Model       string `json:"model,omitempty"`
		Variant     string `json:"variant,omitempty"`
		Subtask     *bool  `json:"subtask,omitempty"`
	}
	// Reference is a named folder or repository for @name: it has a Path, which is complete,
	// or a Repository.
	Reference struct {
		Path        string `json:"path,omitempty"`
		Repository  string `json:"repository,omitempty"`
		Branch      string `json:"branch,omitempty"`
		Description string `json:"description,omitempty"`
		Hidden      bool   `json:"hidden,omitempty"`
	}
	// Plugin is a package or path, with options.
	Plugin struct {
		Name    string
		Options json.RawMessage
	}
	// Agent configures an agent. Zero fields leave a built-in agent unchanged. Options are for its
	// provider.
	Agent struct {
		Model       string                     `json:"model,omitempty"`
		Variant     string                     `json:"variant,omitempty"`
		Temperature *float64                   `json:"temperature,omitempty"`
		TopP        *float64                   `json:"top_p,omitempty"`
		Prompt      string                     `json:"prompt,omitempty"`
		Disable     bool                       `json:"disable,omitempty"`
		Description string                     `json:"description,omitempty"`
		Mode        string                     `json:"mode,omitempty"`
		Hidden      bool                       `json:"hidden,omitempty"`
		Options     map[string]json.RawMessage `json:"options,omitempty"`
		Color       string                     `json:"color,omitempty"`
		Isolation   string                     `json:"isolation,omitempty"` // none or worktree
		Steps       int                        `json:"steps,omitempty"`
		Permission  Permission                 `json:"permission,omitempty"`
		// AllowedTools are the tools it can use; nil means all.
		AllowedTools []string `json:"allowed_tools,omitempty"`
		Fallback     []string `json:"fallback,omitempty"`
		Sandbox      Sandbox  `json:"sandbox,omitzero"`
	}
	// Provider has the options of a provider that the program itself reads. The catalog of
	// models reads the rest from Raw.
	Provider struct {
		API     string          `json:"api,omitempty"`
		Options ProviderOptions `json:"options,omitempty"`
	}
	// ProviderOptions are the options of a provider by name. Names count letter by letter, which fields
	// of a struct do not.
	ProviderOptions map[string]json.RawMessage
	// Limit is a time in milliseconds; Off means no limit.
	Limit struct {
		Milliseconds int
		Off          bool
	}
	// MCPServer is a server of tools: local with a command, or remote with an address.
	MCPServer struct {
		Type        string            `json:"type,omitempty"`
		Command     []string          `json:"command,omitempty"`
		Cwd         string            `json:"cwd,omitempty"`
		Environment map[string]string `json:"environment,omitempty"`
		URL         string            `json:"url,omitempty"`
		Headers     map[string]string `json:"headers,omitempty"`
		OAuth       OAuth             `json:"oauth,omitzero"`
		Enabled     *bool             `json:"enabled,omitempty"`
		Timeout     int               `json:"timeout,omitempty"` // milliseconds
		// Sandbox is how a local server is confined; its zero value is workspace.
		Sandbox ServerSandbox `json:"sandbox,omitzero"`
	}
	// ServerSandbox configures the sandbox of an MCP server.
	ServerSandbox struct {
		Mode        string   `json:"mode,omitempty"`
		Write       []string `json:"write,omitempty"`
		Read        []string `json:"read,omitempty"`
		Credentials []string `json:"credentials,omitempty"`
	}
	// OAuth is how to log in to a remote server; Off means not at all.
	OAuth struct {
		ClientID     string `json:"clientId,omitempty"`
		ClientSecret string `json:"clientSecret,omitempty"`
		Scope        string `json:"scope,omitempty"`
		CallbackPort int    `json:"callbackPort,omitempty"`
		RedirectURI  string `json:"redirectUri,omitempty"`
		Off          bool   `json:"-"`
	}
	// ImageAttachment bounds images.
	ImageAttachment struct {
		AutoResize     *bool `json:"auto_resize,omitempty"`
		MaxWidth       int   `json:"max_width,omitempty"`
		MaxHeight      int   `json:"max_height,omitempty"`
		MaxBase64Bytes int   `json:"max_base64_bytes,omitempty"`
	}
	// ToolOutput bounds what a model sees of a tool's output.
	ToolOutput struct {
		MaxLines int `json:"max_lines,omitempty"`
		MaxBytes int `json:"max_bytes,omitempty"`
	}
	// Sandbox configures the sandbox of commands. Mode is workspace, read-only, off, or "" for the
	// default of the kernel. Commands are modes by command pattern. Write has absolute paths.
	Sandbox struct {
		Mode     string            `json:"mode,omitempty"`
		Commands map[string]string `json:"commands,omitempty"`
		Write    []string          `json:"write,omitempty"`
		// Read are places of credentials that are not hidden. Credentials are the tools whose lines
		// see their own. SSHAgent is nil for lines of git and ssh only.
		Read        []string      `json:"read,omitempty"`
		Credentials []string      `json:"credentials,omitempty"`
		SSHAgent    *bool         `json:"ssh_agent,omitempty"`
		Network     *Network      `json:"network,omitempty"`
		Limits      SandboxLimits `json:"limits,omitzero"`
	}
	// Network is the network access of commands: all, the hosts of a list, or nothing. It is
	// written as true, a list, or false.
	Network struct {
		All   bool
		Hosts []string
	}
	// SandboxLimits bound each process of a command; 0 is no limit.
	SandboxLimits struct {
		Memory    int `json:"memory,omitempty"`
		Processes int `json:"processes,omitempty"`
		FileSize  int `json:"file_size,omitempty"`
	}
	// Retry is how failed requests to a model are made again.
	Retry struct {
		Attempts *int  `json:"attempts,omitempty"`
		MaxWait  Limit `json:"max_wait,omitzero"` // longest wait that a provider can request
	}
	// Deadline bounds waits that are not for a model.
	Deadline struct {
		Tool     Limit `json:"tool,omitzero"`
		Subagent Limit `json:"subagent,omitzero"`
		Ask      Limit `json:"ask,omitzero"`
	}
	// Snapshot configures the recorded file states for undo.
	Snapshot struct {
		Enabled      *bool `json:"enabled,omitempty"`
		MaxDays      int   `json:"max_days,omitempty"`
		MaxMegabytes int   `json:"max_megabytes,omitempty"`
	}
	// LSP configures language servers. Servers has overrides of known ones, and others.
	LSP struct {
		Off     bool                 `json:"-"`
		Install bool                 `json:"install,omitempty"`
		Memory  int                  `json:"memory,omitempty"` // MB
		Servers map[string]LSPServer `json:"-"`
	}
	// LSPServer is a language server.
	LSPServer struct {
		Command        []string          `json:"command,omitempty"`
		Extensions     []string          `json:"extensions,omitempty"`
		Disabled       bool              `json:"disabled,omitempty"`
		Env            map[string]string `json:"env,omitempty"`
		Initialization map[string]any    `json:"initialization,omitempty"`
	}
	// Formatters configures code formatters. ByName has overrides of known ones, and others.
	Formatters struct {
		Off    bool                 `json:"-"`
		Scope  string               `json:"scope,omitempty"` // edit or file
		ByName map[string]Formatter `json:"-"`
	}
	// Formatter is a code formatter.
	Formatter struct {
		Disabled    bool              `json:"disabled,omitempty"`
		Command     []string          `json:"command,omitempty"`
		Environment map[string]string `json:"environment,omitempty"`
		Extensions  []string          `json:"extensions,omitempty"`
	}
	// Fallback are the models to use when the chosen one fails.
	Fallback struct {
		Models       []string `json:"models,omitempty"`
		Unauthorized bool     `json:"unauthorized,omitempty"`
	}
	// Budget limits spending. Share is the part of its parent's budget that a subagent can use.
	Budget struct {
		Session Spending `json:"session,omitzero"`
		Day     Spending `json:"day,omitzero"`
		Project Spending `json:"project,omitzero"`
		Share   float64  `json:"share,omitempty"`
	}
	// Spending is a limit in dollars, tokens, steps and milliseconds; 0 means no limit.
	Spending struct {
		Cost   float64 `json:"cost,omitempty"`
		Tokens int     `json:"tokens,omitempty"`
		Steps  int     `json:"steps,omitempty"`
		Time   int     `json:"time,omitempty"`
	}
	// Subagents limits subagent tasks. A limit of 0 means no limit.
	Subagents struct {
		Parallel   *int  `json:"parallel,omitempty"`
		Writers    *int  `json:"writers,omitempty"`
		Brief      *int  `json:"brief,omitempty"`
		Background *bool `json:"background,omitempty"`
	}
	// WebFetch is where pages may be fetched from.
	WebFetch struct {
		Private bool   `json:"private,omitempty"`
		Proxy   string `json:"proxy,omitempty"`
	}
	// Compaction is how a long history is compressed.
	Compaction struct {
		Auto                 *bool `json:"auto,omitempty"`
		Prune                *bool `json:"prune,omitempty"`
		TailTurns            *int  `json:"tail_turns,omitempty"`
		PreserveRecentTokens *int  `json:"preserve_recent_tokens,omitempty"`
		Reserved             *int  `json:"reserved,omitempty"`
	}
	// Experimental options may change.
	Experimental struct {
		PrimaryTools       []string `json:"primary_tools,omitempty"`
		ContinueLoopOnDeny bool     `json:"continue_loop_on_deny,omitempty"`
		MCPTimeout         int      `json:"mcp_timeout,omitempty"`
		Policies           []policy `json:"policies,omitempty"`
	}
	// policy allows or denies the use of a provider.
	policy struct {
		Action   string `json:"action"`
		Effect   string `json:"effect"`
		Resource string `json:"resource"`
	}
)
