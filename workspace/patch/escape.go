package patch

import "strings"

// unescape reads the escapes that models write for what they mean.
func unescape(text string) string {
	if !strings.Contains(text, `\`) {
		return text
	}
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' || i+1 == len(text) {
			out.WriteByte(text[i])
			continue
		}
		i++
		switch text[i] {
		case 'n':
			out.WriteByte('\n')
		case 't':
			out.WriteByte('\t')
		case 'r':
			out.WriteByte('\r')
		case '\'', '"', '`', '\\', '$', '\n':
			out.WriteByte(text[i])
		default:
			out.WriteByte('\\')
			out.WriteByte(text[i])
		}
	}
	return out.String()
}

// unescaped finds what the quoted text means when its escapes are read.
func (s *search) unescaped() []hit {
	quoted := plain(unescape(s.old))
	if quoted == s.old || blank(quoted) {
		return nil
	}
	var out []hit
	for _, sp := range s.occurrences(quoted) {
		h := hit{span: sp, whole: sp, inline: true, put: s.new}
		h.first = s.src.lineAt(sp.start) - 1
		h.n = strings.Count(quoted, "\n") + 1
		out = append(out, h)
		if !s.work.spend(sp.end / 16) {
			return nil
		}
	}
	return out
}

// escapedFile finds lines that mean what the quoted text means when the escapes of both are read.
func (s *search) escapedFile() []hit {
	if !strings.Contains(s.src.text, `\`) || !s.work.spend(4*len(s.src.text)) {
		return nil
	}
	quoted := strings.TrimSuffix(plain(unescape(s.old)), "\n")
	keys := make([]string, len(s.src.lines))
	for i, line := range s.src.lines {
		if keys[i] = line; strings.Contains(line, `\`) { // one at its end escapes the line break
			keys[i] = strings.TrimSuffix(unescape(line+"\n"), "\n")
		}
	}
	return s.windows(keys, strings.Split(quoted, "\n"))
}
