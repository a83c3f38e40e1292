// Package shell analyzes a command line without running it.
//
// It finds the commands of a line, in all spellings and wrappings, the files each one writes
// and names, and the variables it sets that change what runs. It also lists the parts that the
// text does not reveal, with the reason. It does not decide: rules belong to the engine, and
// package tool turns a [Plan] into permission requests.
//
// Rules see a plan as follows:
//
//   - A command has one spelling, [Command.Text]: words without needless quotes, joined by
//     single spaces, without assignments before it, without the directories of the system
//     before its name and without wrappers that only start it (env, command, timeout, sh -c).
//     Rules that allow it are asked about this spelling, and about how it is written
//     ([Command.Written]); rules that deny it are asked about all others too ([Command.Also]).
//   - What a rule must see besides is a [Plan.Extra] of its own: a file that is written, a
//     variable such as PATH that is set, an option that is not known to be harmless,
//     "<unknown command>". A rule for "git status*" says
//     nothing about those, so they are asked. A rule for everything, "*", allows them: its
//     author allowed everything.
//   - An unknown argument is text like "$f". [Command.Maybe] is the spelling with "*" for it:
//     where a rule that denies or asks could meet that, the command is asked, even if all the
//     rest is allowed.
//   - A line that cannot be read, or is too large to be, is asked whole; no rule allows it.
//
// All is pure and safe for many goroutines. Start at [Analyze], then flow.go.
package shell

import (
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Environment describes where a line runs.
type Environment struct {
	Dir  string // the working directory, absolute
	Home string // "" if there is none
	// Env looks up a variable of the environment; nil knows none.
	Env func(name string) (string, bool)
}

// Plan is the effect of a line.
type Plan struct {
	// Unparsed says why the line is not understood at all; the rest is empty then.
	Unparsed string
	Commands []Command
	// Extra lists what rules must see besides the commands, in the order of discovery.
	Extra []Extra
	// Paths are the files and directories that are named, absolute ones and those relative
	// to a directory the line is known to be in.
	Paths []Path
	// Unknown lists what the text does not reveal.
	Unknown []Unknown
	// Functions and Aliases are those the line defines.
	Functions, Aliases []string
	// ChangesDir says that the line changes its directory.
	ChangesDir bool
	// Repositories are the directories in which git runs.
	Repositories []string
	// DashGlobs are words with wildcards that would be options if files were called so.
	DashGlobs []DashGlob
	// FollowedDirs are directories that are gone through with all links followed.
	FollowedDirs []Path
}

// Understood reports whether the plan is all the line does, save for what the programs that
// it names do themselves.
func (p *Plan) Understood() bool { return p.Unparsed == "" && len(p.Unknown) == 0 }

// Command is one program or builtin that is run with its arguments.
type Command struct {
	Words []Word
	Text  string   // the one spelling
	Also  []string // other spellings, that of the wrappers among them
	Maybe string   // Text with * for what is unknown; "" where all is known
	// Written are Text with the assignments and wrappers before it, and the command as it is
	// written: rules that allow may be held against those too.
	Written []string
	// RequiredPrefix is the beginning of Text that a rule must spell out to allow it, since
	// what follows may be any program: "pnpm exec". A rule for "pnpm *" does not. "" means
	// none.
	RequiredPrefix string
	// Doubts are the options that are not known to be harmless, and what else is not.
	Doubts []string
	// Opaque says what runs code that is not in the line: a script, a make file. "" is nothing.
	Opaque string

	level int // of code within code
}

// DashGlob is a word with wildcards.
type DashGlob struct {
	Key     string // the command, "git add"
	Dir     string // where the names are looked for
	Pattern string // as for [path/filepath.Match], of a whole path
	Text    string // as it is written
}

// Word is one argument as the program gets it.
type Word struct {
	Text  string // the value; where it is unknown, as it is written
	Known bool
	Glob  bool // has wildcards, which the shell replaces by names of files

	bare bool   // an unquoted unknown: any number of words
	mask string // Text with * for what is unknown
	more *more  // nil for the most part: words are many, and those with more are few
}

// more describes a word that is unknown or has wildcards.
type more struct {
	why   string   // it is unknown
	among []string // every value it can have, where those are few
	wild  bool     // those are patterns for names of files
	glob  string   // of a word with wildcards: quoted ones are escaped
}

// unknownWord is one that the line does not tell, as it is written.
func unknownWord(text, mask, why string) Word {
	return Word{Text: text, mask: mask, more: &more{why: why}}
}

// piece is a part of a word, known if the word is.
func (w Word) piece(text string) Word {
	return Word{Text: text, Known: w.Known, more: &more{why: w.why()}}
}

func (w Word) extra() more {
	if w.more == nil {
		return more{}
	}
	return *w.more
}

func (w Word) why() string {
	if w.more == nil {
		return ""
	}
	return w.more.why
}

func (w Word) among() []string {
	if w.more == nil {
		return nil
	}
	return w.more.among
}

// Kind is the subject of an [Extra].
type Kind string

// The kinds.
const (
	Writes    Kind = "writes"    // a file is written
	Sets      Kind = "sets"      // a variable or setting that changes what runs
	IsUnknown Kind = "unknown"   // a command, file or directory that the text does not tell
	Reads     Kind = "redirects" // a file is read by its own redirection
	Options   Kind = "options"   // an option, or another part of a command, that is not known to be harmless
)

// Extra is an effect that rules check besides the commands.
type Extra struct {
	Kind Kind
	Text string
}

// Path is a file or directory that is named.
type Path struct {
	Name  string // absolute
	Write bool
	// Removed says that it is taken from its place, with all below it.
	Removed bool
	Glob    bool // Name is a pattern as for [path/filepath.Glob]
	// Certain says that the word is a path. Otherwise it only looks like one, and counts if
	// there is such a file.
	Certain bool
	// Reads says that what is in the file is read, and likely shown.
	Reads bool
	// IfExists says that it counts only where it is there itself: it is likely a text.
	IfExists bool
}

// Unknown is an effect that only running the line would show.
type Unknown struct {
	Text string // as it is written
	Why  string
}

// The limits of a line. A line beyond them is asked whole.
const (
	maxBytes    = 64 << 10
	maxNodes    = 6000
	maxDepth    = 40       // of code within code, and of statements within statements
	maxWords    = 512      // that one word may expand to
	maxValue    = 32 << 10 // bytes of a variable that is followed
	maxChoices  = 64       // values that a word may be one of
	maxParens   = 400
	maxComments = 20 // that end in a back-slash
)

// The texts for unknown effects, which rules may name.
const (
	UnknownCommand   = "<unknown command>"
	UnknownFile      = "<unknown file>"
	UnknownDirectory = "<unknown directory>"
	UnknownSetting   = "<unknown assignment>"
)

// Analyze reads a line, which may be a whole script.
func Analyze(src string, in Environment) Plan {
	file, read, why := parse(src)
	if file == nil {
		return Plan{Unparsed: why}
	}
	a := &analyzer{reader{recorder{in: in, src: read}}}
	a.plan.Commands = make([]Command, 0, min(64, 1+strings.Count(src, ";")+strings.Count(src, "|")+strings.Count(src, "&&")+strings.Count(src, "\n")))
	sc := newScope(in)
	a.stmts(file.Stmts, sc)
	switch {
	case a.over != "":
		return Plan{Unparsed: a.over}
	case a.strayed && a.plan.ChangesDir:
		a.unknown(UnknownDirectory, "git", "in which directory it runs is not known")
	case a.strayed:
		a.addRepository(filepath.Clean(in.Dir))
	}
	return a.plan
}

// parse reads the grammar, within the limits, and returns the source as it was read. Where it
// fails the reason is given.
func parse(src string) (file *syntax.File, read, why string) {
	switch {
	case len(src) > maxBytes:
		return nil, "", "it is too long to be read"
	case strings.Count(src, "(")+strings.Count(src, "{")+strings.Count(src, "`") > maxParens:
		return nil, "", "it is nested too deeply to be read"
	case strings.ContainsAny(src, "\x00\r"): // grammars differ about a carriage return
		return nil, "", "it has a NUL or a carriage return"
	}
	comments := strings.Contains(src, "#") && strings.Contains(src, "\\\n")
	for range maxComments {
		file, err := syntax.NewParser(syntax.Variant(syntax.LangBash), syntax.KeepComments(comments)).Parse(strings.NewReader(src), "")
		if err != nil {
			return nil, "", "its grammar is not understood: " + err.Error()
		}
		at := -1
		if comments {
			at = continued(file)
		}
		if at < 0 {
			return file, src, ""
		}
		src = src[:at] + " " + src[at+1:]
	}
	return nil, "", "its comments are not understood"
}

// continued finds a comment that the parser continues after a back-slash at the end of
// its line. For a shell it ends there, and what follows runs. The place is the back-slash's.
func continued(file *syntax.File) int {
	at := -1
	syntax.Walk(file, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.Comment); ok && at < 0 {
			if i := strings.IndexByte(c.Text, '\n'); i > 0 {
				at = int(c.Hash.Offset()) + i
			}
		}
		return at < 0
	})
	return at
}

// analyzer is the work on one line.
type analyzer struct{ reader }

// programs reads the commands that run others: wrappers, shells, find, git, make and their like.
type programs struct{ *analyzer }

// reader reads what runs nothing further: words, settings, and commands of which only paths count.
type reader struct{ recorder }

// recorder writes down what a line does, in the plan.
type recorder struct {
	in    Environment
	plan  Plan
	src   string // of the code that is being read; code within it has its own
	nodes int
	depth int
	over  string // a limit that was passed

	removes bool     // the argument in work is removed or moved
	reads   bool     // its content is read
	level   int      // of code within code
	strayed bool     // git runs in a directory that is not known
	via     []string // wrappers that stand before the command in work, as they are written
	far     bool     // it runs on another machine: its paths are not ours
	free    []Word   // spare capacity for words
}

// spend counts work; false is the end of it.
func (a *recorder) spend(n int) bool {
	a.nodes += n
	if a.nodes > maxNodes && a.over == "" {
		a.over = "it is too large to be read"
	}
	return a.over == ""
}

// enter goes one level deeper; false says that it is deep enough.
func (a *recorder) enter() bool {
	a.depth++
	if a.depth > maxDepth && a.over == "" {
		a.over = "it is nested too deeply to be read"
	}
	return a.over == ""
}

func (a *recorder) leave() { a.depth-- }

// text is code as it is written.
func (a *recorder) text(n syntax.Node) string {
	return a.between(int(n.Pos().Offset()), int(n.End().Offset()))
}

func (a *recorder) between(from, to int) string {
	if from > to || to > len(a.src) {
		return ""
	}
	return a.src[from:to]
}

func (a *recorder) extra(kind Kind, text string) {
	if e := (Extra{kind, text}); !slices.Contains(a.plan.Extra, e) {
		a.plan.Extra = append(a.plan.Extra, e)
	}
}

// note remembers what is unknown without a word to rules: they see it in the command.
func (a *recorder) note(text, why string) {
	if u := (Unknown{text, why}); !slices.Contains(a.plan.Unknown, u) {
		a.plan.Unknown = append(a.plan.Unknown, u)
	}
}

// unknown remembers what is unknown, and that rules must be asked about it.
func (a *recorder) unknown(marker, text, why string) {
	a.note(text, why)
	a.extra(IsUnknown, marker)
}

// code reads code that stands in a word, such as that of eval.
func (a *analyzer) code(src string, sc *scope) {
	if !a.enter() {
		return
	}
	defer a.leave()
	file, read, why := parse(src)
	if file == nil {
		a.unknown(UnknownCommand, src, why)
		return
	}
	outer := a.src
	a.src = read
	a.level++
	a.stmts(file.Stmts, sc)
	a.level--
	a.src = outer
}
