package main

import (
	"context"
	"strings"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/config"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/internal/termtext"
	"github.com/lathe-agent/lathe/model/catalog"
)

// childShare is the part of its parent's budget a child may draw, where nothing else is said.
const childShare = 0.5

// bound is a limit of the settings as the engine takes it: 0 is its default, negative none.
func bound(l config.Limit) time.Duration {
	if l.Off {
		return -1
	}
	return time.Duration(l.Milliseconds) * time.Millisecond
}

func retryOf(r config.Retry) engine.Retry {
	out := engine.Retry{MaxWait: bound(r.MaxWait)}
	if r.Attempts != nil {
		if out.Attempts = *r.Attempts; out.Attempts == 0 {
			out.Attempts = -1
		}
	}
	return out
}

// compactionOf is how the engine is to compress histories; a 0 of the settings is none to it.
func compactionOf(c config.Compaction) engine.Compaction {
	number := func(n *int) int {
		switch {
		case n == nil:
			return 0
		case *n == 0:
			return -1
		}
		return *n
	}
	return engine.Compaction{
		Off: c.Auto != nil && !*c.Auto, Prune: c.Prune != nil && *c.Prune,
		Reserved: number(c.Reserved), TailTurns: number(c.TailTurns), Recent: number(c.PreserveRecentTokens),
	}
}

func budgetOf(b config.Budget) lathe.Budget {
	out := lathe.Budget{Session: spendingOf(b.Session), Day: spendingOf(b.Day), Project: spendingOf(b.Project), Share: b.Share}
	if out.Share <= 0 || out.Share > 1 {
		out.Share = childShare
	}
	return out
}

func spendingOf(s config.Spending) lathe.Spending {
	return lathe.Spending{Cost: max(lathe.Dollars(s.Cost), 0), Tokens: int64(s.Tokens), Steps: int64(s.Steps), Time: time.Duration(s.Time) * time.Millisecond}
}

// modelRefs reads names of models; what is no name was told when the settings were checked.
func modelRefs(names []string) (out []lathe.ModelRef) {
	for _, name := range names {
		if vendor, id, err := catalog.Split(name); err == nil {
			out = append(out, lathe.ModelRef{Provider: vendor, Model: id})
		}
	}
	return out
}

// accounts are what a session has spent, and its limits as the settings here say.
func (a *hostEnv) accounts(ctx context.Context, e api.Engine, s lathe.Session) ([]lathe.Account, error) {
	own, ok := e.(api.Local)
	if !ok {
		return nil, nil // a server keeps them, and tells nobody
	}
	var b lathe.Budget
	if l, err := a.in(s.Directory).settings(); err == nil { // a broken file limits nothing here
		b = budgetOf(l.Config.Budget)
	}
	return own.Accounts(ctx, s.ID, b)
}

// spentOf says how much of its limits an account has used; nothing where there are none.
func spentOf(acc lathe.Account) string {
	var parts []string
	add := func(limited bool, spent, limit string) {
		if limited {
			parts = append(parts, spent+" of "+limit)
		}
	}
	add(acc.Limit.Cost > 0, acc.Spent.Cost.String(), acc.Limit.Cost.String())
	add(acc.Limit.Tokens > 0, termtext.Count(acc.Spent.Tokens), termtext.Count(acc.Limit.Tokens)+" tokens")
	add(acc.Limit.Steps > 0, termtext.Count(acc.Spent.Steps), termtext.Count(acc.Limit.Steps)+" steps")
	add(acc.Limit.Time > 0, acc.Spent.Time.Round(time.Second).String(), acc.Limit.Time.String())
	return strings.Join(parts, ", ")
}

// budgetRows are the lines of session show about money and its limits.
func budgetRows(accounts []lathe.Account) (rows [][2]string) {
	for i, acc := range accounts {
		name := map[lathe.AccountKind]string{lathe.SessionAccount: "Budget", lathe.DayAccount: "Budget today", lathe.ProjectAccount: "Budget of project"}[acc.Kind]
		if acc.Kind == lathe.SessionAccount && i > 0 {
			name = "Budget above"
		}
		if text := spentOf(acc); text != "" {
			rows = append(rows, [2]string{name, text})
		}
	}
	return rows
}

// budgetLine is what the last line of run says: the account that is nearest to its limit.
func budgetLine(accounts []lathe.Account) string {
	var best lathe.Account
	most := -1.0
	for _, acc := range accounts {
		for _, m := range [][2]float64{
			{float64(acc.Spent.Cost), float64(acc.Limit.Cost)},
			{float64(acc.Spent.Tokens), float64(acc.Limit.Tokens)},
			{float64(acc.Spent.Steps), float64(acc.Limit.Steps)},
			{float64(acc.Spent.Time), float64(acc.Limit.Time)},
		} {
			if m[1] > 0 && m[0]/m[1] > most {
				best, most = acc, m[0]/m[1]
			}
		}
	}
	if most < 0 {
		return ""
	}
	whose := map[lathe.AccountKind]string{lathe.SessionAccount: "budget ", lathe.DayAccount: "budget today ", lathe.ProjectAccount: "budget of the project "}[best.Kind]
	return whose + spentOf(best)
}

// imagesOf is how images are made smaller, as the engine has it.
func imagesOf(c config.ImageAttachment) engine.Images {
	return engine.Images{Off: c.AutoResize != nil && !*c.AutoResize, Width: c.MaxWidth, Height: c.MaxHeight, Bytes: c.MaxBase64Bytes}
}
