package builtin_test

import "strings"

// The pieces calls are made of.
const (
	mainFile = "src/main.go"
	echo42   = "echo ran $((40+2))"
	hello    = "hello\n"
	todoList = `[{"content":"one","status":"completed","priority":"high"},{"content":"two","status":"in_progress","priority":"low"}]`
	askList  = `[{"question":"Go on?","header":"Go","options":[{"label":"Yes","description":"go"},{"label":"No","description":"stop"}]}]`
)

// familyCalls are whole calls as models send them that were trained with another agent's tools.
func familyCalls() []spoiled {
	return []spoiled{
		{"claude", "Read", `{"file_path":"DIR/src/main.go"}`, doesRead, nil},
		{"claude", "Read", `{"file_path":"DIR/src/main.go","offset":1,"limit":2000}`, doesRead, nil},
		{"claude", "LS", `{"path":"DIR/src"}`, doesList, nil},
		{"claude", "LS", `{"path":"DIR/src","ignore":["*.md"]}`, doesList, nil},
		{"claude", "Write", `{"file_path":"DIR/new.txt","content":"hello\n"}`, doesWrite, nil},
		{"claude", "Bash", `{"command":"echo ran $((40+2))","description":"Prints","timeout":60000}`, doesRun, nil},
		{"claude", "Bash", `{"command":"echo ran $((40+2))","run_in_background":false}`, doesRun, nil},
		{"claude", "Glob", `{"pattern":"**/*.go","path":"DIR"}`, doesGlob, nil},
		{"claude", "Grep", `{"pattern":"needle","path":"DIR","glob":"*.go","output_mode":"content","-n":true}`, doesGrep, nil},
		{"claude", "Grep", `{"pattern":"needle","output_mode":"content","-i":true,"head_limit":20}`, doesGrep, nil},
		{"claude", "TodoWrite", `{"todos":[{"content":"one","status":"completed","activeForm":"Doing one"},{"content":"two","status":"in_progress","activeForm":"Doing two"}]}`, doesTodo, nil},
		{"claude", "TodoWrite", `{"todos":[{"id":"1","content":"one","status":"completed","priority":"high"},{"id":"2","content":"two","status":"in_progress","priority":"low"}]}`, doesTodo, nil},
		{"claude", "WebFetch", `{"url":"URL","prompt":"What does it say?"}`, doesFetch, nil},
		{"claude", "AskUserQuestion", `{"questions":[{"question":"Go on?","header":"Go","multiSelect":false,"options":[{"label":"Yes","description":"go"},{"label":"No","description":"stop"}]}]}`, doesAsk, nil},
		{"claude", "str_replace_editor", `{"command":"view","path":"DIR/src/main.go"}`, doesRead, nil},
		{"claude", "str_replace_editor", `{"command":"view","path":"DIR/src/main.go","view_range":[1,3]}`, doesRead, nil},
		{"claude", "str_replace_editor", `{"command":"create","path":"DIR/new.txt","file_text":"hello\n"}`, doesWrite, nil},
		{"claude", "str_replace_based_edit_tool", `{"command":"view","path":"DIR/src"}`, doesList, nil},
		{"claude", "str_replace_based_edit_tool", `{"command":"create","path":"DIR/new.txt","file_text":"hello\n"}`, doesWrite, nil},
		{"claude", "str_replace_editor", `{"command":"insert","path":"DIR/src/main.go","insert_line":1,"new_str":"x"}`, "", []string{"str_replace_editor", "edit", `"oldString"`}},
		{"claude", "MultiEdit", `{"file_path":"DIR/src/main.go","edits":[{"old_string":"a","new_string":"b"}]}`, "", []string{"MultiEdit", "edit", `"oldString"`}},
		{"claude", "NotebookEdit", `{"notebook_path":"a.ipynb","new_source":"x"}`, "", []string{"NotebookEdit", "edit"}},
		{"gpt", "shell", `{"command":["bash","-lc","echo ran $((40+2))"],"workdir":"DIR","timeout_ms":60000}`, doesRun, nil},
		{"gpt", "functions.shell", `{"command":["/bin/sh","-c","echo ran $((40+2))"]}`, doesRun, nil},
		{"gpt", "container.exec", `{"cmd":["bash","-lc","echo ran $((40+2))"],"workdir":"DIR"}`, doesRun, nil},
		{"gpt", "exec_command", `{"cmd":"echo ran $((40+2))","yield_time_ms":1000}`, doesRun, nil},
		{"gpt", "local_shell", `{"command":"echo ran $((40+2))","timeout_ms":"5000"}`, doesRun, nil},
		{"gpt", "shell_command", `{"command":"echo ran $((40+2))","workdir":"DIR","login":true}`, doesRun, nil},
		{"gpt", "shell", `{"command":["ls","-la"]}`, "", []string{"shell", "bash", `{"command":`}},
		{"gpt", "bash", `{"command":["ls","-la"]}`, "", []string{`"command"`, "must be a string", `{"command":`}},
		{"gpt", "update_plan", `{"plan":[{"step":"one","status":"completed"},{"step":"two","status":"in_progress"}]}`, doesTodo, nil},
		{"gpt", "update_plan", `{"explanation":"why","plan":[{"step":"one","status":"completed"},{"step":"two","status":"in_progress"}]}`, doesTodo, nil},
		{"gpt", "read_file", `{"path":"src/main.go"}`, doesRead, nil},
		{"gpt", "read_file", `{"file_path":"DIR/src/main.go","offset":1,"limit":100,"mode":"slice"}`, doesRead, nil},
		{"gpt", "list_dir", `{"dir_path":"DIR/src","depth":1}`, doesList, nil},
		{"gpt", "grep_files", `{"pattern":"needle","include":"*.go","path":"DIR","limit":100}`, doesGrep, nil},
		{"gpt", "repo_browser.open_file", `{"path":"src/main.go","line_start":1,"line_end":20}`, doesRead, nil},
		{"gpt", "read<|channel|>commentary", `{"filePath":"src/main.go"}`, doesRead, nil},
		{"gpt", "functions.bash", `{"command":"echo ran $((40+2))"}`, doesRun, nil},
		{"gpt", "web_search", `{"query":"go"}`, "", []string{"web_search", "nearest"}},
		{"gpt", "request_user_input", `{"questions":[{"id":"a","question":"Go on?","header":"Go","options":[{"label":"Yes","description":"go"},{"label":"No","description":"stop"}]}]}`, doesAsk, nil},
		{"gemini", "read_file", `{"absolute_path":"DIR/src/main.go"}`, doesRead, nil},
		{"gemini", "default_api.read_file", `{"file_path":"DIR/src/main.go","limit":100.0}`, doesRead, nil},
		{"gemini", "write_file", `{"file_path":"DIR/new.txt","content":"hello\n"}`, doesWrite, nil},
		{"gemini", "run_shell_command", `{"command":"echo ran $((40+2))","description":"Prints"}`, doesRun, nil},
		{"gemini", "run_shell_command", `{"command":"echo ran $((40+2))","directory":"src"}`, doesRun, nil},
		{"gemini", "search_file_content", `{"pattern":"needle","include":"*.go"}`, doesGrep, nil},
		{"gemini", "search_file_content", `{"pattern":"needle","dir_path":"DIR/src"}`, doesGrep, nil},
		{"gemini", "list_directory", `{"path":"DIR/src"}`, doesList, nil},
		{"gemini", "list_directory", `{"dir_path":"DIR/src"}`, doesList, nil},
		{"gemini", "glob", `{"pattern":"**/*.go","case_sensitive":false,"respect_git_ignore":true}`, doesGlob, nil},
		{"gemini", "default_api.glob", `{"pattern":"**/*.go","dir_path":"DIR"}`, doesGlob, nil},
		{"gemini", "write_todos", `{"todos":[{"description":"one","status":"completed"}]}`, "", []string{"write_todos", "todowrite", `"content"`}},
		{"gemini", "read_many_files", `{"paths":["src/main.go"]}`, "", []string{"read_many_files", "read"}},
		{"gemini", "web_fetch", `{"url":"URL"}`, doesFetch, nil},
		{"gemini", "web_fetch", `{"prompt":"Fetch URL"}`, "", []string{"web_fetch", "webfetch", `{"url":`}},
		{"gemini", "ask_user", `{"questions":` + askList + `}`, doesAsk, nil},
		{"kimi", "functions.read:0", `{"filePath":"src/main.go"}`, doesRead, nil},
		{"kimi", "functions.bash:12", `{"command":"echo ran $((40+2))"}`, doesRun, nil},
		{"kimi", "grep:3", `{"pattern":"needle"}`, doesGrep, nil},
		{"glm", "read", `{"filePath":"src/main.go","offset":"1","limit":"50"}`, doesRead, nil},
		{"glm", "todowrite", `{"todos":"[{\"content\":\"one\",\"status\":\"completed\",\"priority\":\"high\"},{\"content\":\"two\",\"status\":\"in_progress\",\"priority\":\"low\"}]"}`, doesTodo, nil},
		{"glm", "bash", `{"command":"echo ran $((40+2))","timeout":"60000"}`, doesRun, nil},
		{"qwen", "read_file", `{"path":"src/main.go","offset":null,"limit":null}`, doesRead, nil},
		{"qwen", "execute_command", `{"command":"echo ran $((40+2))","requires_approval":"false"}`, doesRun, nil},
		{"qwen", "write_to_file", `{"path":"new.txt","content":"hello\n"}`, doesWrite, nil},
		{"qwen", "search_files", `{"path":"src","regex":"needle","file_pattern":"*.go"}`, doesGrep, nil},
		{"qwen", "list_files", `{"path":"src","recursive":"false"}`, doesList, nil},
		{"qwen", "replace_in_file", `{"path":"src/main.go","diff":"x"}`, "", []string{"replace_in_file", "edit", `"oldString"`}},
		{"qwen", "ask_followup_question", `{"question":"Go on?","follow_up":[]}`, "", []string{"ask_followup_question", "question", `"options"`}},
		{"qwen", "attempt_completion", `{"result":"done"}`, "", []string{"attempt_completion", "unknown tool", "nearest"}},
		{"deepseek", "read_file", `{"target_file":"src/main.go","should_read_entire_file":true}`, doesRead, nil},
		{"deepseek", "read_file", `{"target_file":"src/main.go","start_line_one_indexed":1,"end_line_one_indexed_inclusive":50}`, doesRead, nil},
		{"deepseek", "run_terminal_cmd", `{"command":"echo ran $((40+2))","is_background":false,"explanation":"x"}`, doesRun, nil},
		{"deepseek", "grep_search", `{"query":"needle","include_pattern":"*.go","case_sensitive":true}`, doesGrep, nil},
		{"deepseek", "list_dir", `{"relative_workspace_path":"src"}`, doesList, nil},
		{"deepseek", "file_search", `{"query":"**/*.go","explanation":"x"}`, doesGlob, nil},
		{"deepseek", "codebase_search", `{"query":"where is main?"}`, "", []string{"codebase_search", "nearest"}},
		{"deepseek", "edit_file", `{"target_file":"src/main.go","instructions":"x","code_edit":"// ... existing code ..."}`, "", []string{"edit_file", "edit", `"oldString"`}},
		{"grok", "execute_bash", `{"command":"echo ran $((40+2))","is_input":"false"}`, doesRun, nil},
		{"grok", "view_file", `{"path":"src/main.go"}`, doesRead, nil},
		{"grok", "create_file", `{"path":"new.txt","content":"hello\n"}`, doesWrite, nil},
		{"grok", "bash", `{"command":"echo ran $((40+2))","restart":false}`, doesRun, nil},
		{"mistral", "fetch", `{"uri":"URL"}`, doesFetch, nil},
		{"mistral", "find_files", `{"glob":"**/*.go"}`, doesGlob, nil},
		{"mistral", "terminal", `{"script":"echo ran $((40+2))"}`, doesRun, nil},
	}
}

// renamedCalls has each tool under names in other letters, and its members under other names.
func renamedCalls() (out []spoiled) {
	around := func(name string) []string {
		return []string{strings.ToUpper(name), strings.ToUpper(name[:1]) + name[1:], " " + name + "\n", "functions." + name, "default_api." + name, "tools." + name}
	}
	for _, b := range []spoiled{
		{"names", "read", object("filePath", mainFile), doesRead, nil},
		{"names", "write", object("filePath", "new.txt", "content", hello), doesWrite, nil},
		{"names", "glob", object("pattern", "**/*.go"), doesGlob, nil},
		{"names", "grep", object("pattern", "needle"), doesGrep, nil},
		{"names", "bash", object("command", echo42), doesRun, nil},
		{"names", "todowrite", `{"todos":` + todoList + `}`, doesTodo, nil},
		{"names", "question", `{"questions":` + askList + `}`, doesAsk, nil},
		{"names", "webfetch", `{"url":"URL"}`, doesFetch, nil},
	} {
		for _, name := range around(b.tool) {
			out = append(out, spoiled{b.family, name, b.input, b.does, nil})
		}
	}
	add := func(tool, does string, values []any, members ...string) {
		for _, m := range members {
			out = append(out, spoiled{"members", tool, object(append([]any{m}, values...)...), does, nil})
		}
	}
	paths := []string{"file_path", "path", "filename", "absolute_path", "file", "FilePath", "filepath", "target_file", "full_path", "file-path"}
	add("read", doesRead, []any{mainFile}, paths...)
	add("write", doesWrite, []any{"new.txt", "content", hello}, paths...)
	add("write", doesWrite, []any{hello, "filePath", "new.txt"}, "contents", "file_text", "text", "body", "Content", "file_content")
	add("bash", doesRun, []any{echo42}, "cmd", "script", "Command", "command_line", "bash_command", "shell_command")
	add("bash", doesRun, []any{"src", "command", echo42 + "; test -e main.go"}, "cwd", "workingDirectory", "working_dir", "directory", "dir", "Workdir")
	add("grep", doesGrep, []any{"needle"}, "regex", "query", "search", "regexp", "search_term", "Pattern", "searchQuery", "search_pattern")
	add("grep", doesGrep, []any{"*.go", "pattern", "needle"}, "include_pattern", "glob", "file_pattern", "Include", "includes", "file_glob")
	add("grep", doesGrep, []any{"src", "pattern", "needle"}, "directory", "dir", "folder", "file_path", "Path", "search_path", "filePath")
	add("glob", doesGlob, []any{"**/*.go"}, "glob", "query", "glob_pattern", "Pattern", "file_pattern", "include")
	add("glob", doesGlob, []any{"src", "pattern", "*.go"}, "directory", "dir", "folder", "target_directory", "filePath")
	add("webfetch", doesFetch, []any{"URL"}, "uri", "link", "address", "Url")
	return out
}

// brokenCalls has JSON that is almost right, for tools with one member and with several.
func brokenCalls() (out []spoiled) {
	for _, b := range []spoiled{
		{"syntax", "read", object("filePath", mainFile), doesRead, nil},
		{"syntax", "write", object("filePath", "new.txt", "content", hello), doesWrite, nil},
		{"syntax", "grep", object("pattern", "needle", "include", "*.go"), doesGrep, nil},
		{"syntax", "bash", object("timeout", 60000, "command", echo42), doesRun, nil},
		{"syntax", "todowrite", `{"todos":` + todoList + `}`, doesTodo, nil},
	} {
		open := strings.TrimSuffix(b.input, "}")
		for _, input := range []string{
			open + ",}", open + " , }", open, "```json\n" + b.input + "\n```", "```\n" + b.input + "\n```", "\ufeff" + b.input, "\n\n " + b.input + " \n",
			strings.ReplaceAll(b.input, `"`, `'`), unquotedKeys(b.input), strings.ReplaceAll(b.input, `\n`, "\n"), string(appendQuoted(b.input)),
		} {
			out = append(out, spoiled{b.family, b.tool, input, b.does, nil})
		}
		cut := b.input[:strings.LastIndex(b.input, `:`)+3] // in the middle of the last value
		out = append(out,
			spoiled{b.family, b.tool, cut, "", []string{b.tool, "cut off", "Send the whole call again"}},
			spoiled{b.family, b.tool, "I will do it now.", "", []string{b.tool, "not JSON", "one JSON object", `{"`}},
			spoiled{b.family, b.tool, b.tool + "(" + b.input + ")", "", []string{b.tool, "not JSON", `{"`}},
			spoiled{b.family, b.tool, b.input + b.input, "", []string{b.tool, "not JSON", `{"`}},
			spoiled{b.family, b.tool, "<tool_call>" + b.input + "</tool_call>", "", []string{b.tool, "not JSON", `{"`}},
		)
	}
	return out
}

// unquotedKeys writes the members of an object as a script would.
func unquotedKeys(input string) string {
	for _, key := range []string{"filePath", "content", "pattern", "include", "command", "timeout", "todos", "status", "priority"} {
		input = strings.ReplaceAll(input, `"`+key+`":`, key+": ")
	}
	return input
}

// appendQuoted is JSON in a JSON text.
func appendQuoted(input string) []byte {
	return []byte(strings.TrimSuffix(strings.TrimPrefix(object("x", input), `{"x":`), "}"))
}
