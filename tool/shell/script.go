package shell

import "strings"

// sed finds the commands of its scripts that run or write something.
func (a *analyser) sed(args []Word, sc *scope) {
	inPlace, given := false, false
	var scripts, files []Word
	for i := 0; i < len(args); i++ {
		t := args[i].Text
		switch {
		case !args[i].Known && args[i].bare && len(scripts) == 0:
			a.unknown(UnknownCommand, t, "what sed does: "+args[i].Why)
			return
		case t == "-e" || t == "--expression" || t == "-ne" || t == "-Ee" || t == "-nEe" || t == "-re":
			if i++; i < len(args) {
				scripts, given = append(scripts, args[i]), true
			}
		case strings.HasPrefix(t, "--expression="):
			scripts, given = append(scripts, Word{Text: t[len("--expression="):], Known: args[i].Known, Why: args[i].Why}), true
		case t == "-f" || t == "--file" || strings.HasPrefix(t, "--file="):
			a.unknown(UnknownCommand, t, "the script of sed is in a file")
			given = true
			i++
		case strings.HasPrefix(t, "--in-place") || len(t) > 1 && t[0] == '-' && t[1] != '-' && strings.ContainsRune(t, 'i'):
			inPlace = true
		case len(t) > 2 && t[0] == '-' && t[1] != '-' && strings.ContainsAny(t, "ef"):
			a.unknown(UnknownCommand, t, "the script of sed is joined to an option")
			given = true
		case strings.HasPrefix(t, "-"):
		case !given && len(scripts) == 0:
			scripts = append(scripts, args[i])
		default:
			files = append(files, args[i])
		}
	}
	for _, s := range scripts {
		if !s.Known {
			a.unknown(UnknownCommand, s.Text, "what sed does: "+s.Why)
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
func (a *analyser) sedScript(s string, sc *scope) {
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case strings.IndexByte(" \t\n;{}!,$0123456789+~", c) >= 0:
			i++
		case c == '/' || c == '\\' && i+1 < len(s):
			if c == '\\' {
				i++
			}
			end := delimited(s, i+1, s[i])
			if end < 0 {
				a.unknown(UnknownCommand, s, "what sed does is not understood")
				return
			}
			for end < len(s) && (s[end] == 'I' || s[end] == 'M') {
				end++
			}
			i = end
		case c == 's' || c == 'y':
			if i = a.sedReplace(s, i, sc); i < 0 {
				return
			}
		case c == 'w' || c == 'W':
			i = a.sedFile(s, i, sc)
		case c == 'e':
			a.unknown(UnknownCommand, s, "sed runs a command")
			return
		case c == 'a' || c == 'i' || c == 'c' || c == ':' || c == 'b' || c == 't' || c == 'T' || c == 'r' || c == 'R' || c == '#':
			end := strings.IndexByte(s[i:], '\n')
			if semi := strings.IndexByte(s[i:], ';'); (c == 'b' || c == 't' || c == 'T') && semi >= 0 && (end < 0 || semi < end) {
				end = semi
			}
			if end < 0 {
				return
			}
			i += end
		case strings.IndexByte("=dDgGhHlnNpPqQxzF", c) >= 0:
			i++
		default:
			a.unknown(UnknownCommand, s, "what sed does is not understood")
			return
		}
	}
}

// sedReplace reads s or y with its flags, and returns where it ends; -1 is nowhere.
func (a *analyser) sedReplace(s string, i int, sc *scope) int {
	if i+1 >= len(s) {
		return -1
	}
	end := delimited(s, delimited(s, i+2, s[i+1]), s[i+1])
	if end < 0 {
		a.unknown(UnknownCommand, s, "what sed does is not understood")
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
func (a *analyser) sedFile(s string, i int, sc *scope) int {
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
func (a *analyser) awk(args []Word) {
	for i := 0; i < len(args); i++ {
		w := args[i]
		switch t := w.Text; {
		case t == "-v" || t == "-F" || t == "--assign" || t == "--field-separator":
			i++
		case strings.HasPrefix(t, "-f") || strings.HasPrefix(t, "--file") || t == "-i" || t == "-E" || strings.HasPrefix(t, "--include") || strings.HasPrefix(t, "-l"):
			a.unknown(UnknownCommand, t, "the program of awk is in a file")
			return
		case t == "-e" || t == "--source":
		case strings.HasPrefix(t, "-") && len(t) > 1:
		case !w.Known:
			a.unknown(UnknownCommand, t, "what awk does: "+w.Why)
			return
		default:
			if why := awkDoes(t); why != "" {
				a.unknown(UnknownCommand, t, why)
			}
			return
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
