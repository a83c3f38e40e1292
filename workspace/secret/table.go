package secret

// The folders that the paths of the table start from.
type base int

const (
	home   base = iota
	config      // $XDG_CONFIG_HOME, ~/.config; ~/Library/Application Support on macOS as well
	data        // $XDG_DATA_HOME, ~/.local/share
)

// row is one place of credentials.
type row struct {
	base base
	path string // with slashes; a * in its last element matches names
	// tool is the name that opens the place in sandbox.credentials; "" is that nothing but
	// sandbox.read does.
	tool   string
	reason string
	// env names a variable that moves the place: it holds the path itself.
	env string
	// below is what of the moved place is secret, if it is not all of it.
	below string
	// show are names directly in the folder that are no secrets.
	show []string
	// redact says that programs need the rest of the file: see [Redact].
	redact Format
}

// rows is the one table of what holds the user's credentials.
func rows() []row {
	var out []row
	for _, part := range [][]row{keyRows(), cloudRows(), serviceRows(), registryRows(), databaseRows(), agentRows(), browserRows(), vaultRows(), historyRows(), macRows()} {
		out = append(out, part...)
	}
	return out
}

func keyRows() []row {
	return []row{
		{path: ".ssh", tool: "ssh", reason: "SSH private keys", show: []string{
			"known_hosts", "known_hosts.old", "known_hosts2", "config", "config.d", "*.pub", "authorized_keys", "allowed_signers", "environment", "rc",
		}},
		{path: ".gnupg", tool: "gpg", env: "GNUPGHOME", reason: "GnuPG private keys", show: []string{
			"pubring.kbx", "pubring.gpg", "trustdb.gpg", "gpg.conf", "gpg-agent.conf", "common.conf", "dirmngr.conf",
		}},
		{path: ".netrc", tool: "netrc", env: "NETRC", reason: "passwords for hosts"},
		{path: "_netrc", tool: "netrc", reason: "passwords for hosts"},
		{path: ".authinfo", tool: "netrc", reason: "passwords for hosts"},
		{path: ".authinfo.gpg", tool: "netrc", reason: "passwords for hosts"},
		{path: ".git-credentials", tool: "git", reason: "passwords for git remotes"},
		{base: config, path: "git/credentials", tool: "git", reason: "passwords for git remotes"},
		{base: config, path: "gh", tool: "gh", env: "GH_CONFIG_DIR", reason: "GitHub tokens"},
		{base: config, path: "hub", tool: "hub", reason: "GitHub tokens"},
		{base: config, path: "glab-cli", tool: "glab", env: "GLAB_CONFIG_DIR", reason: "GitLab tokens"},
		{base: config, path: "tea", tool: "tea", reason: "Gitea tokens"},
		{base: config, path: "sops", tool: "sops", reason: "age keys"},
		{base: config, path: "age", tool: "age", reason: "age keys"},
		{path: ".step", tool: "step", env: "STEPPATH", reason: "certificate keys"},
		{path: ".pki", reason: "certificate keys"},
		{path: ".vault-token", tool: "vault", reason: "Vault token"},
	}
}

func cloudRows() []row {
	return []row{
		{path: ".aws", tool: "aws", reason: "AWS keys"},
		{path: ".aws/credentials", tool: "aws", env: "AWS_SHARED_CREDENTIALS_FILE", reason: "AWS keys"},
		{path: ".aws/config", tool: "aws", env: "AWS_CONFIG_FILE", reason: "AWS keys"},
		{path: ".kube", tool: "kubectl", reason: "Kubernetes credentials"},
		{path: ".kube/config", tool: "kubectl", env: "KUBECONFIG", reason: "Kubernetes credentials"},
		{path: ".docker/config.json", tool: "docker", env: "DOCKER_CONFIG", below: "config.json", reason: "registry passwords", redact: JSON},
		{path: ".docker/contexts", tool: "docker", reason: "TLS keys of Docker hosts"},
		{path: ".docker/scout", tool: "docker", reason: "Docker credentials"},
		{base: config, path: "containers/auth.json", tool: "podman", env: "REGISTRY_AUTH_FILE", reason: "registry passwords", redact: JSON},
		{base: config, path: "helm/registry", tool: "helm", reason: "registry passwords"},
		{base: config, path: "gcloud", tool: "gcloud", env: "CLOUDSDK_CONFIG", reason: "Google Cloud credentials"},
		{base: config, path: "gcloud/application_default_credentials.json", tool: "gcloud", env: "GOOGLE_APPLICATION_CREDENTIALS", reason: "Google Cloud credentials"},
		{path: ".boto", tool: "gsutil", reason: "cloud storage keys"},
		{path: ".s3cfg", tool: "s3cmd", reason: "cloud storage keys"},
		{path: ".mc", tool: "mc", reason: "cloud storage keys"},
		{base: config, path: "rclone", tool: "rclone", reason: "cloud storage keys"},
		{path: ".azure", tool: "az", env: "AZURE_CONFIG_DIR", reason: "Azure tokens"},
		{base: config, path: "doctl", tool: "doctl", reason: "DigitalOcean token"},
		{base: config, path: "hcloud", tool: "hcloud", reason: "Hetzner token"},
		{path: ".fly", tool: "fly", reason: "Fly.io token"},
		{base: data, path: "heroku", tool: "heroku", reason: "Heroku token"},
		{base: config, path: "heroku", tool: "heroku", reason: "Heroku token"},
		{path: ".oci", tool: "oci", reason: "Oracle Cloud keys"},
		{base: config, path: "linode-cli", tool: "linode-cli", reason: "Linode token"},
		{path: ".linode-cli", tool: "linode-cli", reason: "Linode token"},
		{base: config, path: "scw", tool: "scw", reason: "Scaleway keys"},
		{base: config, path: "vultr-cli.yaml", tool: "vultr-cli", reason: "Vultr key"},
		{base: config, path: "openstack", tool: "openstack", reason: "OpenStack passwords"},
		{path: ".aliyun", tool: "aliyun", reason: "Alibaba Cloud keys"},
		{path: ".bluemix", tool: "ibmcloud", reason: "IBM Cloud tokens"},
		{path: ".wrangler", tool: "wrangler", reason: "Cloudflare token"},
		{base: config, path: ".wrangler", tool: "wrangler", reason: "Cloudflare token"},
		{path: ".cloudflared", tool: "cloudflared", reason: "Cloudflare certificate"},
		{base: config, path: "netlify", tool: "netlify", reason: "Netlify token"},
		{path: ".netlify", tool: "netlify", reason: "Netlify token"},
		{base: data, path: "com.vercel.cli", tool: "vercel", reason: "Vercel token"},
		{base: config, path: "railway", tool: "railway", reason: "Railway token"},
		{path: ".railway", tool: "railway", reason: "Railway token"},
		{path: ".supabase", tool: "supabase", reason: "Supabase token"},
		{base: config, path: "configstore", tool: "firebase", reason: "tokens of Firebase and other command lines"},
		{path: ".terraform.d/credentials.tfrc.json", tool: "terraform", reason: "Terraform tokens"},
		{path: ".terraformrc", tool: "terraform", env: "TF_CLI_CONFIG_FILE", reason: "Terraform tokens"},
		{path: ".tofurc", tool: "tofu", reason: "OpenTofu tokens"},
		{path: ".pulumi/credentials.json", tool: "pulumi", reason: "Pulumi tokens"},
	}
}

// serviceRows are the command lines of services that are not clouds themselves.
func serviceRows() []row {
	return []row{
		{path: ".databrickscfg", tool: "databricks", reason: "Databricks token"},
		{path: ".snowsql", tool: "snowsql", reason: "Snowflake passwords"},
		{path: ".snowflake", tool: "snow", reason: "Snowflake passwords"},
		{path: ".kaggle", tool: "kaggle", reason: "Kaggle key"},
		{path: ".cache/huggingface/token", tool: "huggingface-cli", reason: "Hugging Face token"},
		{path: ".cache/huggingface/stored_tokens", tool: "huggingface-cli", reason: "Hugging Face tokens"},
		{path: ".huggingface", tool: "huggingface-cli", reason: "Hugging Face token"},
		{path: ".stripe", tool: "stripe", reason: "Stripe keys"},
		{base: config, path: "stripe", tool: "stripe", reason: "Stripe keys"},
		{path: ".sentryclirc", tool: "sentry-cli", reason: "Sentry token"},
		{base: config, path: "ngrok", tool: "ngrok", reason: "ngrok token"},
		{path: ".ngrok2", tool: "ngrok", reason: "ngrok token"},
		{path: ".minikube", tool: "minikube", reason: "Kubernetes credentials"},
		{base: config, path: "k9s", tool: "k9s", reason: "Kubernetes credentials"},
		{path: ".rancher", tool: "rancher", reason: "Rancher tokens"},
		{path: ".tsh", tool: "tsh", reason: "Teleport certificates"},
		{base: config, path: "ansible", tool: "ansible", reason: "Ansible vault passwords"},
		{path: ".vault_pass", tool: "ansible", reason: "Ansible vault password"},
		{path: ".chef", tool: "knife", reason: "Chef keys"},
		{path: ".circleci", tool: "circleci", reason: "CircleCI token"},
		{path: ".travis", tool: "travis", reason: "Travis CI token"},
	}
}

func registryRows() []row {
	return []row{
		{path: ".npmrc", tool: "npm", env: "NPM_CONFIG_USERCONFIG", reason: "npm tokens", redact: Lines},
		{path: ".npmrc", tool: "npm", env: "npm_config_userconfig", reason: "npm tokens", redact: Lines},
		{path: ".pypirc", tool: "twine", reason: "PyPI tokens"},
		{base: config, path: "pypoetry/auth.toml", tool: "poetry", reason: "PyPI tokens"},
		{base: data, path: "uv/credentials", tool: "uv", reason: "PyPI tokens"},
		{base: config, path: "hatch", tool: "hatch", reason: "PyPI tokens"},
		{path: ".cargo/credentials", tool: "cargo", env: "CARGO_HOME", below: "credentials", reason: "crates.io token"},
		{path: ".cargo/credentials.toml", tool: "cargo", env: "CARGO_HOME", below: "credentials.toml", reason: "crates.io token"},
		{path: ".gem/credentials", tool: "gem", reason: "RubyGems key"},
		{base: data, path: "gem/credentials", tool: "gem", reason: "RubyGems key"},
		{path: ".bundle/config", tool: "bundle", reason: "passwords of gem sources", redact: Lines},
		{path: ".m2/settings.xml", tool: "mvn", reason: "Maven repository passwords", redact: XML},
		{path: ".m2/settings-security.xml", tool: "mvn", reason: "Maven repository passwords"},
		{path: ".gradle/gradle.properties", tool: "gradle", reason: "Gradle repository passwords", redact: Lines},
		{path: ".sbt/.credentials", tool: "sbt", reason: "sbt repository passwords"},
		{path: ".ivy2/.credentials", tool: "sbt", reason: "Ivy repository passwords"},
		{path: ".nuget/NuGet/NuGet.Config", tool: "dotnet", reason: "NuGet keys", redact: XML},
		{base: config, path: "NuGet/NuGet.Config", tool: "dotnet", reason: "NuGet keys", redact: XML},
		{base: config, path: "composer/auth.json", tool: "composer", reason: "Composer tokens"},
		{path: ".composer/auth.json", tool: "composer", reason: "Composer tokens"},
		{path: ".yarnrc.yml", tool: "yarn", reason: "npm tokens", redact: Lines},
		{base: config, path: "pnpm/rc", tool: "pnpm", reason: "npm tokens", redact: Lines},
		{path: ".bunfig.toml", tool: "bun", reason: "npm tokens", redact: Lines},
		{path: ".hex/hex.config", tool: "mix", reason: "Hex key"},
		{path: ".pub-cache/credentials.json", tool: "dart", reason: "pub.dev credentials"},
		{path: ".condarc", tool: "conda", reason: "conda channel tokens", redact: Lines},
		{base: config, path: "pip/pip.conf", tool: "pip", reason: "passwords of package indexes", redact: Lines},
		{path: ".pip/pip.conf", tool: "pip", reason: "passwords of package indexes", redact: Lines},
	}
}

func databaseRows() []row {
	return []row{
		{path: ".pgpass", tool: "psql", env: "PGPASSFILE", reason: "PostgreSQL passwords"},
		{path: ".pg_service.conf", tool: "psql", env: "PGSERVICEFILE", reason: "PostgreSQL passwords"},
		{path: ".my.cnf", tool: "mysql", reason: "MySQL passwords"},
		{path: ".mylogin.cnf", tool: "mysql", env: "MYSQL_TEST_LOGIN_FILE", reason: "MySQL passwords"},
		{path: ".mongorc.js", tool: "mongosh", reason: "MongoDB passwords"},
		{path: ".mongodb", tool: "mongosh", reason: "MongoDB history and tokens"},
		{path: ".rediscli_auth", tool: "redis-cli", reason: "Redis password"},
		{path: ".dbeaver", reason: "database passwords"},
		{base: data, path: "DBeaverData", reason: "database passwords"},
		{base: config, path: "DataGrip", reason: "database passwords"},
		{path: ".smbcredentials", reason: "passwords of network shares"},
		{path: ".msmtprc", reason: "mail passwords"},
		{base: config, path: "msmtp", reason: "mail passwords"},
		{path: ".mbsyncrc", reason: "mail passwords"},
		{path: ".fetchmailrc", reason: "mail passwords"},
		{path: ".thunderbird", reason: "mail and its passwords"},
		{base: config, path: "evolution", reason: "mail and its passwords"},
	}
}

// agentRows are the places of coding agents and editors. Ours are hidden as a whole elsewhere.
func agentRows() []row {
	return []row{
		{path: ".claude", tool: "claude", env: "CLAUDE_CONFIG_DIR", reason: "Claude Code credentials", show: []string{"CLAUDE.md", "skills", "commands", "agents"}},
		{path: ".claude.json", tool: "claude", reason: "Claude Code credentials"},
		{base: config, path: "claude", tool: "claude", reason: "Claude Code credentials"},
		{base: config, path: "Claude", reason: "Claude credentials"},
		{path: ".codex", tool: "codex", env: "CODEX_HOME", reason: "Codex credentials", show: []string{"AGENTS.md", "skills", "prompts"}},
		{path: ".gemini", tool: "gemini", reason: "Gemini credentials", show: []string{"GEMINI.md"}},
		{path: ".qwen", tool: "qwen", reason: "Qwen credentials"},
		{base: data, path: "opencode", tool: "opencode", reason: "OpenCode credentials and sessions"},
		{base: data, path: "crush", tool: "crush", reason: "Crush credentials and sessions"},
		{base: config, path: "crush", tool: "crush", reason: "Crush credentials"},
		{base: config, path: "github-copilot", tool: "copilot", reason: "GitHub Copilot token"},
		{path: ".copilot", tool: "copilot", reason: "GitHub Copilot token"},
		{path: ".cursor", tool: "cursor-agent", reason: "Cursor credentials"},
		{base: config, path: "Cursor", reason: "Cursor credentials"},
		{base: config, path: "cursor", tool: "cursor-agent", reason: "Cursor credentials"},
		{path: ".codeium", reason: "Codeium key"},
		{base: config, path: "Windsurf", reason: "Windsurf credentials"},
		{path: ".aider.conf.yml", tool: "aider", reason: "aider API keys"},
		{path: ".aider", tool: "aider", reason: "aider API keys"},
		{path: ".continue", reason: "Continue API keys"},
		{base: config, path: "goose", tool: "goose", reason: "goose API keys"},
		{base: config, path: "amp", tool: "amp", reason: "Amp API key"},
		{base: data, path: "amp", tool: "amp", reason: "Amp API key"},
		{path: ".amazon-q", tool: "q", reason: "Amazon Q tokens"},
		{base: data, path: "amazon-q", tool: "q", reason: "Amazon Q tokens"},
		{base: config, path: "io.datasette.llm", tool: "llm", reason: "API keys of llm"},
		{path: ".openai", reason: "OpenAI key"},
		{path: ".anthropic", reason: "Anthropic key"},
		{path: ".ollama/id_ed25519", tool: "ollama", reason: "Ollama private key"},
		{base: config, path: "Code/User/globalStorage", reason: "tokens of editor extensions"},
		{base: config, path: "Code - Insiders/User/globalStorage", reason: "tokens of editor extensions"},
		{base: config, path: "VSCodium/User/globalStorage", reason: "tokens of editor extensions"},
		{base: config, path: "zed", tool: "zed", reason: "Zed credentials"},
		{base: config, path: "JetBrains", reason: "passwords kept by JetBrains IDEs"},
		{base: config, path: "Slack", reason: "Slack session"},
		{base: config, path: "discord", reason: "Discord session"},
		{base: config, path: "Signal", reason: "Signal messages"},
		{base: data, path: "TelegramDesktop", reason: "Telegram session"},
	}
}

func browserRows() []row {
	var out []row
	add := func(b base, reason string, paths ...string) {
		for _, path := range paths {
			out = append(out, row{base: b, path: path, reason: reason})
		}
	}
	const reason = "browser passwords and cookies"
	add(home, reason, ".mozilla", ".librewolf", ".waterfox", ".zen", ".floorp", ".tor-browser",
		".var/app/org.mozilla.firefox", ".var/app/com.google.Chrome", ".var/app/org.chromium.Chromium", ".var/app/com.brave.Browser",
		".var/app/com.microsoft.Edge", ".var/app/io.gitlab.librewolf-community", ".var/app/com.vivaldi.Vivaldi", ".var/app/com.opera.Opera",
		"snap/firefox", "snap/chromium", "snap/brave", "snap/opera")
	add(config, reason, "google-chrome", "google-chrome-beta", "google-chrome-unstable", "chromium", "BraveSoftware", "microsoft-edge",
		"microsoft-edge-beta", "microsoft-edge-dev", "vivaldi", "opera", "mozilla", "librewolf", "qutebrowser")
	return out
}

func vaultRows() []row {
	return []row{
		{base: data, path: "keyrings", reason: "keyring of the desktop"},
		{path: ".gnome2/keyrings", reason: "keyring of the desktop"},
		{base: data, path: "kwalletd", reason: "KDE wallet"},
		{path: ".kde/share/apps/kwallet", reason: "KDE wallet"},
		{path: ".password-store", tool: "pass", env: "PASSWORD_STORE_DIR", reason: "password store"},
		{base: data, path: "gopass", tool: "gopass", reason: "password store"},
		{base: config, path: "gopass", tool: "gopass", reason: "password store"},
		{path: ".1password", reason: "1Password"},
		{base: config, path: "1Password", reason: "1Password"},
		{base: config, path: "op", tool: "op", reason: "1Password sessions"},
		{base: config, path: "Bitwarden", reason: "Bitwarden"},
		{base: config, path: "Bitwarden CLI", tool: "bw", reason: "Bitwarden"},
		{base: config, path: "rbw", tool: "rbw", reason: "Bitwarden"},
		{base: data, path: "rbw", tool: "rbw", reason: "Bitwarden"},
		{base: config, path: "keepassxc", reason: "KeePassXC"},
		{base: config, path: "KeePass", reason: "KeePass"},
		{path: "*.kdbx", reason: "KeePass database"},
		{path: "Documents/*.kdbx", reason: "KeePass database"},
		{base: config, path: "Enpass", reason: "Enpass"},
		{path: ".lastpass", tool: "lpass", reason: "LastPass"},
		{base: data, path: "lpass", tool: "lpass", reason: "LastPass"},
		{base: config, path: "Authy Desktop", reason: "one-time codes"},
		{path: ".electrum", reason: "wallet"},
		{path: ".bitcoin", reason: "wallet"},
		{path: ".ethereum", reason: "wallet"},
		{base: config, path: "solana", tool: "solana", reason: "wallet"},
	}
}

func historyRows() []row {
	var out []row
	for _, path := range []string{
		".bash_history", ".zsh_history", ".zhistory", ".histfile", ".sh_history", ".ksh_history", ".history", ".python_history", ".node_repl_history",
		".psql_history", ".mysql_history", ".sqlite_history", ".rediscli_history", ".dbshell", ".irb_history", ".pry_history", ".lesshst", ".zsh_sessions",
	} {
		out = append(out, row{path: path, reason: "history of what you typed"})
	}
	return append(out,
		row{path: ".bash_history", env: "HISTFILE", reason: "history of what you typed"},
		row{base: data, path: "fish/fish_history", reason: "history of what you typed"},
		row{base: data, path: "atuin", reason: "history of what you typed"},
		row{base: data, path: "mcfly", reason: "history of what you typed"},
		row{base: data, path: "powershell/PSReadLine", reason: "history of what you typed"},
		row{base: config, path: "nushell/history.txt", reason: "history of what you typed"},
		row{base: config, path: "nushell/history.sqlite3", reason: "history of what you typed"},
	)
}

// macRows are the places that only macOS has. Those that are not there cost nothing.
func macRows() []row {
	return []row{
		{path: "Library/Keychains", reason: "keychain"},
		{path: "Library/Cookies", reason: "browser cookies"},
		{path: "Library/Safari", reason: "browser passwords and cookies"},
		{path: "Library/Application Support/Google/Chrome", reason: "browser passwords and cookies"},
		{path: "Library/Application Support/Firefox", reason: "browser passwords and cookies"},
		{path: "Library/Application Support/Arc", reason: "browser passwords and cookies"},
		{path: "Library/Group Containers/2BUA8C4S2C.com.1password", reason: "1Password"},
		{path: "Library/Messages", reason: "messages"},
		{path: "Library/Mail", reason: "mail"},
	}
}
