package shell

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// value is the known value of a variable.
type value struct {
	known  bool
	text   string
	among  []string // else it is one of these, if there are any
	wild   bool     // those are patterns for names of files
	number bool     // whatever it is, it is a number
}

// scope is the state of the shell at one place in a line.
type scope struct {
	vars map[string]*value
	// lost says that any variable may have changed: those that are not in vars are unknown.
	lost bool
	// dirs is where the shell may be; nil is anywhere.
	dirs  []string
	funcs map[string]bool
	args  bool // positional parameters may be set

	shared  bool // vars and funcs are another scope's too
	version *int // differs where vars and funcs do
}

// maxDirs is how many places a shell may be in until that is anywhere.
const maxDirs = 6

func newScope(in Environment) *scope {
	sc := &scope{}
	if filepath.IsAbs(in.Dir) {
		sc.dirs = []string{filepath.Clean(in.Dir)}
	}
	return sc
}

// clone shares what it can until one of the two changes it.
func (sc *scope) clone() *scope {
	sc.shared = true
	c := *sc
	return &c
}

// own makes the variables and functions the scope's alone.
func (sc *scope) own() {
	if sc.shared || sc.vars == nil {
		vars := make(map[string]*value, len(sc.vars)+1)
		maps.Copy(vars, sc.vars)
		sc.vars, sc.funcs, sc.shared, sc.version = vars, maps.Clone(sc.funcs), false, new(int)
	}
}

// join makes the scope what it is if the others may have taken its place.
func (a *recorder) join(sc *scope, others ...*scope) {
	for _, o := range others {
		if sc.version == o.version && sc.lost == o.lost { // nothing was set
			sc.dirs, sc.args = union(sc.dirs, o.dirs), sc.args || o.args
			continue
		}
		sc.own()
		for name := range o.vars {
			sc.set(name, either(a.current(name, sc), a.current(name, o)))
		}
		for name := range sc.vars {
			if o.vars[name] == nil {
				both := either(a.current(name, sc), a.current(name, o))
				sc.vars[name] = &both
			}
		}
		sc.lost = sc.lost || o.lost
		sc.args = sc.args || o.args
		for name := range o.funcs {
			sc.define(name)
		}
		sc.dirs = union(sc.dirs, o.dirs)
	}
}

// current is the value of a variable; one that is not set is empty.
func (a *recorder) current(name string, sc *scope) value {
	v := a.lookup(name, sc)
	if sc.vars[name] == nil && !v.known && v.among == nil && !v.number && !sc.lost && a.in.Env != nil && isName(name) && !isSpecial(name) {
		return value{known: true}
	}
	return v
}

// isSpecial knows variables that the shell sets itself.
func isSpecial(name string) bool {
	return isOne("shell-variable", name) || strings.HasPrefix(name, "BASH") || strings.HasPrefix(name, "PS")
}

// either is one value or the other.
func either(x, y value) value {
	if same(x, y) {
		return x
	}
	v := value{number: (x.number || x.known && isCount(x.text)) && (y.number || y.known && isCount(y.text))}
	if x.wild || y.wild {
		return v
	}
	xs, ys := x.values(), y.values()
	if len(xs) == 0 || len(ys) == 0 || len(xs)+len(ys) > maxChoices {
		return v
	}
	v.among = append(slices.Clip(xs), ys...)
	return v
}

// values are all that a variable can be; none is anything.
func (v value) values() []string {
	if v.known {
		return []string{v.text}
	}
	return v.among
}

func same(a, b value) bool {
	return a.known == b.known && a.text == b.text && a.number == b.number && a.wild == b.wild && slices.Equal(a.among, b.among)
}

// union is nil where one of the lists is, or there are too many.
func union(a, b []string) []string {
	if a == nil || b == nil {
		return nil
	}
	if slices.Equal(a, b) {
		return a
	}
	out := slices.Clone(a)
	for _, d := range b {
		if !slices.Contains(out, d) {
			out = append(out, d)
		}
	}
	if len(out) > maxDirs {
		return nil
	}
	return out
}

// forgetAll is the effect of unknown code.
func (sc *scope) forgetAll() {
	sc.own()
	clear(sc.vars)
	sc.lost, sc.args = true, true
}

func (sc *scope) set(name string, v value) {
	if was := sc.vars[name]; was != nil && same(*was, v) {
		return
	}
	sc.own()
	sc.vars[name] = &v
}

func (sc *scope) define(name string) {
	sc.own()
	if sc.funcs == nil {
		sc.funcs = map[string]bool{}
	}
	sc.funcs[name] = true
}

// lookup returns what is known of a variable here.
func (a *recorder) lookup(name string, sc *scope) value {
	if v := sc.vars[name]; v != nil {
		return *v
	}
	switch name {
	case "PWD":
		if len(sc.dirs) == 1 {
			return value{known: true, text: sc.dirs[0]}
		}
		return value{among: sc.dirs}
	case "HOME":
		if a.in.Home != "" && !sc.lost {
			return value{known: true, text: a.in.Home}
		}
	case "#", "?", "$", "!", "RANDOM", "SECONDS", "LINENO", "UID", "EUID", "PPID", "BASHPID", "EPOCHSECONDS", "SRANDOM":
		return value{number: true}
	case "OLDPWD", "_", "REPLY", "IFS", "-", "@", "*", "0", "SHLVL":
		return value{}
	}
	if a.in.Env == nil || sc.lost || len(name) > 0 && name[0] >= '0' && name[0] <= '9' {
		return value{}
	}
	if text, ok := a.in.Env(name); ok {
		return value{known: true, text: text}
	}
	return value{}
}

// effects are what code may change in the shell that runs it.
type effects struct {
	names map[string]bool // true: only to numbers
	all   bool
	moves bool
}

// setsVariable reports whether an expansion sets its variable.
func setsVariable(n *syntax.ParamExp) bool {
	return n.Exp != nil && (n.Exp.Op == syntax.AssignUnset || n.Exp.Op == syntax.AssignUnsetOrNull) && n.Param != nil
}

// effectsOf looks at code that may run any number of times.
func effectsOf(nodes ...syntax.Node) effects {
	e := effects{names: map[string]bool{}}
	for _, n := range nodes {
		syntax.Walk(n, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.Assign:
				if n.Name != nil {
					e.add(n.Name.Value, n.Value != nil && isNumber(n.Value))
				}
			case *syntax.DeclClause, *syntax.LetClause:
				e.all = true
			case *syntax.WordIter:
				e.add(n.Name.Value, false)
			case *syntax.BinaryArithm:
				e.arithmetic(n.X)
			case *syntax.UnaryArithm:
				e.arithmetic(n.X)
			case *syntax.ParamExp:
				if setsVariable(n) {
					e.add(n.Param.Value, false)
				}
			case *syntax.CallExpr:
				e.call(n)
			case *syntax.Redirect:
				if n.N != nil && len(n.N.Value) > 0 && n.N.Value[0] == '{' {
					e.all = true
				}
			}
			return true
		})
	}
	return e
}

func (e *effects) add(name string, number bool) {
	before, seen := e.names[name]
	e.names[name] = number && (before || !seen)
}

// arithmetic sees a name that may be assigned to.
func (e *effects) arithmetic(x syntax.ArithmExpr) {
	if w, ok := x.(*syntax.Word); ok && w.Lit() != "" {
		e.add(w.Lit(), true)
	}
}

func (e *effects) call(n *syntax.CallExpr) {
	if len(n.Args) == 0 {
		return
	}
	switch name := n.Args[0].Lit(); name {
	case "echo", "true", "false", "test", "[", ":", "exit", "return", "break", "continue":
	case "cd", "pushd", "popd", "chdir":
		e.moves = true
	case "read":
		for _, w := range n.Args[1:] {
			if w.Lit() == "" {
				e.all = true
			}
			e.add(w.Lit(), false)
		}
		e.add("REPLY", false)
	default:
		if name == "" || isOne("builtin-sets", name) {
			e.all, e.moves = true, true
		}
	}
}

// forget makes unknown what code may have changed. Functions that it calls were looked at
// where they are written, and count with all they may do.
func (sc *scope) forget(e effects) {
	if e.all || len(sc.funcs) > 0 {
		sc.forgetAll()
	}
	for name, number := range e.names {
		was := sc.vars[name]
		sc.set(name, value{number: number && (was == nil || was.number || was.known && allDigits(was.text))})
	}
	if e.moves || len(sc.funcs) > 0 {
		sc.dirs = nil
	}
}

func isNumber(w *syntax.Word) bool {
	if len(w.Parts) == 1 {
		if _, ok := w.Parts[0].(*syntax.ArithmExp); ok {
			return true
		}
	}
	return w.Lit() != "" && allDigits(w.Lit())
}

func allDigits(s string) bool { return strings.Trim(s, "0123456789") == "" }
