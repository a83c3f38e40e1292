package markdown

import "strings"

// Languages of data, markup and build files.

func langJSON() *language {
	return &language{words: words("", "", "true false null"), lines: slashes, blocks: starred, keys: true, strings: []quote{doubled, single}}
}

func langYAML() *language {
	return &language{
		words: words("", "", "true false null yes no on off"), lines: hash, spaced: true, extra: "-",
		strings: []quote{doubled, {open: "'", close: "'"}}, head: headKey(':'),
	}
}

func langTOML() *language {
	return &language{
		words: words("", "", "true false"), lines: []string{"#", ";"}, spaced: true, extra: "-",
		strings: []quote{tripled, tripled1, doubled, {open: "'", close: "'"}}, head: headKey('='),
	}
}

// headKey colours the key at the beginning of a line, with the dash of a list or the name of a section.
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

func langHTML() *language {
	return &language{
		markup: true, blocks: []block{{open: "<!--", close: "-->"}},
		strings: []quote{{open: `"`, close: `"`, long: true}, {open: "'", close: "'", long: true}},
	}
}

func langCSS() *language {
	return &language{
		words: words("important and not only from to", "", "auto inherit initial none unset"),
		lines: slashes, blocks: starred, extra: "-", colonKeys: true, dollar: true, strings: []quote{doubled, single},
	}
}

func langMarkdown() *language {
	return &language{
		head: func(line string) (int, kind) {
			t := strings.TrimLeft(line, " ")
			switch {
			case strings.HasPrefix(t, "#"):
				return len(line), heading
			case strings.HasPrefix(t, "```"), strings.HasPrefix(t, "~~~"):
				return len(line), comment
			case strings.HasPrefix(t, ">"):
				return len(line), comment
			case strings.HasPrefix(t, "- "), strings.HasPrefix(t, "* "), strings.HasPrefix(t, "+ "):
				return len(line) - len(t) + 1, keyword
			default:
				return 0, plain
			}
		},
		strings: []quote{{open: "`", close: "`"}, {open: "**", close: "**"}},
	}
}

func langDiff() *language {
	return &language{whole: func(line string) kind {
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
	}}
}

func langDocker() *language {
	return &language{
		words: words("AS", "", ""), lines: hash, spaced: true, dollar: true, extra: "-", strings: []quote{doubled, single},
		head: func(line string) (int, kind) {
			n := 0
			for n < len(line) && line[n] >= 'A' && line[n] <= 'Z' {
				n++
			}
			if n > 1 && (n == len(line) || line[n] == ' ') {
				return n, keyword
			}
			return 0, plain
		},
	}
}

func langMake() *language {
	return &language{
		words: words("ifeq ifneq ifdef ifndef else endif include define endef export unexport override", "", ""),
		lines: hash, spaced: true, dollar: true, extra: "-.", strings: []quote{doubled, single},
		head: func(line string) (int, kind) {
			i := strings.IndexAny(line, ":=#$ ")
			if i > 0 && line[i] == ':' && (i+1 == len(line) || line[i+1] != '=') {
				return i, function
			}
			return 0, plain
		},
	}
}

func langProto() *language {
	return &language{
		words: words("enum extend extensions import map message oneof option optional package public repeated required reserved returns rpc service stream syntax to",
			"bool bytes double fixed32 fixed64 float int32 int64 sfixed32 sfixed64 sint32 sint64 string uint32 uint64", "true false"),
		lines: slashes, blocks: starred, caps: true, strings: []quote{doubled, single},
	}
}

func langHCL() *language {
	return &language{
		words: words("data for if in locals module output provider resource terraform variable dynamic", "any bool list map number object set string", "true false null"),
		lines: []string{"#", "//"}, blocks: starred, strings: []quote{doubled},
	}
}
