package eval

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/cli/session"
	cases "github.com/lathe-agent/lathe/eval"
	"github.com/lathe-agent/lathe/internal/termtext"
)

const importHelp = `Convert tasks of other programs to a file for lathe eval. Nothing is downloaded and nothing runs.

swe-bench reads .jsonl and .json files in FOLDER with instance_id, repo, base_commit,
problem_statement, test_patch, FAIL_TO_PASS and PASS_TO_PASS. A repository owner/name must be in the
folder of --repos, as owner/name, owner__name or name. The test_patch becomes check_patch, which is
applied when the agent has ended. --check is the command for the tests: {tests} stands for their quoted
names, {fail_to_pass} and {pass_to_pass} for one list of them.

terminal-bench reads folders with a task.yaml. No container is built: the case has the files of the
folder environment, or of the task without its tests and solution. The tests are copied into the
project when the agent has ended.

Tasks that cannot be used are named and left out. The exit code is 1 if no task is left.`

// newImport returns `lathe eval import`.
func newImport(a *cli.App) *cobra.Command {
	var repos, check, output string
	cmd := &cobra.Command{
		Use:   "import swe-bench|terminal-bench FOLDER",
		Short: "Convert task folders of SWE-bench or Terminal-Bench",
		Long:  importHelp,
		Example: `  lathe eval import swe-bench tasks/ --repos ~/repos -o swe.yaml
  lathe eval import swe-bench tasks/ --repos ~/repos --check 'go test -run {fail_to_pass} ./...'
  lathe eval import terminal-bench tasks/ -o terminal.yaml`,
		Args: cli.RangeArgs(2, 2),
		RunE: func(c *cobra.Command, args []string) error {
			if a.Attach != "" {
				return cli.Usagef("eval runs on this machine and cannot be combined with --attach")
			}
			return runImport(a, args[0], args[1], repos, check, output)
		},
	}
	s := cmd.Flags()
	s.StringVar(&repos, "repos", "", "`FOLDER` with the repositories of swe-bench tasks")
	s.StringVar(&check, "check", cases.DefaultSWECheck, "`COMMAND` that runs the tests of swe-bench tasks")
	s.StringVarP(&output, "output", "o", "", "`FILE` to write (default: standard output)")
	return cmd
}

// runImport reads the tasks and writes the file. The folder is opened as a root: no link in it leads elsewhere.
func runImport(a *cli.App, kind, folder, repos, check, output string) error {
	at := pathOf(a, folder)
	root, err := os.OpenRoot(at)
	if err != nil {
		return lathe.Errorf(lathe.NotFound, "cannot read the tasks: %w", err)
	}
	defer root.Close()
	var in cases.Imported
	switch kind {
	case "swe-bench":
		if repos == "" {
			return cli.Usagef("swe-bench needs --repos FOLDER with the repositories; nothing is downloaded")
		}
		in, err = cases.ImportSWE(root.FS(), cases.SWEOptions{Check: check, Repo: func(name string) string { return findRepo(pathOf(a, repos), name) }})
	case "terminal-bench":
		if repos != "" {
			return cli.Usagef("--repos is for swe-bench; terminal-bench tasks have their files in their folders")
		}
		in, err = cases.ImportTerminal(root.FS(), filepath.ToSlash(at))
	default:
		return cli.Usagef("cannot import %s: want swe-bench or terminal-bench", termtext.Quote(kind))
	}
	if err != nil {
		return err
	}
	for _, s := range in.Skipped {
		a.Notify("Left out %s: %s", termtext.Plain(s.Name), termtext.OneLine(termtext.Plain(s.Why)))
	}
	if len(in.Cases) == 0 {
		return lathe.Errorf(lathe.Invalid, "no task can be used")
	}
	return writeCases(a, in, filepath.Base(at), output)
}

// writeCases writes the file, to standard output without a name.
func writeCases(a *cli.App, in cases.Imported, name, output string) error {
	f := cases.File{Name: termtext.Clip(termtext.Plain(name), 100), Cases: in.Cases}
	text := f.Write()
	if _, err := cases.Parse("the imported file", text); err != nil {
		return lathe.Errorf(lathe.Invalid, "%w; import fewer tasks at a time", err)
	}
	if output == "" {
		a.Printf("%s", termtext.PlainText(string(text)))
		return nil
	}
	_, err := session.WriteFile(pathOf(a, output), func(w *cli.CountingFile) error {
		_, err := w.Write(text)
		return err
	})
	if err == nil {
		a.Notify("Wrote %s to %s. Run them with `lathe eval %s`.", termtext.Plural(len(in.Cases), "case"), a.DisplayPath(pathOf(a, output)), termtext.ShellWord(output))
	}
	return err
}

// findRepo finds a repository by the name that it has at its host. The name leads nowhere else.
func findRepo(dir, name string) string {
	owner, short, _ := strings.Cut(name, "/")
	for _, try := range []string{name, owner + "__" + short, short} {
		if try == "" || !cases.IsLocal(try) {
			continue
		}
		at := filepath.Join(dir, filepath.FromSlash(try))
		for _, mark := range []string{".git", "objects"} {
			if _, err := os.Stat(filepath.Join(at, mark)); err == nil {
				return at
			}
		}
	}
	return ""
}
