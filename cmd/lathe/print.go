package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lathe-agent/lathe/cli"
)

// addPrint adds -p (--print) to the root: `lathe -p PROMPT` is `lathe run PROMPT`. Other commands have -p for the
// password of a server.
func addPrint(root *cobra.Command) {
	printing := root.Flags().BoolP("print", "p", false, "run the prompt and print the answer: lathe -p PROMPT is lathe run PROMPT")
	run := root.RunE
	root.RunE = func(c *cobra.Command, args []string) error {
		if *printing { // withPrint did not move it
			return cli.Usagef("-p must come before the prompt: `lathe -p \"Why does the build fail?\"`; use -C DIRECTORY for another directory")
		}
		return run(c, args)
	}
}

// withPrint turns a call with -p into one of run, whose flags then work too. It leaves -p of other commands alone: it
// looks only at the flags before the first argument.
func withPrint(root *cobra.Command, args []string) []string {
	run, _, err := root.Find([]string{"run"})
	if err != nil {
		return args
	}
	for i := 0; i < len(args); i++ {
		switch a := args[i]; {
		case a == "-p" || a == "--print":
			return slices.Concat([]string{"run"}, args[:i], args[i+1:])
		case a == "--" || !strings.HasPrefix(a, "-"):
			return args
		case takesValue(a, run.Flags(), root.PersistentFlags()):
			i++
		}
	}
	return args
}

// takesValue reports whether the next argument is the value of this flag.
func takesValue(arg string, sets ...*pflag.FlagSet) bool {
	if strings.Contains(arg, "=") {
		return false
	}
	for _, s := range sets {
		name, long := strings.CutPrefix(arg, "--")
		f := s.Lookup(name)
		if !long && len(arg) == 2 { // -mNAME has its value, too
			f = s.ShorthandLookup(arg[1:])
		}
		if f != nil {
			return f.NoOptDefVal == ""
		}
	}
	return false
}
