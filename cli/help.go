package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// usage prints the usage of a command. It does not use cobra's template: text/template calls methods by name, so the
// linker would keep every exported method, which costs 3 MB.
func usage(c *cobra.Command) error {
	var b strings.Builder
	b.WriteString("Usage:")
	if !c.HasParent() {
		fmt.Fprintf(&b, "\n  %s [PROJECT] [flags]", c.CommandPath())
	}
	takesArgs := c.HasParent() && len(c.Use) > len(c.Name())
	if c.Runnable() && (takesArgs || !c.HasAvailableSubCommands()) {
		b.WriteString("\n  " + c.UseLine())
	}
	if c.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "\n  %s [command]", c.CommandPath())
	}
	section := func(title, text string) {
		if text != "" {
			b.WriteString("\n\n" + title + ":\n" + strings.TrimRight(text, " \n"))
		}
	}
	if len(c.Aliases) > 0 {
		section("Aliases", "  "+c.NameAndAliases())
	}
	section("Examples", c.Example)
	section("Available Commands", subcommands(c))
	section("Flags", c.LocalFlags().FlagUsages())
	section("Global Flags", c.InheritedFlags().FlagUsages())
	if c.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "\n\nUse \"%s [command] --help\" for more information about a command.", c.CommandPath())
	}
	_, err := fmt.Fprintln(c.OutOrStderr(), b.String())
	return err
}

// subcommands lists the subcommands of c, one per line.
func subcommands(c *cobra.Command) string {
	var b strings.Builder
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() || sub.Name() == "help" {
			fmt.Fprintf(&b, "  %-*s %s\n", sub.NamePadding(), sub.Name(), sub.Short)
		}
	}
	return b.String()
}
