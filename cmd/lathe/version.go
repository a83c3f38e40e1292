package main

import (
	"runtime"

	"github.com/spf13/cobra"

	"github.com/lathe-agent/lathe/cli"
)

// version is set when a release is built: -ldflags "-X main.version=1.2.3".
var version = "0.1.0-dev"

// asksVersion reports whether the command line asks for the version and nothing else.
func asksVersion(args []string) bool {
	return len(args) == 2 && (args[1] == "version" || args[1] == "--version" || args[1] == "-v")
}

func newVersion(a *cli.App) *cobra.Command {
	return a.JSONFlag(&cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Long:  "Print the version number. It opens no file.",
		Example: `  lathe version
  lathe version --json`,
		Args: cli.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if a.JSON {
				return a.PrintJSON(versionJSON{Version: version, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH})
			}
			a.Printf("%s\n", version)
			return nil
		},
	})
}

// versionJSON is the output of `lathe version --json`.
type versionJSON struct {
	Version  string `json:"version"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}
