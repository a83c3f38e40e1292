package args

import (
	"slices"
	"strings"
)

// What models call things that have another name here. They are the names other agents use
// and models were trained on.

// memberAliases returns the members that may be meant by a name, the likeliest first.
func memberAliases(key string) []string {
	switch Folded(key) {
	case "path", "file", "filename", "filepath", "absolutepath", "absolutefilepath", "targetfile", "fullpath":
		return []string{"filePath", "path"}
	case "directory", "dir", "folder", "dirpath", "directorypath", "relativeworkspacepath", "searchpath", "searchdirectory", "targetdirectory":
		return []string{"path", "workdir", "filePath"}
	case "oldstr", "oldtext":
		return []string{"oldString"}
	case "search":
		return []string{"oldString", "pattern"}
	case "newstr", "replace", "newtext":
		return []string{"newString"}
	case "contents", "filetext", "filecontent", "filecontents", "body", "text", "step", "task":
		return []string{"content"}
	case "input", "patch", "diff":
		return []string{"patchText"}
	case "cmd", "script", "commandline", "shellcommand", "bashcommand":
		return []string{"command"}
	case "cwd", "workingdirectory", "workingdir":
		return []string{"workdir"}
	case "timeoutms":
		return []string{"timeout"}
	case "startline", "linestart", "startlineoneindexed":
		return []string{"offset"}
	case "numlines", "maxlines", "linecount":
		return []string{"limit"}
	case "include", "includepattern", "glob", "globpattern", "filepattern", "fileglob", "includes":
		return []string{"include", "pattern"}
	case "regex", "regexp", "query", "searchquery", "searchterm", "searchpattern", "expression":
		return []string{"pattern", "query"}
	case "uri", "link", "address":
		return []string{"url"}
	case "todolist", "tasks", "plan", "todo":
		return []string{"todos"}
	case "state":
		return []string{"status"}
	case "choices":
		return []string{"options"}
	case "multiselect", "allowmultiple":
		return []string{"multiple"}
	}
	return nil
}

// ToolAliases returns the tools that may be meant by the name another agent has for them, the
// likeliest first.
func ToolAliases(name string) []string {
	switch Folded(name) {
	case "readfile", "view", "viewfile", "cat", "openfile", "readtextfile", "viewimage", "ls", "listdir", "listdirectory":
		return []string{"read"}
	case "strreplace", "editfile", "searchreplace", "replace", "replaceinfile", "searchandreplace", "multiedit", "strreplaceeditor", "strreplacebasededittool":
		return []string{"edit"}
	case "writefile", "createfile", "writetofile", "savefile":
		return []string{"write"}
	case "shell", "localshell", "runterminalcmd", "runterminalcommand", "runinterminal", "runcommand", "runshellcommand", "shellcommand",
		"exec", "execcommand", "executecommand", "executebash", "runbash", "terminal":
		return []string{"bash"}
	case "searchfiles", "grepsearch", "grepfiles", "searchfilecontent", "findinfiles", "textsearch", "ripgrep", "rg":
		return []string{"grep"}
	case "findfiles", "filesearch", "globfilesearch", "globfiles", "findbyname":
		return []string{"glob"}
	case "listfiles":
		return []string{"glob", "read"}
	case "applypatch":
		return []string{"apply_patch"}
	case "todo", "todos", "updateplan", "writetodos", "updatetodolist", "managetodolist":
		return []string{"todowrite"}
	case "webfetch", "fetch", "fetchurl", "fetchwebpage", "readurl", "openurl":
		return []string{"webfetch"}
	case "websearch", "googlewebsearch", "searchweb":
		return []string{"websearch"}
	case "askuser", "askuserquestion", "askfollowupquestion", "askquestion", "requestuserinput":
		return []string{"question"}
	case "planexit", "exitplanmode":
		return []string{"plan_exit"}
	case "agent", "dispatchagent":
		return []string{"task"}
	}
	return nil
}

// EditorAliases is toolAliases for the editors that have one tool for several things and say in
// a member which of them is meant.
func EditorAliases(name string, raw []byte) []string {
	switch Folded(name) {
	case "strreplaceeditor", "strreplacebasededittool":
		for _, m := range Members(raw) {
			switch {
			case m.Key == "command" && string(m.Val) == `"view"`:
				return []string{"read"}
			case m.Key == "command" && string(m.Val) == `"create"`:
				return []string{"write"}
			}
		}
	}
	return ToolAliases(name)
}

// Folded is a name without what people and models write differently.
func Folded(name string) string {
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
	return slices.Contains([]string{"content", "oldString", "newString", "patchText", "command"}, name)
}

// isPath reports whether a member holds the path of a file.
func isPath(name string) bool {
	return name == "path" || name == "workdir" || strings.HasSuffix(name, "Path")
}
