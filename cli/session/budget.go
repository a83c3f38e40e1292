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

// BudgetAccounts are what a session has spent, and its limits as the settings here say.
func BudgetAccounts(ctx context.Context, a *harness.Host, e api.Engine, s lathe.Session) ([]lathe.Account, error) {
	own, ok := e.(api.Local)
	if !ok {
		return nil, nil // a server keeps them, and tells nobody
	}
	var b lathe.Budget
	if l, err := a.WithDir(s.Directory).Config(); err == nil { // a broken file limits nothing here
		b = harness.BudgetOf(l.Config.Budget)
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

// BudgetLine is what the last line of run says: the account that is nearest to its limit.
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
	whose := map[lathe.AccountKind]string{lathe.SessionAccount: "budget ", lathe.DayAccount: "budget today ", lathe.ProjectAccount: "budget of the project "}[best.Kind]
	return whose + spentOf(best)
}
