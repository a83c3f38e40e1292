package session

import (
	"context"
	"strings"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/harness"
	"github.com/lathe-agent/lathe/internal/termtext"
)

// BudgetAccounts returns the usage of a session and the limits in the config.
func BudgetAccounts(ctx context.Context, a *harness.Host, e api.Engine, s lathe.Session) ([]lathe.Account, error) {
	own, ok := e.(api.Local)
	if !ok {
		return nil, nil // a server does not expose them
	}
	var b lathe.Budget
	if l, err := a.WithDir(s.Directory).Config(); err == nil { // without a valid config there are no limits to show
		b = harness.BudgetOf(l.Config.Budget)
	}
	return own.Accounts(ctx, s.ID, b)
}

// spentOf formats the usage of an account against its limits, or "" without limits.
func spentOf(acc lathe.Account) string {
	var parts []string
	add := func(limited bool, spent, limit string) {
		if limited {
			parts = append(parts, spent+" of "+limit)
		}
	}
	add(acc.Limit.Cost > 0, acc.Spent.Cost.Short(), acc.Limit.Cost.Short())
	add(acc.Limit.Tokens > 0, termtext.Count(acc.Spent.Tokens), termtext.Count(acc.Limit.Tokens)+" tokens")
	add(acc.Limit.Steps > 0, termtext.Count(acc.Spent.Steps), termtext.Count(acc.Limit.Steps)+" steps")
	add(acc.Limit.Time > 0, acc.Spent.Time.Round(time.Second).String(), acc.Limit.Time.String())
	return strings.Join(parts, ", ")
}

// budgetRows returns the budget lines of session show.
func budgetRows(accounts []lathe.Account) (rows [][2]string) {
	for i, acc := range accounts {
		name := map[lathe.AccountKind]string{lathe.SessionAccount: "Budget", lathe.DayAccount: "Budget today", lathe.ProjectAccount: "Project budget"}[acc.Kind]
		if acc.Kind == lathe.SessionAccount && i > 0 {
			name = "Parent budget"
		}
		if text := spentOf(acc); text != "" {
			rows = append(rows, [2]string{name, text})
		}
	}
	return rows
}

// BudgetLine returns the account closest to its limit, for the summary of run.
func BudgetLine(accounts []lathe.Account) string {
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
	whose := map[lathe.AccountKind]string{lathe.SessionAccount: "budget ", lathe.DayAccount: "budget today ", lathe.ProjectAccount: "project budget "}[best.Kind]
	return whose + spentOf(best)
}
