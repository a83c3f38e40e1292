// Command options prints the table of options that package tool/shell reads command lines with.
//
// It asks the programs on this machine for their options (--help, -h, manual pages of git) and
// merges them into the table there is. Only facts are taken: the name of an option and whether
// it takes a value. Help texts do not say whether an option is harmless, so its class comes
// from the table. A new option gets "!?", which counts as unknown until a person has reviewed
// it.
//
//	go run ./scripts/options tool/shell/options.txt > new.txt
package main

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go run ./scripts/options TABLE")
		os.Exit(2)
	}
	text, err := os.ReadFile(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	head, table := parseTable(string(text))
	for key, found := range harvest() {
		table[key] = merge(table[key], found)
	}
	fmt.Print(head)
	for _, key := range slices.Sorted(maps.Keys(table)) {
		fmt.Println(key + "\t" + table[key].String())
	}
}

// row is what is known of one program, or of one command of a program: a mark of how it reads its
// words, and its options by name, each with its ending (arity and class).
type row struct {
	mark    string
	options map[string]string
}

func (r row) String() string {
	out := r.mark
	for _, name := range slices.Sorted(maps.Keys(r.options)) {
		out += " " + name + r.options[name]
	}
	return out + " "
}

var token = regexp.MustCompile(`^(--?[^=~!]+)([=~]?(?:![a-z?])?)$`)

func parseTable(text string) (head string, table map[string]row) {
	table = map[string]row{}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "#") {
			head += line
			continue
		}
		key, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		r := row{options: map[string]string{}}
		for i, word := range strings.Split(rest, " ") {
			if m := token.FindStringSubmatch(word); m != nil {
				r.options[m[1]] = m[2]
			} else if i == 0 {
				r.mark = word
			}
		}
		table[key] = r
	}
	return head, table
}

// merge adds options that the table does not have. Those that it has stay as they were judged.
func merge(old row, found map[string]string) row {
	if old.options == nil {
		old.options = map[string]string{}
	}
	for name, arity := range found {
		if _, ok := old.options[name]; !ok {
			old.options[name] = arity + "!?"
		}
	}
	return old
}

// harvest asks every program that is here.
func harvest() map[string]map[string]string {
	out := map[string]map[string]string{}
	add := func(key string, argv ...string) {
		if text := output(argv...); text != "" {
			if out[key] == nil {
				out[key] = map[string]string{}
			}
			maps.Copy(out[key], optionsIn(text))
		}
	}
	for _, p := range strings.Fields(programs) {
		add(p, p, "--help")
	}
	add("curl", "curl", "--help", "all")
	add("vim", "vim", "-h")
	for _, sub := range strings.Fields(gitCommands) {
		add("git "+sub, "git", sub, "-h")
		add("git "+sub, "man", "git-"+sub)
	}
	for _, words := range strings.Split(gitNested, ",") {
		sub := strings.Fields(words)
		for _, nested := range sub[1:] {
			add("git "+sub[0], "git", sub[0], nested, "-h")
		}
	}
	for _, sub := range strings.Fields(cargoCommands) {
		add("cargo "+sub, "cargo", sub, "--help")
	}
	for _, sub := range strings.Fields(dockerCommands) {
		add("docker "+sub, "docker", sub, "--help")
	}
	return out
}

func output(argv ...string) string {
	if _, err := exec.LookPath(argv[0]); err != nil {
		return ""
	}
	c := exec.Command(argv[0], argv[1:]...)
	c.Env = append(c.Environ(), "COLUMNS=500", "MANWIDTH=500", "MANPAGER=cat", "LC_ALL=C", "TERM=dumb")
	text, _ := c.CombinedOutput() // many exit with an error after their help
	return overstruck.ReplaceAllString(string(text), "")
}

var (
	overstruck = regexp.MustCompile(".\x08|\x1b\\[[0-9;]*m")
	spec       = regexp.MustCompile(`^(--?)(\[no-\])?([A-Za-z0-9?#@][A-Za-z0-9_.-]*)(.*)$`)
	gap        = regexp.MustCompile(`\s{2,}|\t`)
	taken      = regexp.MustCompile(`^(=| ?<| \S+$)`) // a value, not the first words of a text
	comma      = regexp.MustCompile(`(,\s+|\s+or\s+|\s+\|\s+)`)
)

// optionsIn finds the lines that begin with an option and reads what is before the text.
func optionsIn(text string) map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(text) {
		line = comma.ReplaceAllString(strings.TrimSpace(line), ",")
		if !strings.HasPrefix(line, "-") {
			continue
		}
		line = gap.Split(line, 2)[0]
		var names []string
		arity := ""
		for _, part := range strings.Split(line, ",") {
			m := spec.FindStringSubmatch(part)
			if m == nil || m[1] == "-" && len(m[3]) > 1 { // examples and numbers; few programs have such
				continue
			}
			name := m[1] + strings.TrimRight(m[3], ".")
			switch rest := m[4]; {
			case strings.HasPrefix(rest, "["), strings.HasPrefix(rest, " ["):
				arity = "~"
			case arity == "" && taken.MatchString(rest):
				arity = "="
			}
			names = append(names, name)
		}
		for _, name := range names {
			if old, ok := out[name]; !ok || old == "" { // a later line may know of a value
				out[name] = arity
			}
		}
	}
	return out
}
