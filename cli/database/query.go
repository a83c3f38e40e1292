package database

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/cli/layout"
	"github.com/lathe-agent/lathe/internal/termtext"
	"github.com/lathe-agent/lathe/store/sqlite"
)

// queryFlags adds the query argument and its flags to `lathe db`.
func queryFlags(a *cli.App, cmd *cobra.Command) {
	format := ""
	cmd.Flags().StringVar(&format, "format", "", "output `FORMAT`: tsv or json; default a table on a terminal, else tsv")
	cmd.RunE = func(c *cobra.Command, args []string) error {
		if len(args) == 1 && !strings.ContainsAny(args[0], " \n\t") {
			return cli.RequireSubcommand(c, args)
		}
		if len(args) > 1 {
			return cli.Usagef("pass the query as one argument: `lathe db \"SELECT id FROM session\"`")
		}
		if format != "" && format != "tsv" && format != "json" {
			return cli.Usagef("--format %s: want tsv or json", termtext.Quote(format))
		}
		if len(args) == 0 {
			return shellSQL(a, c, format)
		}
		return answerSQL(c.Context(), a, args[0], format == "json")
	}
}

// answerSQL prints the rows of a query: a header line and a line per row, or a list of objects.
func answerSQL(ctx context.Context, a *cli.App, sql string, asJSON bool) error {
	at, err := a.ExistingFolders()
	if err == nil {
		err = refuseServer(at)
	}
	if err != nil {
		return err
	}
	rows := 0
	err = sqlite.Query(ctx, at.Database(), sql, func(columns []string, cells []sqlite.Cell) error {
		rows++
		if asJSON {
			before := ",\n  "
			if rows == 1 {
				before = "[\n  "
			}
			return printRow(a, "%s%s", before, objectOf(columns, cells))
		}
		line := make([]string, len(cells))
		if rows == 1 {
			for i, c := range columns {
				line[i] = oneCell(c)
			}
			a.Printf("%s\n", strings.Join(line, "\t"))
		}
		for i, c := range cells {
			line[i] = oneCell(c.Text)
		}
		return printRow(a, "%s\n", strings.Join(line, "\t"))
	})
	switch {
	case err != nil || !asJSON:
	case rows == 0:
		a.Printf("[]\n")
	default:
		a.Printf("\n]\n")
	}
	return err
}

// printRow prints one row. It returns an error when the reader is gone, since a query may never end.
func printRow(a *cli.App, format string, args ...any) error {
	_, err := fmt.Fprintf(a.Out, format, args...)
	return err
}

// objectOf returns a row as JSON, with its members in column order.
func objectOf(columns []string, cells []sqlite.Cell) string {
	var b strings.Builder
	for i, c := range cells {
		name, err := json.Marshal(columns[i])
		if err != nil { // JSON has no binary type
			continue
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.Write(name)
		b.WriteString(": ")
		b.Write(c.JSON)
	}
	return string(layout.EscapeJSON([]byte("{" + b.String() + "}")))
}

// oneCell formats a value for one field of one line.
func oneCell(text string) string {
	return termtext.Plain(strings.NewReplacer("\t", " ", "\r\n", " ", "\n", " ").Replace(text))
}
