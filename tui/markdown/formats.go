package markdown

import "strings"

// heads finds how a language reads the beginning of a line; nil for most.
func heads(name string) func(line string) (int, kind) {
	switch name {
	case "yaml":
		return headKey(':')
	case "toml":
		return headKey('=')
	case "markdown":
		return markdownHead
	case "docker":
		return dockerHead
	case "make":
		return makeHead
	}
	return nil
}

// headKey colors the key at the beginning of a line, with the dash of a list or the name of a section.
func headKey(sign byte) func(string) (int, kind) {
	return func(line string) (int, kind) {
		start := len(line) - len(strings.TrimLeft(line, " -"))
		rest := line[start:]
		if rest == "" || rest[0] == '#' || rest[0] == '"' || rest[0] == '{' {
			return 0, plain
		}
		if sign == '=' && rest[0] == '[' {
			if end := strings.LastIndexByte(rest, ']'); end > 0 {
				return start + end + 1, keyword
			}
		}
		for i := range len(rest) {
			c := rest[i]
			if c == sign && (sign == '=' || i+1 == len(rest) || rest[i+1] == ' ') {
				return start + i, typ
			}
			if c == '"' || c == '\'' || c == '#' || c == '[' {
				break
			}
		}
		return 0, plain
	}
}

// markdownHead colors the marker at the beginning of a Markdown line.
func markdownHead(line string) (int, kind) {
	t := strings.TrimLeft(line, " ")
	switch {
	case strings.HasPrefix(t, "#"):
		return len(line), heading
	case strings.HasPrefix(t, "```"), strings.HasPrefix(t, "~~~"), strings.HasPrefix(t, ">"):
		return len(line), comment
	case strings.HasPrefix(t, "- "), strings.HasPrefix(t, "* "), strings.HasPrefix(t, "+ "):
		return len(line) - len(t) + 1, keyword
	default:
		return 0, plain
	}
}

// diffLine colors a whole line of a diff. File headers come first, because they too begin with + or -.
func diffLine(line string) kind {
	switch {
	case strings.HasPrefix(line, "+++"), strings.HasPrefix(line, "---"), strings.HasPrefix(line, "diff "), strings.HasPrefix(line, "index "):
		return comment
	case strings.HasPrefix(line, "@@"):
		return function
	case strings.HasPrefix(line, "+"):
		return added
	case strings.HasPrefix(line, "-"):
		return removed
	default:
		return plain
	}
}

func dockerHead(line string) (int, kind) {
	n := 0
	for n < len(line) && line[n] >= 'A' && line[n] <= 'Z' {
		n++
	}
	if n > 1 && (n == len(line) || line[n] == ' ') {
		return n, keyword
	}
	return 0, plain
}

func makeHead(line string) (int, kind) {
	i := strings.IndexAny(line, ":=#$ ")
	if i > 0 && line[i] == ':' && (i+1 == len(line) || line[i+1] != '=') {
		return i, function
	}
	return 0, plain
}
