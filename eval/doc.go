// Package eval has the parts of `lathe eval` without effects: the file with the cases, results and their lines, statistics,
// reports, and the task folders of other programs.
//
// Files, results and task folders may come from strangers: all sizes are limited, and texts are made safe where they are
// shown. Nothing here runs anything or writes a file. Package cli/eval does that. Start at Parse, then Plan.
package eval

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"time"
)

// The limits of a file of cases.
const (
	MaxFile  = 16 << 20 // bytes
	maxCases = 5000
	maxRuns  = 1000
	maxName  = 200 // characters of names
	maxText  = 1 << 20
)

// File is a set of cases.
type File struct {
	Name   string  // shown in reports; that of the file if it has none
	Budget float64 // of all runs together, in dollars; 0 is no limit
	Jobs   int     // runs at the same time; 0 is 1
	Cases  []Case  // in the order of the file
}

// Case is one task, with the defaults of its file filled in.
type Case struct {
	Name    string   `json:"name"` // unique in its file
	Source  Source   `json:"source"`
	Prompt  string   `json:"prompt,omitempty"` // "" continues a session
	Agent   string   `json:"agent,omitempty"`  // "" is the default agent
	Check   Check    `json:"check"`
	Limits  Limits   `json:"limits"`
	Models  []string `json:"-"`                 // "" is the default model
	Runs    int      `json:"-"`                 // with each model
	Line    int      `json:"-"`                 // in the file
	Digests []string `json:"digests,omitempty"` // of the files outside the case that decide its result
}

// Source is where the files of a case come from: a commit of a repository, a folder, or a step of a session.
type Source struct {
	Repo    string   `json:"repo,omitempty"`   // a folder on this machine
	Commit  string   `json:"commit,omitempty"` // a full hash, a tag or a branch
	Folder  string   `json:"folder,omitempty"`
	Exclude []string `json:"exclude,omitempty"` // names at the top of a folder that are left out
	Session string   `json:"session,omitempty"`
	Step    string   `json:"step,omitempty"` // the first that is not taken over
}

// Check decides whether a run passed.
type Check struct {
	Command string        `json:"command"`           // exit code 0 passes
	Timeout time.Duration `json:"timeout,omitempty"` // after it the check has failed
	Files   []string      `json:"files,omitempty"`   // copied into the project after the agent has ended
	Patch   string        `json:"patch,omitempty"`   // a unified diff, applied after the agent has ended
}

// Limits end a run.
type Limits struct {
	Budget  float64       `json:"budget,omitempty"` // in dollars
	Tokens  int64         `json:"tokens,omitempty"` // sent and received, subagents included
	Steps   int64         `json:"steps,omitempty"`
	Timeout time.Duration `json:"timeout,omitempty"` // of the agent, without its check
}

// Run is one run of a case with a model.
type Run struct {
	Case   *Case
	Model  string // "" is the one of the agent
	Number int    // from 1
	Key    string // names the run in result files
}

// Plan lists all runs: the first of every case and model, then the second of each, so that an eval that is stopped early
// has something of everything.
func (f *File) Plan() (out []Run) {
	most := 0
	for i := range f.Cases {
		most = max(most, f.Cases[i].Runs)
	}
	for n := 1; n <= most; n++ {
		for i := range f.Cases {
			c := &f.Cases[i]
			if n > c.Runs {
				continue
			}
			for _, m := range c.Models {
				out = append(out, Run{Case: c, Model: m, Number: n, Key: c.key(m, n)})
			}
		}
	}
	return out
}

// key names a run by all that decides its result.
func (c *Case) key(model string, n int) string {
	text, _ := json.Marshal(c) // it has only texts and numbers
	sum := sha256.Sum256([]byte(string(text) + "\x00" + model + "\x00" + strconv.Itoa(n)))
	return hex.EncodeToString(sum[:12])
}

// ModelName is how a model is shown.
func ModelName(m string) string { return cmp.Or(m, "default") }
