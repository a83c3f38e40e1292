//go:build !race

package lathe_test

import (
	"testing"

	"github.com/lathe-agent/lathe/internal/archtest"
)

// archBudgets are how much of one thing a newcomer takes in at once.
var archBudgets = archtest.Budgets{Methods: 40, Fields: 15, Lines: 5000, Exported: 60}

// archCeilings are the exceptions, with what there is today and why. The list may only become shorter, and its numbers smaller.
var archCeilings = map[string]archtest.Exception{
	"exported lathe":                        {Max: 320, Why: "the vocabulary of the wire: messages, parts, events, requests, background tasks, steps, the board, the search"},
	"exported model":                        {Max: 70, Why: "requests, answers and failures of all protocols"},
	"exported model/catalog":                {Max: 70, Why: "the records of the list of models"},
	"exported tui/dialog":                   {Max: 130, Why: "one constructor for each dialog, and the entries of those that the scrollback UI has too"},
	"exported tui/key":                      {Max: 194, Why: "one constant for each name that a key can have"},
	"fields cli.App":                        {Max: 16, Why: "what a command has around it; some of it belongs to the log"},
	"fields cli/run.runFlags":               {Max: 25, Why: "one for each flag of run"},
	"fields config.Agent":                   {Max: 17, Why: "one for each setting of an agent"},
	"fields config.Config":                  {Max: 43, Why: "one for each setting"},
	"fields config.spec":                    {Max: 20, Why: "one for each thing that a table can say of a setting"},
	"fields engine.Model":                   {Max: 18, Why: "one for each thing that is known of a model"},
	"fields engine.Options":                 {Max: 19, Why: "options"},
	"fields engine.StepSettings":            {Max: 35, Why: "one for each setting of a step"},
	"fields engine/check.Action":            {Max: 20, Why: "the record of what a tool did"},
	"fields extension.Options":              {Max: 21, Why: "options"},
	"fields harness.Harness":                {Max: 22, Why: "the composition of the program"},
	"fields internal/jsonrpc.Conn":          {Max: 16, Why: "one connection"},
	"fields lathe.Session":                  {Max: 24, Why: "a record of the wire"},
	"fields model/catalog.Model":            {Max: 27, Why: "a record of the list of models"},
	"fields model/openai.chatDecoder":       {Max: 19, Why: "the state of one stream"},
	"fields model/provider.options":         {Max: 20, Why: "options of the wire"},
	"fields sandbox.Profile":                {Max: 20, Why: "one for each right of a command"},
	"fields scripts/torture.counts":         {Max: 23, Why: "counters"},
	"fields usage.Stats":                    {Max: 17, Why: "counters"},
	"fields usage.Harness":                  {Max: 32, Why: "counters"},
	"fields usage.call":                     {Max: 16, Why: "a record of one call"},
	"fields tui.Options":                    {Max: 21, Why: "options"},
	"fields server.Options":                 {Max: 16, Why: "options"},
	"fields tui/ask.meta":                   {Max: 21, Why: "what tools say of themselves when they ask"},
	"fields tui/chat.args":                  {Max: 16, Why: "the arguments of all tools"},
	"fields tui/dialog.List":                {Max: 20, Why: "one list with its filter and its preview"},
	"fields tui/markdown.language":          {Max: 16, Why: "one for each trait of a language"},
	"fields tui/memory.Settings":            {Max: 21, Why: "one for each thing that the screen remembers"},
	"fields tui/status.Values":              {Max: 25, Why: "one for each thing that the line shows"},
	"fields tui/style.Theme":                {Max: 54, Why: "one for each color"},
	"fields workspace/gitguard.Watch":       {Max: 16, Why: "what was seen of a repository"},
	"fields workspace/search.dfa":           {Max: 16, Why: "one automaton with its caches"},
	"fields workspace/snapshot.sharedTree":  {Max: 22, Why: "to be cut: the index apart from the walk"},
	"exported config":                       {Max: 68, Why: "one type for each group of settings"},
	"lines config":                          {Max: 6550, Why: "tables of settings, and the files of another program as sources of them"},
	"lines engine":                          {Max: 10720, Why: "the loop of turns, with retries, compaction, sub-agents, recovery, nodes of a cluster, rewinds and merges of worktrees"},
	"lines lathe":                           {Max: 5690, Why: "the vocabulary of the wire"},
	"lines sandbox":                         {Max: 7400, Why: "three systems behind one interface"},
	"lines server":                          {Max: 8870, Why: "one file for each family of routes, and what every route needs: the credentials of devices, and the way to the node with a directory"},
	"lines tui":                             {Max: 7120, Why: "the controllers of the screen"},
	"lines store":                           {Max: 7000, Why: "SQL is written nowhere else: sessions, feed, leases and their takeover, budgets, background commands, the board, the search and its index, the life of large values, and what is read ahead over a network"},
	"lines workspace/snapshot":              {Max: 5900, Why: "one store of trees; see its DESIGN.md"},
	"methods client.Client":                 {Max: 68, Why: "one for each verb of the API, so that it can stand where an engine does"},
	"methods store.Store":                   {Max: 82, Why: "one for each question to the store: SQL is written nowhere else"},
	"methods store.txn":                     {Max: 68, Why: "one for each thing that a transaction writes: they share its numbers, its events and its time"},
	"methods workspace/patch.search":        {Max: 54, Why: "the ways to find the place of a change"},
	"methods workspace/snapshot.sharedTree": {Max: 61, Why: "to be cut: the index apart from the walk"},
}

func TestArch_Budgets(t *testing.T) {
	archReport(t, archTree(t).Budgets(archBudgets, archCeilings))
}
