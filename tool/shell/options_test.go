package shell

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// tableRow is one row of the table for tests.
type tableRow struct {
	key, row string
	options  []tableOption
}

type tableOption struct {
	name string
	entry
}

func tableRows(t *testing.T) (rows []tableRow) {
	t.Helper()
	last := ""
	for line := range strings.Lines(optionTable) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		key, row, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if !ok || key <= last || !strings.HasSuffix(row, " ") {
			t.Fatalf("the row %q is not in order, or has no options", key)
		}
		last = key
		r := tableRow{key: key, row: row}
		for _, token := range strings.Fields(row) {
			if !strings.HasPrefix(token, "-") {
				continue
			}
			end := len(token)
			if at := strings.IndexAny(token, "=~!"); at > 0 {
				end = at
			}
			r.options = append(r.options, tableOption{token[:end], parseEntry(token[end:])})
		}
		rows = append(rows, r)
	}
	return rows
}

// The table is in the order in which it is searched, and all of it is found.
func TestOptionTable(t *testing.T) {
	rows, options := tableRows(t), 0
	for _, r := range rows {
		got, ok := optionRows()[r.key]
		if !ok || got != r.row {
			t.Errorf("%s is not found", r.key)
		}
		for _, o := range r.options {
			options++
			if e, ok := exact(r.row, o.name); !ok || e != o.entry {
				t.Errorf("%s %s: %+v, want %+v", r.key, o.name, e, o.entry)
			}
			if o.class == unlisted {
				t.Errorf("%s %s: nobody has looked at it", r.key, o.name)
			}
		}
	}
	for _, key := range []string{"", "git", "git fetc", "git fetchx", "zzz", "a", "#"} {
		if _, ok := optionRows()[key]; ok {
			t.Errorf("%q is found", key)
		}
	}
	t.Logf("%d rows, %d options", len(rows), options)
}

// A dangerous option is never read as harmless, however it is written: by any prefix, joined to
// flags, with its value in the same word or in the next.
func TestOptions_DangerousInAnySpelling(t *testing.T) {
	count := 0
	for _, row := range tableRows(t) {
		for _, o := range row.options {
			if o.class == harmless {
				continue
			}
			for _, words := range spellings(row, o) {
				count++
				var list []Word
				for _, w := range words {
					list = append(list, Word{Text: w, Known: true, mask: w})
				}
				got := readOptions(row.row, list, strings.HasPrefix(row.key, "git "))
				if !slices.ContainsFunc(got.options, func(o option) bool { return o.class != harmless }) {
					t.Errorf("%s %q is harmless: %+v", row.key, words, got)
				}
			}
		}
	}
	t.Logf("%d spellings", count)
}

// spellings are the ways in which programs take an option, alone and after harmless ones.
func spellings(row tableRow, o tableOption) (out [][]string) {
	if strings.HasPrefix(o.name, "--") {
		least := 3 // prefixes that others have too are refused by programs
		for ; least < len(o.name); least++ {
			if alike := slices.DeleteFunc(slices.Clone(row.options), func(p tableOption) bool { return !strings.HasPrefix(p.name, o.name[:least]) }); len(alike) == 1 {
				break
			}
		}
		for n := min(least, len(o.name)); n <= len(o.name); n++ {
			out = append(out, []string{o.name[:n], "./evil"}, []string{o.name[:n] + "=./evil"})
		}
		return out
	}
	out = append(out, []string{o.name, "./evil"})
	if strings.HasPrefix(row.row, "1") {
		return append(out, []string{o.name + "=./evil"}, []string{"-" + o.name, "./evil"}, []string{"-" + o.name + "=./evil"})
	}
	if len(o.name) > 2 {
		return out
	}
	flags := []string{"", "1"}
	for _, f := range row.options {
		if len(f.name) == 2 && f.class == harmless && !f.value && !f.optional {
			flags = append(flags, f.name[1:], flags[len(flags)-1]+f.name[1:])
		}
	}
	for _, f := range flags {
		out = append(out, []string{"-" + f + o.name[1:], "./evil"})
		if o.value || o.optional {
			out = append(out, []string{"-" + f + o.name[1:] + "./evil"})
		}
	}
	return out
}

// The real programs are the judges of what an option may be called: what git or a GNU program takes
// for one that the table calls dangerous, the table does too. Programs that are not here are left out.
func TestOptions_RealPrograms(t *testing.T) {
	dir := t.TempDir()
	mark := filepath.Join(dir, "ran")
	evil := filepath.Join(dir, "evil")
	if err := os.WriteFile(evil, []byte("#!/bin/sh\necho ran >> "+mark+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) bool {
		_ = os.Remove(mark)
		c := exec.CommandContext(t.Context(), args[0], args[1:]...)
		c.Dir, c.Env = dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b", "TMPDIR=" + dir}
		_ = c.Run() // most fail after they have run it
		_, err := os.Stat(mark)
		return err == nil
	}
	if err := os.WriteFile(filepath.Join(dir, "f"), []byte("x\ny\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"git", "init", "-q"}, {"git", "add", "f"}, {"git", "commit", "-qm", "x"}, {"git", "remote", "add", "o", "."}, {"tar", "-cf", "a.tar", "f"}} {
		run(args...)
	}
	tried, ran := 0, 0
	for _, c := range []struct {
		key, option   string
		before, after []string
	}{
		{"git fetch", "--upload-pack", nil, []string{"o"}},
		{"git ls-remote", "--upload-pack", nil, []string{"o"}},
		{"git push", "--receive-pack", nil, []string{"o", "HEAD"}},
		{"git grep", "--open-files-in-pager", nil, []string{"x"}},
		{"tar", "--to-command", nil, []string{"-xf", "a.tar"}},
		{"tar", "--use-compress-program", nil, []string{"-cf", "b.tar", "f"}},
		{"sort", "--compress-program", []string{"-S", "1b", "--batch-size=2"}, []string{"f", "f", "f", "f"}},
		{"split", "--filter", nil, []string{"f"}},
		{"env", "--split-string", nil, nil},
	} {
		name, sub, _ := strings.Cut(c.key, " ")
		if _, err := exec.LookPath(name); err != nil {
			continue
		}
		row := optionRows()[c.key]
		for n := 3; n <= len(c.option); n++ {
			words := append(slices.Clone(c.before), c.option[:n]+"="+evil)
			words = append(words, c.after...)
			argv := append([]string{name}, words...)
			if sub != "" {
				argv = append([]string{name, sub}, words...)
			}
			tried++
			if !run(argv...) {
				continue
			}
			ran++
			var list []Word
			for _, w := range words {
				list = append(list, Word{Text: w, Known: true, mask: w})
			}
			if got := readOptions(row, list, name == "git"); !slices.ContainsFunc(got.options, func(o option) bool { return o.class != harmless }) {
				t.Errorf("%q runs the program, and is read as harmless", argv)
			}
		}
		if !strings.Contains(row, c.option) {
			t.Errorf("%s has no %s", c.key, c.option)
		}
	}
	t.Logf("%d spellings, %d ran the program", tried, ran)
	if _, err := exec.LookPath("git"); err == nil && ran == 0 {
		t.Error("nothing ran at all: the control fails")
	}
}

// A list that the code asks for and the table does not have would know nothing.
func TestWords_listsAreThere(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?:isOne\(|wordLists\(\)\[|given\()"([a-z-]+)"`).FindAllSubmatch(text, -1) {
			used[string(m[1])] = true
		}
	}
	for list := range used {
		if len(wordLists()[list]) == 0 {
			t.Errorf("words.txt has no list %s", list)
		}
	}
	for list := range wordLists() {
		if !used[list] {
			t.Errorf("nothing asks for the list %s of words.txt", list)
		}
	}
}
