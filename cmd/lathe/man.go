package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/lathe-agent/lathe/cli"
)

// newMan prints the manual page. It is generated from the commands, so that it cannot differ from --help.
func newMan(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "man",
		Short: "Print the manual page",
		Long:  `Print the manual page of all commands in roff. It is generated from the same text as --help.`,
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

// page is a manual page in roff.
type page struct{ strings.Builder }

// manual renders the help of all commands as one man page, so that it cannot go stale.
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
	p.macro(".SH TERMINAL UI FLAGS")
	p.flags(root.LocalNonPersistentFlags().FlagUsages())
	p.macro(".SH COMMANDS")
	for _, c := range root.Commands() {
		p.command(c)
	}
	p.macro(".SH GLOBAL FLAGS")
	p.flags(root.PersistentFlags().FlagUsages())
	p.macro(".SH SEE ALSO")
	p.prose("lathe COMMAND --help prints the help of one command. The docs folder of the source code describes the config, permissions, the sandbox and use in scripts.")
	return p.String()
}

// command writes a command and its subcommands.
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

// prose writes paragraphs. A paragraph with an indented line is a table and stays as it is.
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

// flags converts the flag list of --help. Each line has the flag, its value, at least two spaces and a description.
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

// roff escapes control characters, and dashes so that they can be copied.
func roff(line string) string {
	line = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(line)
	if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
		return `\&` + line
	}
	return line
}
