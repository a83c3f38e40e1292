package tool

import "strings"

// What models call things that have another name here. They are the names other agents use
// and models were trained on.

// memberAliases returns the members that may be meant by a name, the likeliest first.
func memberAliases(key string) []string {
	switch folded(key) {
	case "path", "file", "filename", "absolutepath":
		return []string{"filePath", "path"}
	case "filepath":
		return []string{"filePath", "path"}
	case "oldstr", "search", "oldtext":
		return []string{"oldString"}
	case "newstr", "replace", "newtext":
		return []string{"newString"}
	case "input", "patch", "diff":
		return []string{"patchText"}
	case "cmd", "script":
		return []string{"command"}
	case "cwd":
		return []string{"workdir"}
	case "timeoutms":
		return []string{"timeout"}
	case "includepattern", "glob":
		return []string{"include"}
	case "regex", "query":
		return []string{"pattern"}
	}
	return nil
}

// toolAliases returns the tools that may be meant by the name another agent has for them.
func toolAliases(name string) []string {
	switch folded(name) {
	case "readfile", "view", "cat", "openfile":
		return []string{"read"}
	case "strreplace", "strreplaceeditor", "editfile", "searchreplace":
		return []string{"edit"}
	case "writefile", "createfile":
		return []string{"write"}
	case "shell", "runterminalcmd", "runcommand", "execcommand", "executecommand", "terminal":
		return []string{"bash"}
	case "searchfiles", "grepsearch", "ripgrep", "rg":
		return []string{"grep"}
	case "findfiles", "listfiles":
		return []string{"glob"}
	case "applypatch":
		return []string{"apply_patch"}
	case "todo", "updateplan", "todos":
		return []string{"todowrite"}
	case "agent", "dispatchagent":
		return []string{"task"}
	}
	return nil
}

// folded is a name without what people and models write differently.
func folded(name string) string {
	return strings.Map(func(r rune) rune {
		switch r {
		case '_', '-', ' ', '.':
			return -1
		}
		return r
	}, strings.ToLower(name))
}

// verbatim reports whether a member holds text that is used to the letter, so that nothing
// but a text may be taken for it.
func verbatim(name string) bool {
	switch name {
	case "content", "oldString", "newString", "patchText", "command":
		return true
	}
	return false
}

// isPath reports whether a member holds the path of a file.
func isPath(name string) bool {
	return name == "path" || name == "workdir" || strings.HasSuffix(name, "Path")
}
