package claudecode

import (
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// blockedPrefixes begin the names of variables that no config may give to commands, with the reason.
var blockedPrefixes = []struct{ prefix, why string }{
	{"LD_", "it makes the loader run other code"},
	{"DYLD_", "it makes the loader run other code"},
	{"GIT_", "it makes git run other programs or use another repository"},
	{"LATHE_", "it configures lathe itself"},
	{"OPENCODE_", "it configures lathe itself"},
	{"BASH_FUNC_", "it replaces commands of the shell"},
	{"NPM_CONFIG_", "it makes npm run other programs"},
}

// blockedNames are such variables with a whole name.
var blockedNames = []struct {
	why   string
	names []string
}{
	{"it decides which programs run", []string{
		"PATH", "SHELL", "PATHEXT", "COMSPEC", "HOME", "USERPROFILE", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "TMPDIR", "SSH_ASKPASS",
		"EDITOR", "VISUAL", "PAGER", "MANPAGER", "LESSOPEN", "LESSCLOSE", "BROWSER", "SUDO_ASKPASS",
	}},
	{"the shell runs it or reads commands by it", []string{"BASH_ENV", "ENV", "IFS", "SHELLOPTS", "BASHOPTS", "PS4", "PROMPT_COMMAND", "CDPATH", "GLOBIGNORE", "ZDOTDIR"}},
	{"it makes an interpreter run other code", []string{"NODE_OPTIONS", "NODE_PATH", "PYTHONPATH", "PYTHONSTARTUP", "PYTHONHOME", "PYTHONINSPECT", "PERL5LIB", "PERL5OPT", "PERL5DB", "PERLLIB", "RUBYLIB", "RUBYOPT", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "LUA_INIT", "PHPRC", "PHP_INI_SCAN_DIR"}},
	{"it makes a compiler or a build run other programs", []string{"GOFLAGS", "GOENV", "RUSTC_WRAPPER", "RUSTC_WORKSPACE_WRAPPER", "CC", "CXX", "MAKEFLAGS", "GCONV_PATH", "LOCPATH", "NLSPATH", "HOSTALIASES", "MALLOC_CHECK_", "RES_OPTIONS", "LOCALDOMAIN"}},
	{"it decides who can read connections", []string{"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "NODE_TLS_REJECT_UNAUTHORIZED", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "CURL_HOME", "WGETRC", "SSH_AUTH_SOCK"}},
	{"lathe sets it for commands and hooks", []string{"CLAUDE_PROJECT_DIR", "AGENT", "OPENCODE"}},
	{"it makes programs send requests to another server", []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "FTP_PROXY"}},
	{"it makes programs read their settings from another place", []string{"DOCKER_HOST", "DOCKER_CONFIG", "KUBECONFIG", "AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"}},
}

// BlockedVariable says why a config may not set a variable for commands and hooks; "" means that it may.
// Programs on some systems ignore the case of names, so it does not count.
func BlockedVariable(name string) string {
	if name == "" || strings.ContainsAny(name, "=\x00\n") {
		return "it is not a name of a variable"
	}
	upper := strings.ToUpper(name)
	for _, b := range blockedPrefixes {
		if strings.HasPrefix(upper, b.prefix) {
			return b.why
		}
	}
	for _, b := range blockedNames {
		if slices.Contains(b.names, upper) {
			return b.why
		}
	}
	return ""
}

// joinPath joins with the slashes of the system.
func joinPath(base, rest string) string {
	return filepath.FromSlash(path.Join(filepath.ToSlash(base), rest))
}
