package main

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/lathe-agent/lathe/cli"
)

// laterCommands are words that the reference knows and that are not built yet. They answer, so
// that whoever tries them learns what there is instead; no list shows them.
var laterCommands = []struct{ name, what, instead, example string }{
	{"acp", "the Agent Client Protocol for editors", "Until then `lathe serve` speaks HTTP, and `lathe mcp serve` MCP.", "  lathe serve"},
	{"web", "the page in the browser", "Until then `lathe serve` has the same over HTTP, for any client of OpenCode.", "  lathe serve"},
	{"github", "the GitHub app and its workflow", "In a workflow of your own `lathe run --format json` works without anybody to ask.", "  lathe run --format json \"What does this change break?\""},
	{"pr", "checking out a pull request", "Until then: `gh pr checkout NUMBER`, then `lathe run`.", "  lathe run \"Review what this branch changes\""},
	{"console", "a hosted account", "Nothing here needs one: `lathe auth login` keeps your keys.", "  lathe auth login"},
	{"generate", "printing the OpenAPI document", "Until then `lathe serve` has it at /doc: `curl http://127.0.0.1:4096/doc`.", "  lathe serve --port 4096"},
}

// addLater adds what comes later to the root: commands that are not listed, and --mini.
func addLater(root *cobra.Command) {
	for _, l := range laterCommands {
		root.AddCommand(&cobra.Command{
			Use: l.name, Hidden: true, Short: "Comes later: " + l.what, Long: "Comes later: " + l.what + ". " + l.instead, Example: l.example,
			DisableFlagParsing: true, // whatever is asked of it, the answer is the same
			RunE: func(c *cobra.Command, args []string) error {
				if slices.Contains(args, "--help") || slices.Contains(args, "-h") {
					return c.Help()
				}
				return cli.NotImplemented("lathe "+l.name+" ("+l.what+")", l.instead)
			},
		})
	}
	lacksMini(root)
}

// lacksMini gives a command that shows the terminal program the flag --mini, which says that it
// comes later.
func lacksMini(c *cobra.Command) *cobra.Command {
	mini := c.Flags().Bool("mini", false, "a small screen of lines")
	_ = c.Flags().MarkHidden("mini") // it is there
	run := c.RunE
	c.RunE = func(c *cobra.Command, args []string) error {
		if *mini {
			return cli.NotImplemented("--mini", "Until then `lathe run` answers in lines, and `lathe run -c` goes on.")
		}
		return run(c, args)
	}
	return c
}
