package builtin_test

// typedCalls has values of other types than the schema wants, where one meaning is left.
func typedCalls() (out []spoiled) {
	add := func(tool, does string, inputs ...string) {
		for _, in := range inputs {
			out = append(out, spoiled{"types", tool, in, does, nil})
		}
	}
	read := func(rest string) string { return `{"filePath":"src/main.go"` + rest + `}` }
	for _, v := range []string{`"1"`, `1.0`, `"1.0"`, `null`, `""`, `"null"`, `"None"`, `"undefined"`, `1e0`, `" 1 "`} {
		add("read", doesRead, read(`,"offset":`+v))
	}
	for _, v := range []string{`"50"`, `50.0`, `null`, `""`, `"none"`, `5e1`} {
		add("read", doesRead, read(`,"limit":`+v))
	}
	add("read", doesRead, `{"filePath":"file://DIR/src/main.go"}`, `{"filePath":"./src/main.go"}`, `{"filePath":"src/../src/main.go"}`, `{"filePath":"src//main.go"}`,
		`{"filePath":"src/main.go","filePath":"src/main.go"}`, `{"filePath":"src/main.go","file_path":"src/main.go"}`, `{"filePath":"src/main.go","explanation":"to see"}`)
	for _, v := range []string{`"60000"`, `60000.0`, `null`, `""`, `"none"`, `6e4`} {
		add("bash", doesRun, `{"command":"echo ran $((40+2))","timeout":`+v+`}`)
	}
	for _, v := range []string{`null`, `""`, `"."`, `"DIR"`, `"file://DIR"`, `"src"`} {
		add("bash", doesRun, `{"command":"echo ran $((40+2))","workdir":`+v+`}`)
	}
	add("bash", doesRun, `{"command":["sh","-c","echo ran $((40+2))"]}`, `{"command":["zsh","-lc","echo ran $((40+2))"]}`)
	for _, v := range []string{`null`, `""`, `"."`, `"DIR"`, `"./"`, `"DIR/"`, `"file://DIR"`} {
		add("glob", doesGlob, `{"pattern":"**/*.go","path":`+v+`}`)
		add("grep", doesGrep, `{"pattern":"needle","path":`+v+`}`)
	}
	add("glob", doesGlob, `{"pattern":"DIR/**/*.go"}`, `{"pattern":"./src/*.go"}`, `{"pattern":"*.go"}`)
	add("grep", doesGrep, `{"pattern":"needle","include":null}`, `{"pattern":"needle","include":""}`, `{"pattern":"needle","include":"*.go, *.md"}`, `{"pattern":"needle","path":"src/main.go"}`,
		`{"pattern":"needle","include":"**/*.go"}`)
	for _, v := range []string{`"Markdown"`, `"MARKDOWN"`, `null`, `""`, `"Text"`} {
		add("webfetch", doesFetch, `{"url":"URL","format":`+v+`}`)
	}
	for _, v := range []string{`"30"`, `30`, `null`, `"30.0"`} {
		add("webfetch", doesFetch, `{"url":"URL","timeout":`+v+`}`)
	}
	for _, done := range []string{"done", "Completed", "complete", "COMPLETED", "finished"} {
		for _, now := range []string{"in-progress", "inProgress", "doing", "IN_PROGRESS"} {
			add("todowrite", doesTodo, `{"todos":[{"content":"one","status":"`+done+`","priority":"high"},{"content":"two","status":"`+now+`","priority":"low"}]}`)
		}
	}
	add("question", doesAsk, `{"questions":`+askList[1:len(askList)-1]+`}`, `{"questions":`+string(appendQuoted(askList))+`}`)
	for _, v := range []string{`"false"`, `null`, `"False"`, `""`} {
		add("question", doesAsk, `{"questions":[{"question":"Go on?","header":"Go","multiple":`+v+`,"options":[{"label":"Yes","description":"go"},{"label":"No","description":"stop"}]}]}`)
	}
	return out
}

// hopelessCalls cannot be repaired: what was meant is not there, or could be several things.
func hopelessCalls() (out []spoiled) {
	add := func(tool, input string, says ...string) {
		out = append(out, spoiled{"hopeless", tool, input, "", says})
	}
	// Each says what is wrong, and has a call that would work.
	for _, b := range []struct{ tool, member, example string }{
		{"read", "filePath", `{"filePath":"/repo/src/main.go"}`},
		{"glob", "pattern", `{"pattern":"src/**/*.go"}`},
		{"grep", "pattern", `{"pattern":"func \\w+\\("}`},
		{"bash", "command", `{"command":"go test ./..."}`},
		{"webfetch", "url", `{"url":"https://`},
		{"write", "filePath", `{"filePath":"/repo/src/main.go","content":`},
		{"todowrite", "todos", `{"todos":[{"content":`},
		{"question", "questions", `{"questions":[{"question":`},
	} {
		add(b.tool, "", b.tool, `"`+b.member+`": required, missing`, b.example)
		add(b.tool, "null", b.tool, `"`+b.member+`": required, missing`, b.example)
		add(b.tool, `{"`+b.member+`":null}`, b.tool, `"`+b.member+`"`, b.example)
		add(b.tool, `{"`+b.member+`":{"a":1}}`, b.tool, `- "`+b.member, b.example)
		add(b.tool, `[1,2]`, b.tool, `"`+b.member+`": required, missing`, b.example)
		add(b.tool, `{"x":"y"}`, b.tool, `"`+b.member+`": required, missing`, b.example)
	}
	add("read", `{"filePath":"src/main.go","offset":"first"}`, `"offset"`, `must be an integer, got "first"`, `{"filePath":`)
	add("read", `{"filePath":"src/main.go","offset":-5}`, `"offset"`, "-5", `{"filePath":`)
	add("read", `{"filePath":"src/main.go","limit":1.5}`, `"limit"`, "1.5", `{"filePath":`)
	add("read", `{"filePath":"src/main.go","offset":900}`, "Offset 900 is past the end", "3 lines", "offset from 1 to 3")
	add("read", `{"filePath":"src/mian.go"}`, "File not found", "src/main.go")
	add("read", `{"filePath":"source/main.go"}`, "File not found", "directory does not exist", "glob")
	add("read", `{"filePath":"a\u0000b"}`, "null byte")
	add("read", `{"filePath":["src/main.go","src/b.txt"]}`, `"filePath"`, "must be a string", `{"filePath":`)
	add("write", `{"filePath":"new.txt","content":{"a":1}}`, `"content"`, "must be a string", `{"filePath":`)
	add("write", `{"filePath":"new.txt","content":["a","b"]}`, `"content"`, "must be a string", `{"filePath":`)
	add("write", `{"filePath":"new.txt","content":7}`, `"content"`, "must be a string, got 7", `{"filePath":`)
	add("write", `{"filePath":"new.txt"}`, `"content": required, missing`, `{"filePath":`)
	add("write", `{"filePath":"src","content":"x"}`, "src", "directory")
	add("write", `{"filePath":"","content":"x"}`, "is a directory", "Name a file")
	add("write", `{"filePath":"src/main.go/x","content":"x"}`, "main.go")
	add("glob", `{"pattern":""}`, "pattern", "src/**/*.go")
	add("glob", `{"pattern":"[a-"}`, "pattern", "src/**/*.go")
	add("glob", `{"pattern":"*.go","path":"scr"}`, "not found", "src")
	add("glob", `{"pattern":"*.go","path":"src/main.go"}`, "must be a directory", "Call glob with path")
	add("grep", `{"pattern":""}`, "pattern is empty", "glob")
	add("grep", `{"pattern":"foo("}`, "not a regular expression", "character 4", `"pattern": "foo\\("`)
	add("grep", `{"pattern":"(?<=a)needle"}`, "look-around", `"pattern": "needle"`)
	add("grep", `{"pattern":"needle","path":"scr"}`, "not found", "src")
	add("grep", `{"pattern":"needle","include":"[a-"}`, "include", "*.{ts,tsx}")
	add("bash", `{"command":""}`, "command is empty", `{"command":"git status"}`)
	add("bash", `{"command":"ls","timeout":-1}`, "timeout is -1", `{"timeout":120000}`)
	add("bash", `{"command":"ls","timeout":"soon"}`, `"timeout"`, `must be an integer, got "soon"`, `{"command":`)
	add("bash", `{"command":"ls","workdir":"scr"}`, "not found", "src")
	add("bash", `{"command":"ls","workdir":"src/main.go"}`, "not a directory", "leave workdir out")
	add("bash", `{"command":{"cmd":"ls"}}`, `"command"`, "must be a string", `{"command":`)
	add("webfetch", `{"url":"ftp://example.com"}`, "ftp", "http")
	add("webfetch", `{"url":"URL","format":"pdf"}`, `"format"`, "pdf", "markdown", `{"url":`)
	add("webfetch", `{"url":""}`, "url", "http")
	add("todowrite", `{"todos":["one","two"]}`, `"todos[0]"`, "must be an object", `{"todos":[{"content":`)
	add("todowrite", `{"todos":[{"status":"pending"}]}`, `"todos[0].content": required, missing`, `{"todos":[{"content":`)
	add("todowrite", `{"todos":[{"content":" ","status":"pending"}]}`, "todos[0].content", "is empty")
	add("question", `{"questions":["Go on?"]}`, `"questions[0]"`, "must be an object", `{"questions":[{"question":`)
	add("question", `{"questions":[]}`, "questions", "at least one")
	add("question", `{"questions":[{"question":"Go on?","header":"Go","options":["Yes","No"]}]}`, `"questions[0].options[0]"`, "must be an object", `"label"`)
	for _, name := range []string{"rread", "reads", "gerp", "serch", "wirte", "shel", "think", "finish", "submit", "final_answer", "python", "", "a.b.c", "🛠"} {
		add(name, `{"x":1}`, "unknown tool", "nearest are")
	}
	return out
}
