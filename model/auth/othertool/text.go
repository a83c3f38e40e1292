package othertool

import "strings"

// yamlEntry is a value in a YAML file, with the names that lead to it.
type yamlEntry struct {
	path  []string
	value string
}

// maxDepth is how deep a file may nest.
const maxDepth = 16

// readYAML reads the values of a YAML file line by line: names, plain and quoted texts, and lists of
// them. That is what the files here are made of; it needs no stack and no memory that hostile input
// could fill.
func readYAML(src []byte) (out []yamlEntry) {
	type level struct {
		indent int
		name   string
	}
	var stack []level
	for line := range strings.Lines(string(src)) {
		text := strings.TrimLeft(strings.TrimRight(line, "\r\n"), " ")
		indent := len(strings.TrimRight(line, "\r\n")) - len(text)
		if text == "" || text[0] == '#' || text == "---" {
			continue
		}
		item, isItem := strings.CutPrefix(text, "- ")
		for len(stack) > 0 && (stack[len(stack)-1].indent > indent || stack[len(stack)-1].indent == indent && !isItem) {
			stack = stack[:len(stack)-1]
		}
		path := make([]string, 0, len(stack)+1)
		for _, l := range stack {
			path = append(path, l.name)
		}
		if isItem {
			out = append(out, yamlEntry{path, scalar(item)})
			continue
		}
		name, value, ok := strings.Cut(text, ":")
		if !ok || len(stack) == maxDepth {
			continue
		}
		name = scalar(name)
		stack = append(stack, level{indent, name})
		path = append(path, name)
		value = strings.TrimSpace(value)
		if list, inline := strings.CutPrefix(value, "["); inline {
			for one := range strings.SplitSeq(strings.TrimSuffix(list, "]"), ",") {
				out = append(out, yamlEntry{path, scalar(one)})
			}
			continue
		}
		out = append(out, yamlEntry{path, scalar(value)})
	}
	return out
}

// scalar is a text without its quotes or the comment behind it.
func scalar(s string) string {
	s = strings.TrimSpace(s)
	if len(s) > 1 && (s[0] == '"' || s[0] == '\'') {
		if end := strings.IndexByte(s[1:], s[0]); end >= 0 {
			return s[1 : end+1]
		}
	}
	if i := strings.Index(s, " #"); i >= 0 {
		s = strings.TrimSpace(s[:i])
	}
	return s
}

// readEnv reads a file of NAME=value lines. It expands nothing.
func readEnv(src []byte) map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(string(src)) {
		line = strings.TrimPrefix(strings.TrimSpace(line), "export ")
		if name, value, ok := strings.Cut(line, "="); ok && !strings.HasPrefix(line, "#") {
			out[strings.TrimSpace(name)] = scalar(value)
		}
	}
	return out
}
