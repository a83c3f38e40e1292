package shell

import "strings"

// sed finds the commands of its scripts that run or write something.
func (a programs) sed(v *invocation, sc *scope) {
	r, _ := a.listed("sed", v.words[1:], v, sc)
	inPlace, given := false, false
	var scripts []Word
	for _, o := range r.options {
		switch o.name {
		case "-e", "--expression":
			scripts, given = append(scripts, o.value), true
		case "-f", "--file":
			a.unknown(UnknownCommand, "sed -f", "the script of sed is in a file")
			given = true
		case "-i", "--in-place":
			inPlace = true
		}
	}
	files := r.operands
	if !given && len(files) > 0 {
		scripts, files = files[:1], files[1:]
	}
	for _, s := range scripts {
		if !s.Known {
			a.unknown(UnknownCommand, s.Text, "unknown sed script: "+s.why())
		} else {
			a.sedScript(s.Text, sc)
		}
	}
	for _, f := range files {
		if inPlace {
			a.writes(f, sc)
		}
	}
}

// sedScript reads a script as far as it is common; what is not is unknown.
func (a *reader) sedScript(s string, sc *scope) {
	for i := 0; i >= 0 && i < len(s); {
		i = a.sedCommand(s, i, sc)
	}
}

// sedCommand reads what begins at i, and returns where the next begins; -1 says that nothing more is read.
func (a *reader) sedCommand(s string, i int, sc *scope) int {
	switch c := s[i]; {
	case strings.IndexByte(" \t\n;{}!,$0123456789+~", c) >= 0, strings.IndexByte("=dDgGhHlnNpPqQxzF", c) >= 0:
		return i + 1
	case c == '/' || c == '\\' && i+1 < len(s):
		return a.sedAddress(s, i)
	case c == 's' || c == 'y':
		return a.sedReplace(s, i, sc)
	case c == 'w' || c == 'W':
		return a.sedFile(s, i, sc)
	case c == 'e':
		a.unknown(UnknownCommand, s, "sed runs a command")
		return -1
	case c == ':' || c == 'b' || c == 't' || c == 'T': // versions differ in where a label ends
		for i++; i < len(s) && (s[i] == ' ' || s[i] == '\t'); i++ {
		}
		for i < len(s) && strings.IndexByte(" \t\n;}", s[i]) < 0 {
			i++
		}
		return i
	case c == 'a' || c == 'i' || c == 'c' || c == 'r' || c == 'R' || c == '#':
		end := strings.IndexByte(s[i:], '\n')
		if end < 0 {
			return -1
		}
		return i + end
	default:
		a.unknown(UnknownCommand, s, "sed script not understood")
		return -1
	}
}

// sedAddress reads a regular expression between its marks.
func (a *reader) sedAddress(s string, i int) int {
	if s[i] == '\\' {
		i++
	}
	end := delimited(s, i+1, s[i])
	if end < 0 {
		a.unknown(UnknownCommand, s, "sed script not understood")
		return -1
	}
	for end < len(s) && (s[end] == 'I' || s[end] == 'M') {
		end++
	}
	return end
}

// sedReplace reads s or y with its flags, and returns where it ends; -1 is nowhere.
func (a *reader) sedReplace(s string, i int, sc *scope) int {
	if i+1 >= len(s) {
		return -1
	}
	end := delimited(s, delimited(s, i+2, s[i+1]), s[i+1])
	if end < 0 {
		a.unknown(UnknownCommand, s, "sed script not understood")
		return -1
	}
	from := end
	for end < len(s) && strings.IndexByte(";\n}", s[end]) < 0 && s[end] != 'w' {
		end++
	}
	if strings.ContainsRune(s[from:end], 'e') && s[i] == 's' {
		a.unknown(UnknownCommand, s, "sed runs what it made of its input")
	}
	if end < len(s) && s[end] == 'w' {
		return a.sedFile(s, end, sc)
	}
	return end
}

// sedFile is a file that sed writes; it goes to the end of the line.
func (a *reader) sedFile(s string, i int, sc *scope) int {
	line, _, _ := strings.Cut(s[i+1:], "\n")
	a.writes(Word{Text: strings.TrimSpace(line), Known: true}, sc)
	return i + 1 + len(line)
}

// delimited is where a part that a character ends is over. In brackets versions of sed differ:
// then it is not known, -1.
func delimited(s string, i int, end byte) int {
	if i < 0 {
		return -1
	}
	bracket := false
	for ; i < len(s); i++ {
		switch {
		case s[i] == '\\':
			i++
		case s[i] == end && bracket:
			return -1
		case s[i] == end:
			return i + 1
		case s[i] == '[':
			bracket = true
		case s[i] == ']':
			bracket = false
		}
	}
	return len(s)
}

// awk finds programs that start others or write files.
func (a programs) awk(v *invocation, sc *scope) {
	r, _ := a.listed("awk", v.words[1:], v, sc)
	var programs []Word
	for _, o := range r.options {
		switch {
		case o.class == 'g':
			programs = append(programs, o.value)
		case o.class == dangerous && o.name != "--trace":
			a.unknown(UnknownCommand, "awk "+o.name, "the program of awk is in a file, or not understood")
			return
		}
	}
	if len(programs) == 0 && len(r.operands) > 0 {
		programs = r.operands[:1]
	}
	for _, w := range programs {
		if !w.Known {
			a.unknown(UnknownCommand, w.Text, "unknown awk script: "+w.why())
		} else if why := awkDoes(w.Text); why != "" {
			a.unknown(UnknownCommand, w.Text, why)
		}
	}
}

// awkDoes looks for words that start or write, be they in a text: where texts begin and end
// is not certain without a whole grammar.
func awkDoes(t string) string {
	switch {
	case strings.Contains(t, "system"), strings.Contains(t, "getline"), strings.Contains(t, "@"):
		return "awk may run a command"
	case strings.Contains(strings.ReplaceAll(t, "||", ""), "|"):
		return "awk may write to a command"
	}
	if _, rest, ok := strings.Cut(t, "print"); ok && strings.Contains(rest, ">") {
		return "awk may write a file"
	}
	return ""
}
