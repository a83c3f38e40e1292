package lsp

import "slices"

// Groups of extensions and markers that several servers share.
var (
	scriptExtensions = []string{".ts", ".tsx", ".js", ".jsx", ".mjs", ".cjs", ".mts", ".cts"}
	lockFiles        = []string{"package-lock.json", "bun.lockb", "bun.lock", "pnpm-lock.yaml", "yarn.lock"}
	pythonMarkers    = []string{"pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "Pipfile", "pyrightconfig.json"}
	dotnetMarkers    = []string{"*.slnx", "*.sln", "*.csproj", "*.fsproj", "global.json"}
	gradleMarkers    = []string{"settings.gradle", "settings.gradle.kts", "gradlew", "build.gradle", "build.gradle.kts", "pom.xml"}
)

// Known returns the servers that need no config. IDs, extensions and markers are OpenCode's.
//
// Executes is the column that trust depends on: code of the project that the server, or a tool that it starts,
// runs merely by opening it. Restricted switches that code off; a server without it needs a trusted project.
func Known() []Definition {
	return slices.Concat(webServers(), nativeServers(), scriptServers(), managedServers(), documentServers(), functionalServers())
}

// webServers are those for scripts of browsers and Node. Most load the project's own packages, which is code.
func webServers() []Definition {
	with := func(more ...string) []string { return append(slices.Clone(scriptExtensions), more...) }
	return []Definition{
		{
			ID: "deno", Extensions: []string{".ts", ".tsx", ".js", ".jsx", ".mjs"}, Command: []string{"deno", "lsp"}, NeedsRoot: true,
			Markers: [][]string{{"deno.json", "deno.jsonc"}}, Executes: "lint plugins",
			Restricted: &Restriction{Initialization: map[string]any{"lint": false}}, Initialization: map[string]any{"enable": true},
		},
		{
			// TypeScript 7 has the server in the compiler. Before it, the server drives the project's own tsserver.
			ID: "typescript", Extensions: scriptExtensions, Command: []string{"tsc", "--lsp", "--stdio"},
			Alternatives: [][]string{{"typescript-language-server", "--stdio"}}, Markers: [][]string{lockFiles, {"tsconfig.json", "jsconfig.json", "package.json"}},
			Avoid: []string{"deno.json", "deno.jsonc"}, Executes: "tsserver and its plugins, unless TypeScript is 7 or newer",
			Restricted: &Restriction{}, Install: "npm typescript@7",
		},
		{ID: "vue", Extensions: []string{".vue"}, Command: []string{"vue-language-server", "--stdio"}, Markers: [][]string{lockFiles}, Executes: "TypeScript and its plugins", Install: "npm @vue/language-server"},
		{
			ID: "eslint", Extensions: with(".vue"), Command: []string{"vscode-eslint-language-server", "--stdio"}, Markers: [][]string{lockFiles},
			Executes: "ESLint, its config and its plugins",
		},
		{
			ID: "oxlint", Extensions: with(".vue", ".astro", ".svelte"), Command: []string{"oxlint", "--lsp"}, Alternatives: [][]string{{"oxc_language_server"}}, NeedsRoot: true,
			Markers: [][]string{{".oxlintrc.json"}}, Executes: "JavaScript plugins",
		},
		{
			ID: "biome", Extensions: with(".json", ".jsonc", ".vue", ".astro", ".svelte", ".css", ".graphql", ".gql", ".html"), NeedsRoot: true,
			Command: []string{"biome", "lsp-proxy", "--stdio"}, Markers: [][]string{{"biome.json", "biome.jsonc"}},
		},
		{ID: "svelte", Extensions: []string{".svelte"}, Command: []string{"svelteserver", "--stdio"}, Markers: [][]string{lockFiles}, Executes: "svelte.config.js", Install: "npm svelte-language-server"},
		{ID: "astro", Extensions: []string{".astro"}, Command: []string{"astro-ls", "--stdio"}, Markers: [][]string{lockFiles}, Executes: "TypeScript and its plugins", Install: "npm @astrojs/language-server"},
		{ID: "prisma", Extensions: []string{".prisma"}, Command: []string{"prisma", "language-server"}, Markers: [][]string{{"schema.prisma", "prisma"}}, Executes: "prisma.config.ts"},
	}
}

// nativeServers are those of compiled languages. gopls runs go list: without cgo and with the installed toolchain that
// executes nothing of the project. rust-analyzer runs cargo, which obeys wrappers and toolchain files, so variables
// override them. clangd obeys compile_commands.json, which may name plugins, so it gets none.
func nativeServers() []Definition {
	return []Definition{
		{
			// Errors of a changed file are asked for: what gopls sends by itself may still be about the text before, with the
			// version of the new one. The delay is for all other packages, which a changed signature breaks.
			ID: "gopls", Extensions: []string{".go"}, Command: []string{"gopls"}, Markers: [][]string{{"go.work"}, {"go.mod", "go.sum"}}, WholeProject: true,
			Executes:       "the C compiler for cgo, and the toolchain of go.mod",
			Restricted:     &Restriction{Env: map[string]string{"CGO_ENABLED": "0", "GOTOOLCHAIN": "local", "GOFLAGS": "-mod=readonly"}},
			Initialization: map[string]any{"diagnosticsDelay": "20ms", "vulncheck": "Off", "pullDiagnostics": true}, Install: "go golang.org/x/tools/gopls@v0.23.0",
		},
		{
			ID: "rust", Extensions: []string{".rs"}, Command: []string{"rust-analyzer"}, Markers: [][]string{{"Cargo.lock"}, {"Cargo.toml"}},
			Executes: "build scripts, procedural macros, and wrappers in .cargo/config.toml",
			Restricted: &Restriction{
				Env: map[string]string{"RUSTC": "rustc", "RUSTC_WRAPPER": "", "RUSTC_WORKSPACE_WRAPPER": "", "RUSTUP_TOOLCHAIN": "stable"},
				Initialization: map[string]any{
					"cargo": map[string]any{"buildScripts": map[string]any{"enable": false}}, "procMacro": map[string]any{"enable": false}, "checkOnSave": false,
				},
			},
		},
		{
			ID: "clangd", Extensions: []string{".c", ".cpp", ".cc", ".cxx", ".c++", ".h", ".hpp", ".hh", ".hxx", ".h++"},
			Command: []string{"clangd", "--background-index=false", "--clang-tidy"}, Markers: [][]string{{"compile_commands.json", "compile_flags.txt", ".clangd"}},
			Executes: "compiler plugins of compile_commands.json", Restricted: &Restriction{Args: []string{"--enable-config=0", "--compile-commands-dir=/"}},
		},
		{ID: "zls", Extensions: []string{".zig", ".zon"}, Command: []string{"zls"}, Markers: [][]string{{"build.zig"}}, Executes: "build.zig"},
		{
			ID: "sourcekit-lsp", Extensions: []string{".swift", ".objc", ".objcpp"}, Command: []string{"sourcekit-lsp"},
			Markers: [][]string{{"Package.swift", "*.xcodeproj", "*.xcworkspace"}}, Executes: "Package.swift",
		},
		{ID: "gleam", Extensions: []string{".gleam"}, Command: []string{"gleam", "lsp"}, Markers: [][]string{{"gleam.toml"}}},
		{ID: "dart", Extensions: []string{".dart"}, Command: []string{"dart", "language-server", "--lsp"}, Markers: [][]string{{"pubspec.yaml", "analysis_options.yaml"}}, Executes: "analyzer plugins"},
	}
}

// scriptServers are those of scripting languages. pyright starts an interpreter only to find packages: the one in .venv
// is code of the project, the one of the PATH is not.
func scriptServers() []Definition {
	return []Definition{
		{
			ID: "ty", Extensions: []string{".py", ".pyi"}, Command: []string{"ty", "server"}, NeedsRoot: true, Markers: [][]string{{"ty.toml"}},
		},
		{
			ID: "pyright", Extensions: []string{".py", ".pyi"}, Command: []string{"pyright-langserver", "--stdio"}, Markers: [][]string{pythonMarkers},
			Avoid: []string{"ty.toml"}, Executes: "the interpreter in .venv", Restricted: &Restriction{}, Install: "npm pyright",
		},
		{
			ID: "ruby-lsp", Extensions: []string{".rb", ".rake", ".gemspec", ".ru"}, Command: []string{"rubocop", "--lsp"}, Markers: [][]string{{"Gemfile"}},
			Executes: "gems and files that .rubocop.yml requires",
		},
		{ID: "elixir-ls", Extensions: []string{".ex", ".exs"}, Command: []string{"elixir-ls"}, Markers: [][]string{{"mix.exs", "mix.lock"}}, Executes: "mix.exs and macros"},
		{
			ID: "lua-ls", Extensions: []string{".lua"}, Command: []string{"lua-language-server"}, Executes: "the plugin of .luarc.json",
			Markers: [][]string{{".luarc.json", ".luarc.jsonc", ".luacheckrc", ".stylua.toml", "stylua.toml", "selene.toml", "selene.yml"}},
		},
		{
			ID: "php intelephense", Extensions: []string{".php"}, Command: []string{"intelephense", "--stdio"}, Install: "npm intelephense",
			Markers: [][]string{{"composer.json", "composer.lock", ".php-version"}},
		},
		{ID: "bash", Extensions: []string{".sh", ".bash", ".zsh", ".ksh"}, Command: []string{"bash-language-server", "start"}, Install: "npm bash-language-server"},
		{
			ID: "julials", Extensions: []string{".jl"}, Markers: [][]string{{"Project.toml", "Manifest.toml"}}, Executes: "packages of the project",
			Command: []string{"julia", "--startup-file=no", "--history-file=no", "-e", "using LanguageServer; runserver()"},
		},
	}
}

// managedServers are those whose build system is a program: Gradle, Maven and MSBuild execute their build files.
func managedServers() []Definition {
	gradle := map[string]any{"enabled": false}
	return []Definition{
		{
			ID: "jdtls", Extensions: []string{".java"}, Command: []string{"jdtls"}, NeedsRoot: true, Executes: "Gradle and Maven builds",
			Markers: [][]string{gradleMarkers, {".project", ".classpath"}},
			Restricted: &Restriction{Initialization: map[string]any{"settings": map[string]any{"java": map[string]any{
				"import": map[string]any{"gradle": gradle, "maven": gradle}, "autobuild": gradle,
			}}}},
		},
		{ID: "kotlin-ls", Extensions: []string{".kt", ".kts"}, Command: []string{"kotlin-lsp", "--stdio"}, Markers: [][]string{gradleMarkers}, Executes: "Gradle builds"},
		{
			ID: "csharp", Extensions: []string{".cs", ".csx"}, Command: []string{"roslyn-language-server", "--stdio", "--autoLoadProjects"},
			Markers: [][]string{dotnetMarkers}, Executes: "MSBuild targets and analyzers",
		},
		{
			ID: "razor", Extensions: []string{".razor", ".cshtml"}, Command: []string{"roslyn-language-server", "--stdio", "--autoLoadProjects"},
			Markers: [][]string{dotnetMarkers}, Executes: "MSBuild targets and analyzers",
		},
		{ID: "fsharp", Extensions: []string{".fs", ".fsi", ".fsx", ".fsscript"}, Command: []string{"fsautocomplete"}, Markers: [][]string{dotnetMarkers}, Executes: "MSBuild targets"},
	}
}

// documentServers are those of documents and of configuration. terraform-ls starts the providers in .terraform.
func documentServers() []Definition {
	return []Definition{
		{ID: "yaml-ls", Extensions: []string{".yaml", ".yml"}, Command: []string{"yaml-language-server", "--stdio"}, Markers: [][]string{lockFiles}, Install: "npm yaml-language-server"},
		{
			ID: "terraform", Extensions: []string{".tf", ".tfvars"}, Command: []string{"terraform-ls", "serve"}, Executes: "providers in .terraform",
			Markers: [][]string{{".terraform.lock.hcl", "terraform.tfstate", "*.tf"}},
		},
		{ID: "texlab", Extensions: []string{".tex", ".bib"}, Command: []string{"texlab"}, Markers: [][]string{{".latexmkrc", "latexmkrc", ".texlabroot", "texlabroot"}}},
		{ID: "dockerfile", Extensions: []string{".dockerfile", "Dockerfile"}, Command: []string{"docker-langserver", "--stdio"}, Install: "npm dockerfile-language-server-nodejs"},
		{ID: "tinymist", Extensions: []string{".typ", ".typc"}, Command: []string{"tinymist"}, Markers: [][]string{{"typst.toml"}}},
	}
}

// functionalServers are those of functional languages, whose builds execute code at compile time.
func functionalServers() []Definition {
	return []Definition{
		{ID: "ocaml-lsp", Extensions: []string{".ml", ".mli"}, Command: []string{"ocamllsp"}, Markers: [][]string{{"dune-project", "dune-workspace", ".merlin", "opam"}}, Executes: "dune rules and preprocessors"},
		{
			ID: "clojure-lsp", Extensions: []string{".clj", ".cljs", ".cljc", ".edn"}, Command: []string{"clojure-lsp", "listen"}, Executes: "project.clj and classpath commands",
			Markers: [][]string{{"deps.edn", "project.clj", "shadow-cljs.edn", "bb.edn", "build.boot"}},
		},
		{ID: "nixd", Extensions: []string{".nix"}, Command: []string{"nixd"}, Markers: [][]string{{"flake.nix"}}, Executes: "Nix expressions"},
		{
			ID: "haskell-language-server", Extensions: []string{".hs", ".lhs"}, Command: []string{"haskell-language-server-wrapper", "--lsp"},
			Markers: [][]string{{"stack.yaml", "cabal.project", "hie.yaml", "*.cabal"}}, Executes: "Setup.hs, Template Haskell and cradles",
		},
	}
}
