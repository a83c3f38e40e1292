package shell

import "strings"

// noteAssignment sees that a variable gets a value, and says so if it changes what runs.
func (a *reader) noteAssignment(name string, w Word) {
	if !changesWhatRuns(name) || w.Known && harmlessValue(name, w.Text) {
		return
	}
	text := name + "="
	if w.Known && strings.Trim(w.Text, safeValue) == "" {
		a.extra(Sets, text+w.Text)
		return
	}
	a.note(text+w.Text, "what "+name+" becomes decides what runs")
	a.extra(Sets, text+"<unknown>")
}

// safeValue are the characters of a value that rules are shown. Others could be made to look
// like something that a rule allows.
const safeValue = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=,+@%-"

// changesWhatRuns knows the variables by which a program, or code, comes to run, or a word to
// mean something else. They are as good as commands.
func changesWhatRuns(name string) bool {
	switch name {
	case "PATH", "IFS", "ENV", "CDPATH", "SHELLOPTS", "BASHOPTS", "PROMPT_COMMAND", "PS0", "PS1", "PS2", "PS4", "SHELL", "HOME",
		"ZDOTDIR", "FPATH", "fpath", "path", "GLOBIGNORE", "HISTFILE", "TMPPREFIX", "POSIXLY_CORRECT", "GCONV_PATH",
		"EDITOR", "VISUAL", "PAGER", "MANPAGER", "BROWSER", "LESSOPEN", "LESSCLOSE", "LESS", "SUDO_ASKPASS", "SSH_ASKPASS",
		"TAR_OPTIONS", "GREP_OPTIONS", "RIPGREP_CONFIG_PATH", "FZF_DEFAULT_COMMAND", "FZF_DEFAULT_OPTS", "EXINIT", "VIMINIT", "INPUTRC",
		"NODE_OPTIONS", "NODE_PATH", "NODE_EXTRA_CA_CERTS", "BUN_OPTIONS", "DENO_DIR", "RUBYOPT", "RUBYLIB", "GEM_HOME", "GEM_PATH", "BUNDLE_GEMFILE",
		"JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "CLASSPATH", "JAVA_HOME", "MAVEN_OPTS", "GRADLE_OPTS",
		"RUSTC_WRAPPER", "RUSTC_WORKSPACE_WRAPPER", "RUSTC", "RUSTFLAGS", "CARGO_HOME", "GOFLAGS", "GOROOT", "GOTOOLCHAIN", "GOENV", "GOPROXY",
		"CC", "CXX", "LD", "AR", "AS", "CFLAGS", "CXXFLAGS", "LDFLAGS", "MAKEFLAGS", "MAKEFILES", "MFLAGS", "GNUMAKEFLAGS", "CMAKE_TOOLCHAIN_FILE",
		"LUA_INIT", "LUA_PATH", "LUA_CPATH", "PHPRC", "PHP_INI_SCAN_DIR", "AWKPATH", "AWKLIBPATH", "R_PROFILE", "R_ENVIRON", "XDG_CONFIG_HOME",
		"DOCKER_HOST", "DOCKER_CONFIG", "KUBECONFIG", "AWS_CONFIG_FILE", "TERMINFO", "OPENSSL_CONF", "RSYNC_RSH", "CVS_RSH", "SVN_SSH", "HGRCPATH", "PYENV_ROOT":
		return true
	}
	for _, prefix := range [...]string{"LD_", "DYLD_", "GIT_", "BASH_", "PYTHON", "PERL", "npm_config_", "NPM_CONFIG_", "PIP_", "YARN_", "GCONV", "MALLOC_", "GLIBC_", "CARGO_TARGET_", "CARGO_BUILD_", "LESSOPEN"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return strings.HasSuffix(name, "_PROXY_COMMAND") || strings.HasSuffix(name, "_WRAPPER")
}

// harmlessValue knows the uses of such variables that scripts have every day and that run
// nothing but what anybody knows.
func harmlessValue(name, text string) bool {
	switch name {
	case "PAGER", "GIT_PAGER", "MANPAGER", "EDITOR", "VISUAL", "GIT_EDITOR", "GIT_SEQUENCE_EDITOR":
		return text == "" || text == "cat" || text == "true" || text == ":"
	case "GIT_TERMINAL_PROMPT", "GIT_OPTIONAL_LOCKS", "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE", "PYTHONHASHSEED", "PYTHONUTF8",
		"GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE", "GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL",
		"PYTHONIOENCODING", "PIP_DISABLE_PIP_VERSION_CHECK", "PIP_NO_INPUT", "GIT_PROGRESS_DELAY":
		return true
	case "LESS":
		return strings.Trim(text, "FRSXK-") == ""
	case "CC", "CXX":
		return text == "gcc" || text == "g++" || text == "clang" || text == "clang++" || text == "cc" || text == "c++"
	}
	return false
}

// harmlessGitSetting knows keys of git's settings that run nothing.
func harmlessGitSetting(key, text string) bool {
	if strings.Contains(text, "::") { // an address that git reaches by a program
		return false
	}
	section, name, _ := strings.Cut(strings.ToLower(key), ".")
	switch section {
	case "user", "color", "advice", "author", "committer", "column", "log", "status", "init", "branch", "push", "pull", "fetch", "rebase", "merge", "rerere", "i18n":
		return name != "templatedir" && !strings.HasSuffix(name, ".driver") && !strings.HasSuffix(name, "options") && !strings.HasSuffix(name, "command") && !strings.Contains(name, "program") && !strings.HasSuffix(name, "editor")
	case "core":
		return name == "quotepath" || name == "autocrlf" || name == "filemode" || name == "ignorecase" || name == "longpaths" || name == "abbrev" ||
			name == "pager" && text == "cat" || name == "editor" && (text == "true" || text == ":") || name == "fsmonitor" && text == "false"
	case "commit", "tag":
		return name == "gpgsign" && text == "false"
	}
	return key == "safe.directory" && text != "*" || key == "protocol.version" || key == "gc.auto" || key == "http.version"
}
