package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

func (a *analyzer) stmts(list []*syntax.Stmt, sc *scope) {
	for _, s := range list {
		if a.over != "" {
			return
		}
		a.stmt(s, sc)
	}
}

// stmt reads one statement with all that is in it, and leaves the scope as the statement
// would leave the shell.
func (a *analyzer) stmt(s *syntax.Stmt, sc *scope) {
	if s == nil || !a.spend(1) || !a.enter() {
		return
	}
	defer a.leave()
	if s.Background || s.Coprocess {
		sc = sc.clone()
	}
	if c, ok := s.Cmd.(*syntax.CallExpr); ok {
		a.call(s, c, sc)
		return
	}
	a.redirects(s.Redirs, sc)
	switch c := s.Cmd.(type) {
	case *syntax.Block:
		a.stmts(c.Stmts, sc)
	case *syntax.Subshell:
		a.stmts(c.Stmts, sc.clone())
	case *syntax.BinaryCmd:
		a.binary(c, sc)
	case *syntax.IfClause:
		a.branch(c, sc)
	case *syntax.WhileClause:
		e := effectsOf(c)
		sc.forget(e)
		a.stmts(c.Cond, sc)
		a.stmts(c.Do, sc)
		sc.forget(e)
	case *syntax.ForClause:
		a.loop(c, sc)
	case *syntax.CaseClause:
		a.cases(c, sc)
	case *syntax.FuncDecl:
		a.function(c, sc)
	case *syntax.ArithmCmd:
		a.arithmetic(c.X, sc)
	case *syntax.LetClause:
		for _, x := range c.Exprs {
			a.arithmetic(x, sc)
		}
	case *syntax.TestClause:
		a.test(c.X, sc)
	case *syntax.DeclClause:
		a.declare(s, c, sc)
	case *syntax.TimeClause: // rules may speak of it as of a program
		via := a.via
		a.via = append(slices.Clip(a.via), "time")
		a.stmt(c.Stmt, sc)
		a.via = via
	case *syntax.CoprocClause:
		a.stmt(c.Stmt, sc.clone())
		sc.forgetAll()
	case nil:
	default:
		a.unknown(UnknownCommand, a.text(s), "it is not understood")
	}
}

// binary is a list or a pipe. After "cd x &&" the directory has changed for certain.
func (a *analyzer) binary(c *syntax.BinaryCmd, sc *scope) {
	before, left := sc.dirs, sc
	if c.Op != syntax.AndStmt && c.Op != syntax.OrStmt { // each side of a pipe is its own shell, but for the last in some shells
		left = sc.clone()
	}
	a.stmt(c.X, left)
	right := sc.clone()
	if c.Op == syntax.AndStmt && isMove(c.X) && !c.X.Negated {
		right.dirs = withoutOld(before, sc.dirs)
	}
	a.stmt(c.Y, right)
	a.join(sc, right)
}

// isMove reports whether a statement ends with a change of directory.
func isMove(s *syntax.Stmt) bool {
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		return len(c.Args) > 0 && c.Args[0].Lit() == "cd"
	case *syntax.BinaryCmd:
		return c.Op == syntax.AndStmt && isMove(c.Y) && !c.Y.Negated
	}
	return false
}

// withoutOld takes the places out that the shell was in before, as long as one is left.
func withoutOld(old, now []string) []string {
	out := slices.DeleteFunc(slices.Clone(now), func(d string) bool { return slices.Contains(old, d) })
	if len(out) == 0 {
		return now
	}
	return out
}

func (a *analyzer) branch(c *syntax.IfClause, sc *scope) {
	a.stmts(c.Cond, sc)
	then := sc.clone()
	a.stmts(c.Then, then)
	if c.Else != nil && a.enter() {
		a.branch(c.Else, sc)
		a.leave()
	}
	a.join(sc, then)
}

func (a *analyzer) cases(c *syntax.CaseClause, sc *scope) {
	a.word(c.Word, sc)
	var ends []*scope
	for _, item := range c.Items {
		for _, p := range item.Patterns {
			a.word(p, sc)
		}
		end := sc.clone()
		for _, e := range ends { // ;& falls through
			a.join(end, e)
		}
		a.stmts(item.Stmts, end)
		ends = append(ends, end)
	}
	a.join(sc, ends...)
}

func (a *analyzer) loop(c *syntax.ForClause, sc *scope) {
	e := effectsOf(c)
	switch l := c.Loop.(type) {
	case *syntax.WordIter:
		items := a.words(l.Items, sc)
		sc.forget(e)
		a.noteAssignment(l.Name.Value, unknownWord("", "", "it is the variable of a loop"))
		sc.set(l.Name.Value, among(items, l, c.Select))
		a.stmts(c.Do, sc)
		sc.forget(e)
	case *syntax.CStyleLoop:
		a.arithmetic(l.Init, sc)
		sc.forget(e)
		if name := initialized(l.Init); name != "" && e.names[name] {
			sc.set(name, value{number: true})
		}
		a.arithmetic(l.Cond, sc)
		a.stmts(c.Do, sc)
		a.arithmetic(l.Post, sc)
		sc.forget(e)
	}
}

// initialized is the variable that a loop counts with.
func initialized(x syntax.ArithmExpr) string {
	if b, ok := x.(*syntax.BinaryArithm); ok && b.Op == syntax.Assgn {
		if w, ok := b.X.(*syntax.Word); ok {
			return w.Lit()
		}
	}
	return ""
}

// among lists the possible values of a loop variable.
func among(items []Word, l *syntax.WordIter, sel bool) value {
	if sel || !l.InPos.IsValid() || len(items) > 64 {
		return value{}
	}
	var v value
	for _, w := range items {
		if !w.Known {
			return value{}
		}
		v.wild = v.wild || w.Glob
	}
	for _, w := range items {
		switch {
		case v.wild && !w.Glob:
			v.among = append(v.among, escape(w.Text))
		case v.wild:
			v.among = append(v.among, w.extra().glob)
		default:
			v.among = append(v.among, w.Text)
		}
	}
	return v
}

// function reads a body as for any caller.
func (a *analyzer) function(c *syntax.FuncDecl, sc *scope) {
	if c.Name == nil {
		a.unknown(UnknownCommand, a.text(c), "the function has no single name")
		return
	}
	a.plan.Functions = append(a.plan.Functions, c.Name.Value)
	sc.define(c.Name.Value)
	inner := sc.clone()
	inner.forgetAll()
	if effectsOf(c.Body).moves {
		inner.dirs = nil
	}
	a.stmt(c.Body, inner)
}

// test looks into [[ … ]]. Some of its operators calculate.
func (a *analyzer) test(x syntax.TestExpr, sc *scope) {
	if !a.spend(1) || !a.enter() {
		return
	}
	defer a.leave()
	switch x := x.(type) {
	case *syntax.BinaryTest:
		switch x.Op {
		case syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr:
			for _, side := range []syntax.TestExpr{x.X, x.Y} {
				if w, ok := side.(*syntax.Word); ok {
					a.readCompared(w, sc)
				}
			}
			return
		}
		a.test(x.X, sc)
		a.test(x.Y, sc)
	case *syntax.UnaryTest:
		if w, ok := x.X.(*syntax.Word); ok && x.Op == syntax.TsVarSet {
			if v := a.word(w, sc); !v.Known || !isName(v.Text) {
				a.unknown(UnknownCommand, v.Text, "the name of a variable is taken from elsewhere; it can hold code")
			}
			return
		}
		a.test(x.X, sc)
	case *syntax.ParenTest:
		a.test(x.X, sc)
	case *syntax.Word:
		a.word(x, sc)
	}
}

// readCompared reads one side of a comparison of numbers, which the shell calculates.
func (a *analyzer) readCompared(w *syntax.Word, sc *scope) {
	if len(w.Parts) == 1 {
		if q, ok := w.Parts[0].(*syntax.DblQuoted); ok && len(q.Parts) == 1 {
			w = &syntax.Word{Parts: q.Parts}
		}
	}
	a.operand(w, sc)
}

// redirects reads where streams come from and go to.
func (a *analyzer) redirects(list []*syntax.Redirect, sc *scope) (texts []string) {
	for _, r := range list {
		if t := a.redirect(r, sc); t != "" {
			texts = append(texts, t)
		}
	}
	return texts
}

// redirect returns how a redirection reads in the spelling of its command; "" is one that
// leads to no file.
func (a *analyzer) redirect(r *syntax.Redirect, sc *scope) string {
	if r.N != nil && strings.HasPrefix(r.N.Value, "{") {
		a.noteAssignment(strings.Trim(r.N.Value, "{}"), Word{Known: true})
		sc.set(strings.Trim(r.N.Value, "{}"), value{number: true})
	}
	switch r.Op {
	case syntax.Hdoc, syntax.DashHdoc:
		if r.Hdoc != nil {
			a.word(r.Hdoc, sc)
		}
		return ""
	case syntax.WordHdoc:
		a.word(r.Word, sc)
		return ""
	}
	w := a.word(r.Word, sc)
	if r.Op == syntax.DplIn || r.Op == syntax.DplOut {
		if w.Known && strings.Trim(w.Text, "0123456789-") == "" {
			return ""
		}
	}
	op, write := ">", true
	switch r.Op {
	case syntax.RdrIn, syntax.DplIn:
		op, write = "<", false
	case syntax.AppOut, syntax.AppAll:
		op = ">>"
	}
	if w.Known && !w.Glob && isDevice(w.Text) {
		return ""
	}
	text := op + " " + spell(w)
	if isPipe(r.Word) {
		return text
	}
	switch {
	case !w.Known && w.among() == nil || w.Glob:
		a.unknown(UnknownFile, text, "which file it is is not known: "+because(w))
	case write:
		a.extra(Writes, text)
	}
	a.reads = !write
	a.path(w, sc, write, true)
	a.reads = false
	return text
}

func because(w Word) string {
	if w.why() == "" {
		return "it has wildcards"
	}
	return w.why()
}

// isPipe reports whether a word is a process substitution and nothing else.
func isPipe(w *syntax.Word) bool {
	if len(w.Parts) != 1 {
		return false
	}
	_, ok := w.Parts[0].(*syntax.ProcSubst)
	return ok
}

// isDevice reports whether a path is a device and not a user's file.
func isDevice(path string) bool {
	switch path {
	case "/dev/null", "/dev/zero", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/random", "/dev/urandom":
		return true
	}
	rest, ok := strings.CutPrefix(path, "/dev/fd/")
	return ok && rest != "" && allDigits(rest)
}
