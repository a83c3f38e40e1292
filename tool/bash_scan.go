package tool

import (
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// scanned is what a command line would do, as far as its text tells.
type scanned struct {
	patterns []string // the simple commands, as they are written
	always   []string // what allowing them for good would allow
	paths    []string // files and directories that are named, relative ones too
}

// scanCommand finds the commands and paths in a command line, which may be a whole script. One
// that cannot be parsed is a single pattern; so is one in which there is nothing to judge, for
// what is not understood is asked.
func scanCommand(command, home string) scanned {
	whole := scanned{patterns: []string{command}}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(command), "")
	if err != nil {
		return whole
	}
	s := shellScan{src: command, home: home}
	syntax.Walk(file, func(n syntax.Node) bool {
		if stmt, ok := n.(*syntax.Stmt); ok {
			s.statement(stmt)
		}
		return true
	})
	if len(s.patterns) == 0 && !s.moved {
		whole.paths = s.paths
		return whole
	}
	return s.scanned
}

type shellScan struct {
	scanned
	src, home string
	moved     bool // a change of directory was seen
}

func (s *shellScan) text(n syntax.Node) string { return s.src[n.Pos().Offset():n.End().Offset()] }

// statement judges one simple command. Those inside of others are statements of their own.
func (s *shellScan) statement(stmt *syntax.Stmt) {
	for _, r := range stmt.Redirs {
		s.redirection(r)
	}
	var words []*syntax.Word
	switch cmd := stmt.Cmd.(type) {
	case *syntax.CallExpr:
		words = cmd.Args
	case *syntax.DeclClause: // export and its like
		s.add(s.source(stmt), cmd.Variant.Value+" *")
		return
	}
	if len(words) == 0 { // a loop, an assignment, nothing: its redirections are all it does itself
		for _, r := range stmt.Redirs {
			s.add(s.src[r.Pos().Offset():r.Word.End().Offset()], "")
		}
		return
	}
	name := s.text(words[0])
	if handlesPaths(name) {
		for _, w := range words[1:] {
			if text := s.text(w); strings.HasPrefix(text, "-") || name == "chmod" && strings.HasPrefix(text, "+") {
				continue
			}
			s.path(w)
		}
	}
	if changesDirectory(name) {
		s.moved = true
		for _, r := range stmt.Redirs {
			s.add(s.src[r.Pos().Offset():r.Word.End().Offset()], "")
		}
		return
	}
	always := ""
	if words[0].Lit() != "" { // what a variable stands for is not allowed for good
		var texts []string
		for _, w := range words[:min(len(words), 3)] {
			texts = append(texts, s.text(w))
		}
		always = strings.Join(arityPrefix(texts), " ") + " *"
	}
	s.add(s.source(stmt), always)
}

func (s *shellScan) add(pattern, always string) {
	if !slices.Contains(s.patterns, pattern) {
		s.patterns = append(s.patterns, pattern)
	}
	if always != "" && !slices.Contains(s.always, always) {
		s.always = append(s.always, always)
	}
}

// source is a command as it is written, with its redirections and the texts given to it, and
// without what stands around it.
func (s *shellScan) source(stmt *syntax.Stmt) string {
	from, to := stmt.Cmd.Pos().Offset(), stmt.Cmd.End().Offset()
	var heredocs strings.Builder
	for _, r := range stmt.Redirs {
		from, to = min(from, r.Pos().Offset()), max(to, r.Word.End().Offset())
		if r.Hdoc != nil {
			heredocs.WriteString("\n" + s.text(r.Hdoc))
		}
	}
	return s.src[from:to] + heredocs.String()
}

func (s *shellScan) redirection(r *syntax.Redirect) {
	switch r.Op {
	case syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
		return
	case syntax.DplIn, syntax.DplOut:
		if strings.Trim(s.text(r.Word), "0123456789-") == "" { // another stream
			return
		}
	}
	s.path(r.Word)
}

// path remembers what a word names, if the word alone tells.
func (s *shellScan) path(w *syntax.Word) {
	value, ok := plainWord(w)
	if !ok || value == "" || isDevice(value) {
		return
	}
	if rest, ok := strings.CutPrefix(value, "~"); ok && s.home != "" && (rest == "" || rest[0] == '/') && s.text(w)[0] == '~' {
		value = filepath.Join(s.home, rest)
	}
	if !slices.Contains(s.paths, value) {
		s.paths = append(s.paths, value)
	}
}

// plainWord is a word without its quotes, up to the first character that stands for several
// names. ok is false where something is put in that only the shell knows.
func plainWord(w *syntax.Word) (value string, ok bool) {
	var out strings.Builder
	for _, part := range w.Parts {
		switch part := part.(type) {
		case *syntax.Lit:
			if cut := unescape(&out, part.Value, true); cut {
				return out.String(), true
			}
		case *syntax.SglQuoted:
			if part.Dollar && strings.Contains(part.Value, `\`) {
				return "", false
			}
			out.WriteString(part.Value)
		case *syntax.DblQuoted:
			for _, inner := range part.Parts {
				lit, isLit := inner.(*syntax.Lit)
				if !isLit {
					return "", false
				}
				unescape(&out, lit.Value, false)
			}
		default:
			return "", false
		}
	}
	return out.String(), true
}

// unescape takes out back-slashes, and stops at a wildcard where those count.
func unescape(out *strings.Builder, s string, wild bool) (cut bool) {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && i+1 < len(s) && (wild || strings.IndexByte("$`\"\\\n", s[i+1]) >= 0):
			if i++; s[i] != '\n' {
				out.WriteByte(s[i])
			}
		case wild && (c == '*' || c == '?' || c == '['):
			return true
		default:
			out.WriteByte(c)
		}
	}
	return false
}

func changesDirectory(name string) bool {
	switch name {
	case "cd", "chdir", "pushd", "popd":
		return true
	}
	return false
}

func handlesPaths(name string) bool {
	switch name {
	case "rm", "cp", "mv", "mkdir", "touch", "chmod", "chown", "cat":
		return true
	}
	return changesDirectory(name)
}

// isDevice reports whether a path leads to no file of anybody's.
func isDevice(path string) bool {
	switch path {
	case "/dev/null", "/dev/zero", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/random", "/dev/urandom":
		return true
	}
	return strings.HasPrefix(path, "/dev/fd/")
}
