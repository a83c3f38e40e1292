package session

import (
	"fmt"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/internal/phrase"
	"github.com/lathe-agent/lathe/internal/termtext"
	"github.com/lathe-agent/lathe/migrate"
)

// fromReport is the result of `lathe import --from`, as --json prints it.
type fromReport struct {
	From     string          `json:"from"`
	DryRun   bool            `json:"dryRun"` // the rest describes a plan
	Sessions sessionReport   `json:"sessions"`
	Skipped  migrate.Skipped `json:"skipped,omitempty"`
	Settings settingsReport  `json:"settings"`
}

// sessionReport says what became of each session that was found.
type sessionReport struct {
	Found     int           `json:"found"`               // before anything is read
	Imported  []sessionLine `json:"imported,omitempty"`  // new here
	Updated   []sessionLine `json:"updated,omitempty"`   // grown in the other program
	Continued []sessionLine `json:"continued,omitempty"` // grown here, and left alone
	Failed    []failedLine  `json:"failed,omitempty"`    // the others were imported all the same
	Unchanged int           `json:"unchanged"`           // imported earlier
	Empty     int           `json:"empty"`               // without messages
}

// sessionLine is a session in the report. A dry run knows only its ID and its file.
type sessionLine struct {
	ID        lathe.SessionID `json:"id"`
	Title     string          `json:"title,omitempty"`
	Directory string          `json:"directory,omitempty"`
	From      string          `json:"source"` // a file, or a database and a name in it
	Messages  int             `json:"messages,omitempty"`
}

// failedLine is a session that could not be read, and the reason.
type failedLine struct {
	From  string `json:"source"`
	Error string `json:"error"`
}

// fail notes a session, or a whole database, that could not be read.
func (r *sessionReport) fail(from string, err error) {
	r.Failed = append(r.Failed, failedLine{from, err.Error()})
}

// shownLines is how many sessions of a list are printed. Hundreds would hide the rest; --json has all.
const shownLines = 20

// print writes the report for people or for programs.
func (r *fromReport) print(a *cli.App, tool migrate.Tool) error {
	if a.JSON {
		return a.PrintJSON(r)
	}
	would := ""
	if r.DryRun {
		would = "would be "
		a.Printf("Dry run: nothing was written.\n")
	}
	r.Settings.print(a, would)
	s := r.Sessions
	printSessions(a, would+"imported", s.Imported)
	printSessions(a, would+"updated", s.Updated)
	printSessions(a, "skipped, because they were continued in lathe", s.Continued)
	for _, f := range s.Failed {
		a.Printf("Not imported: %s: %s\n", termtext.Plain(f.From), termtext.Plain(f.Error))
	}
	if s.Unchanged > 0 {
		a.Printf("%s already here and unchanged.\n", sentence(s.Unchanged, "session is", "sessions are"))
	}
	a.Flush()
	if s.Found == 0 && len(s.Failed) == 0 && r.Settings.isEmpty() {
		a.Notify("Found no sessions and no config of %s.", tool.Title())
		return nil
	}
	if n := r.Skipped.Total(); n > 0 {
		a.Notify("Left out %s without a counterpart in lathe: %s.", phrase.Count(n, "record"), termtext.Plain(r.Skipped.String()))
	}
	if !r.DryRun && len(s.Imported)+len(s.Updated) > 0 {
		a.Notify("List sessions with `lathe session list --all`. Continue one with `lathe run -s ID \"...\"`.")
	}
	if !r.DryRun {
		a.Notify("Keys and logins are not imported. Run `lathe auth import %s` for them.", tool)
	}
	return nil
}

// sentence is a number and the words for one or many.
func sentence(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// printSessions lists the first sessions of a kind below their number.
func printSessions(a *cli.App, state string, list []sessionLine) {
	if len(list) == 0 {
		return
	}
	a.Printf("Sessions %s: %d\n", state, len(list))
	for i, s := range list {
		if i == shownLines {
			a.Printf("  and %d more\n", len(list)-i)
			return
		}
		name := s.Title
		if name == "" {
			name = s.From
		}
		a.Printf("  %s  %s\n", s.ID, phrase.Shorten(termtext.Plain(name), 80))
	}
}
