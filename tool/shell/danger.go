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
	if isOne("changes-what-runs", name) {
		return true
	}
	for _, prefix := range [...]string{"LD_", "DYLD_", "GIT_", "BASH_", "PYTHON", "PERL", "npm_config_", "NPM_CONFIG_", "PIP_", "YARN_", "GCONV", "MALLOC_", "GLIBC_", "CARGO_TARGET_", "CARGO_BUILD_", "LESSOPEN"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return strings.HasSuffix(name, "_PROXY_COMMAND") || strings.HasSuffix(name, "_WRAPPER")
}

// harmlessValue knows the uses of such variables that are common in scripts and run only
// well-known programs.
func harmlessValue(name, text string) bool {
	switch name {
	case "PAGER", "GIT_PAGER", "MANPAGER", "EDITOR", "VISUAL", "GIT_EDITOR", "GIT_SEQUENCE_EDITOR":
		return text == "" || text == "cat" || text == "true" || text == ":"
	case "LESS":
		return strings.Trim(text, "FRSXK-") == ""
	case "CC", "CXX":
		return text == "gcc" || text == "g++" || text == "clang" || text == "clang++" || text == "cc" || text == "c++"
	}
	return isOne("harmless-variable", name)
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
