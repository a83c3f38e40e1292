package shell

import (
	"slices"
	"strings"
)

// listed judges a command by the table of options, if that has the program. key names the row,
// words are those after the name.
func (a programs) listed(key string, words []Word, v *invocation, sc *scope) (r optionReading, ok bool) {
	row, ok := optionRows()[key]
	if !ok {
		return r, false
	}
	v.listed = true
	defer func() { v.read = r }()
	r = readOptions(row, words, strings.HasPrefix(key, "git "))
	a.checkOptions(key, r.options, v, sc)
	if len(r.unsure) > 0 && hasDanger(row) {
		a.unsure(key, r.unsure, v, sc)
	}
	return r, true
}

// hasDanger reports whether a row has an option that is more than harmless.
func hasDanger(row string) bool {
	for {
		at := strings.IndexByte(row, '!')
		if at < 0 {
			return false
		}
		if row = row[at+1:]; row[0] != producesIt && row[0] != 'f' && row[0] != 'g' {
			return true
		}
	}
}

// doubt is something in a command that is not known to be harmless. Rules are asked about it
// beside the command, so that one for "git *" does not allow it.
func (a *recorder) doubt(v *invocation, what, why string) {
	text := what
	if strings.Trim(text, safeValue+" <>") != "" {
		name, _, _ := strings.Cut(what, " ")
		if text = name + " <unknown>"; strings.Trim(name, safeValue) != "" {
			text = "<unknown>"
		}
	}
	a.note(what, why)
	a.extra(Options, "<option> "+text)
	v.doubts = append(v.doubts, what)
}

// unsure are words of which the line does not tell whether they are options.
func (a *recorder) unsure(key string, words []Word, v *invocation, sc *scope) {
	for _, w := range words {
		about := w.extra()
		globs := []string{about.glob}
		if about.wild {
			globs = about.among
		}
		if !w.Known && !about.wild || sc.dirs == nil { // of wildcards the files tell
			a.doubt(v, key+" <unknown>", w.Text+" could be an option: "+because(w))
			continue
		}
		for _, dir := range sc.dirs {
			for _, glob := range globs {
				a.plan.DashGlobs = append(a.plan.DashGlobs, DashGlob{Key: key, Dir: dir, Pattern: glob, Text: w.Text})
			}
		}
	}
}

// commandFile looks at a file of commands that an option names.
func (a *recorder) commandFile(named string, w Word, v *invocation, sc *scope) {
	if !w.Known || w.Text == "-" || strings.HasPrefix(w.Text, "/dev/") || strings.HasPrefix(w.Text, "/proc/") {
		a.doubt(v, named, "the file has commands that the line does not tell")
		return
	}
	a.path(w, sc, false, true)
}

func (a programs) checkOptions(key string, options []option, v *invocation, sc *scope) {
	for _, o := range options {
		if o.class != harmless {
			a.checkOption(key, o, v, sc)
		}
	}
}

// checkOption looks at an option that is more than harmless.
func (a programs) checkOption(key string, o option, v *invocation, sc *scope) {
	named := key + " " + o.name
	if !o.has {
		o.value = unknownWord(named, "", "nothing follows")
	}
	switch o.class {
	case runsIt:
		a.runsValue(key, o, v, sc)
	case writesIt:
		a.writes(o.value, sc)
		v.doubts = append(v.doubts, named)
	case producesIt:
		a.path(o.value, sc, true, true)
	case 'f':
		a.commandFile(named, o.value, v, sc)
	case 'a':
		if t := o.value.Text; !o.value.Known || strings.Contains(strings.SplitN(t, "/", 2)[0], ":") {
			a.doubt(v, named, "an archive on another machine is reached by a program")
		}
	case 's':
		a.gitSetting(o.value)
	case 'm':
		if !slices.Contains([]string{"ours", "ort", "recursive", "resolve", "octopus", "subtree"}, o.value.Text) {
			a.doubt(v, named, "git runs a program of this name")
		}
	case 'o':
		name, _, _ := strings.Cut(strings.ReplaceAll(strings.ToLower(strings.TrimSpace(o.value.Text)), " ", "="), "=")
		if !isOne("ssh-setting", name) {
			a.doubt(v, named+" "+o.value.Text, "a setting of ssh can run commands")
		}
	case 'l':
		if !o.value.Known || !harmlessLinker(o.value.Text) {
			a.doubt(v, named, "flags for the linker can run programs")
		}
	case 'u':
		if !o.value.Known || strings.Contains(o.value.Text, "output{") {
			a.doubt(v, named, "this text can write files")
		}
	case 'g': // awk reads it
	case unlisted:
		if key == "go test" { // it is for the tests themselves
			return
		}
		a.doubt(v, named, "unknown option")
	default:
		a.doubt(v, named, "this option can run programs, write files or change what runs")
	}
}

// runsValue is an option whose value is run.
func (a programs) runsValue(key string, o option, v *invocation, sc *scope) {
	if key == "tar" {
		if o.name == "--checkpoint-action" && o.value.Known && harmlessAction(o.value.Text) {
			return
		}
		o.value.Text = strings.TrimPrefix(o.value.Text, "exec=")
	}
	if o.has && o.value.Text != "" {
		a.snippet(key, []Word{o.value}, sc)
	}
	if key != "git rebase" || !o.has { // it runs the value and nothing else
		a.doubt(v, key+" "+o.name, "this option runs a program")
	}
}

// harmlessAction knows what tar can do at a checkpoint without running anything.
func harmlessAction(s string) bool {
	return s == "dot" || s == "." || s == "bell" || s == "totals" || s == "echo" || strings.HasPrefix(s, "echo=") || strings.HasPrefix(s, "sleep=") || strings.HasPrefix(s, "ttyout=")
}

// harmlessLinker knows the flags of the Go linker that builds have every day.
func harmlessLinker(s string) bool {
	named := false
	for f := range strings.FieldsSeq(strings.NewReplacer("'", " ", `"`, " ").Replace(s)) {
		flag, _, _ := strings.Cut(strings.TrimLeft(f, "-"), "=")
		switch {
		case named:
			named = false
		case f == "-X" || f == "--X":
			named = true
		case strings.HasPrefix(f, "-") && (flag == "s" || flag == "w" || flag == "X" || flag == "buildid" || flag == "compressdwarf"):
		default:
			return false
		}
	}
	return true
}
