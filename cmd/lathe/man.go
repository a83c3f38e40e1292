package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/lathe-agent/lathe/cli"
)

// newMan prints the manual page. It is made from the commands when it is asked for, so that there is no
// second text that could say something else; who packages lathe keeps what it prints.
func newMan(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "man",
		Short: "Print the manual page",
		Long: `Prints the manual page of all commands, in the language of man. Nothing of it is written by hand:
it says what --help of each command says.`,
		Example: `  lathe man | man -l -
  lathe man > ~/.local/share/man/man1/lathe.1`,
		Hidden: true,
		Args:   cli.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			a.Printf("%s", manual(c.Root()))
			return nil
		},
	}
}

// page is a manual page under way, in roff.
type page struct{ strings.Builder }

func manual(root *cobra.Command) string {
	p := &page{}
	p.macro(".TH LATHE 1 \"\" \"lathe " + roff(version) + "\" \"User commands\"")
	p.macro(".SH NAME")
	p.macro("lathe \\- " + roff(strings.ToLower(root.Short[:1])+root.Short[1:]))
	p.macro(".SH SYNOPSIS")
	p.macro(".B lathe\n[\\fIPROJECT\\fR]\n[\\fIFLAGS\\fR]\n.PP\n.B lathe\n.I COMMAND\n[\\fIFLAGS\\fR]")
	p.macro(".SH DESCRIPTION")
	p.prose(root.Long)
	p.examples(root.Example)
	p.macro(".SH FLAGS OF THE TERMINAL PROGRAM")
	p.flags(root.LocalNonPersistentFlags().FlagUsages())
	p.macro(".SH COMMANDS")
	for _, c := range root.Commands() {
		p.command(c)
	}
	p.macro(".SH FLAGS OF ALL COMMANDS")
	p.flags(root.PersistentFlags().FlagUsages())
	p.macro(".SH SEE ALSO")
	p.prose("lathe COMMAND --help says the same of one command. Settings, permissions, the sandbox and the use in scripts have pages of their own in the folder docs of the sources.")
	return p.String()
}

// command tells a command and those below it; a word that only needs another one behind it is told by them.
func (p *page) command(c *cobra.Command) {
	if c.Hidden || !c.IsAvailableCommand() {
		return
	}
	p.macro(".SS " + roff(strings.TrimSuffix(c.UseLine(), " [flags]")))
	p.prose(c.Short + ".")
	if long := c.Long; long != "" {
		p.prose(long)
	}
	if len(c.Aliases) > 0 {
		p.prose("Also: " + strings.Join(c.Aliases, ", ") + ".")
	}
	p.flags(c.NonInheritedFlags().FlagUsages())
	p.examples(c.Example)
	for _, sub := range c.Commands() {
		p.command(sub)
	}
}

func (p *page) macro(line string) { p.WriteString(line + "\n") }

// prose writes paragraphs. One with an indented line is a table or a picture and stays as it is.
func (p *page) prose(text string) {
	for block := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		if strings.Contains("\n"+block, "\n ") {
			p.verbatim(block)
			continue
		}
		p.macro(".PP")
		p.lines(block)
	}
}

func (p *page) examples(text string) {
	if text != "" {
		p.verbatim(text)
	}
}

func (p *page) verbatim(text string) {
	p.macro(".PP\n.nf")
	p.lines(text)
	p.macro(".fi")
}

func (p *page) lines(text string) {
	for line := range strings.SplitSeq(strings.Trim(text, "\n"), "\n") {
		p.macro(roff(line))
	}
}

// flags writes a list of flags from the text that --help has for them: a line each, the flag and its
// value, then at least two spaces and what it is.
func (p *page) flags(usages string) {
	for line := range strings.Lines(usages) {
		flag, says, _ := strings.Cut(strings.TrimSpace(line), "  ")
		if flag == "-h, --help" {
			continue
		}
		name, value := flag, ""
		if i := strings.LastIndex(flag, " "); i >= 0 && !strings.HasPrefix(flag[i+1:], "-") {
			name, value = flag[:i], " \\fI"+roff(flag[i+1:])+"\\fR"
		}
		p.macro(".TP\n\\fB" + roff(name) + "\\fR" + value + "\n" + roff(strings.TrimSpace(says)))
	}
}

// roff escapes a line: what a formatter would take for its own, and dashes, which are to be typed.
func roff(line string) string {
	line = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(line)
	if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
		return `\&` + line
	}
	return line
}
