package main

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/lathe-agent/lathe/cli"
)

// laterCommands are commands of OpenCode that are not implemented yet. They are hidden, and their error names the
// alternative.
var laterCommands = []struct{ name, what, instead, example string }{
	{"github", "GitHub app and workflow", "Use `lathe run --format json` in your own workflow instead.", "  lathe run --format json \"What does this change break?\""},
	{"pr", "check out a pull request", "Use `gh pr checkout NUMBER`, then `lathe run` instead.", "  lathe run \"Review the changes on this branch\""},
	{"console", "hosted account", "lathe needs no account: `lathe auth login` saves your API keys.", "  lathe auth login"},
	{"generate", "print the OpenAPI document", "Get it from `lathe serve` at /doc instead: `curl http://127.0.0.1:4096/doc`.", "  lathe serve --port 4096"},
}

// addLater adds the hidden commands to the root.
func addLater(root *cobra.Command) {
	for _, l := range laterCommands {
		root.AddCommand(&cobra.Command{
			Use: l.name, Hidden: true, Short: "Not yet available: " + l.what, Long: "Not yet available: " + l.what + ". " + l.instead, Example: l.example,
			DisableFlagParsing: true, // the answer is always the same
			RunE: func(c *cobra.Command, args []string) error {
				if slices.Contains(args, "--help") || slices.Contains(args, "-h") {
					return c.Help()
				}
				return cli.NotImplemented("lathe "+l.name+" ("+l.what+")", l.instead)
			},
		})
	}
}
