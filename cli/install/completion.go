package install

import (
	"github.com/spf13/cobra"

	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/internal/termtext"
)

// NewCompletion returns `lathe completion`.
func NewCompletion(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "completion SHELL",
		Short: "Print a shell completion script",
		Long:  "Print the completion script for bash, zsh, fish or powershell.",
		Example: `  source <(lathe completion bash)
  lathe completion zsh > "${fpath[1]}/_lathe"
  lathe completion fish > ~/.config/fish/completions/lathe.fish`,
		ValidArgs: []string{"bash", "zsh", "fish", "powershell"},
		Args:      cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) != 1 {
				return cli.Usagef("give one shell: bash, zsh, fish or powershell")
			}
			root := c.Root()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(a.Out, true)
			case "zsh":
				return root.GenZshCompletion(a.Out)
			case "fish":
				return root.GenFishCompletion(a.Out, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(a.Out)
			default:
				return cli.Usagef("no completion for %s; use bash, zsh, fish or powershell", termtext.Quote(args[0]))
			}
		},
	}
}
