package engine_test

import (
	"strconv"
	"strings"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine"
)

// lasting reads what a transcript says of budgets, deadlines and models in place of others.
func (p *playing) lasting(s *engine.StepSettings) {
	p.Helper()
	p.long(s)
	p.checking(s)
	for _, line := range p.script.settings {
		switch line[0] {
		case "budget":
			of := map[string]*lathe.Spending{"session": &s.Budget.Session, "day": &s.Budget.Day, "project": &s.Budget.Project}[line[1]]
			*of = p.spending(line[2:])
		case "share":
			s.Budget.Share, _ = strconv.ParseFloat(line[1], 64)
		case "fallback":
			s.Fallback.Models = refs(line[1:])
		case "agent-fallback":
			s.Agents[0].Fallback = refs(line[1:])
		case "fallback-unauthorized":
			s.Fallback.Unauthorized = line[1] == "yes"
		case "deadline":
			for _, word := range line[1:] {
				name, value, _ := strings.Cut(word, "=")
				d, err := time.ParseDuration(value)
				p.ok(err)
				*map[string]*time.Duration{"tool": &s.Deadlines.Tool, "ask": &s.Deadlines.Ask, "subagent": &s.Deadlines.Subagent}[name] = d
			}
		}
	}
}

func refs(names []string) (out []lathe.ModelRef) {
	for _, name := range names {
		vendor, id, _ := strings.Cut(name, "/")
		out = append(out, lathe.ModelRef{Provider: vendor, Model: id})
	}
	return out
}

// spending reads words like cost=0.5 and time=10s.
func (p *playing) spending(words []string) (s lathe.Spending) {
	p.Helper()
	for _, word := range words {
		name, value, _ := strings.Cut(word, "=")
		var err error
		var cost float64
		switch name {
		case "cost":
			cost, err = strconv.ParseFloat(value, 64)
			s.Cost = lathe.Dollars(cost)
		case "tokens":
			s.Tokens, err = strconv.ParseInt(value, 10, 64)
		case "steps":
			s.Steps, err = strconv.ParseInt(value, 10, 64)
		case "time":
			s.Time, err = time.ParseDuration(value)
		}
		p.ok(err)
	}
	return s
}

// actOnBudgets does the lines about money.
func (p *playing) actOnBudgets(w []string) bool {
	p.Helper()
	switch w[0] {
	case "limit":
		p.note(p.SetLimits(p.Context(), p.session, p.spending(w[1:])))
	case "spent":
		accounts, err := p.Accounts(p.Context(), p.session, lathe.Budget{})
		p.ok(err)
		for _, a := range accounts {
			words := []string{"spent on", string(a.Kind), a.Spent.Cost.String(), strconv.FormatInt(a.Spent.Tokens, 10), "tokens", strconv.FormatInt(a.Spent.Steps, 10), "steps", a.Spent.Time.String()}
			if !a.Reserved.IsZero() {
				words = append(words, "and held", a.Reserved.Cost.String())
			}
			p.shown.line(strings.Join(words, " "))
		}
	default:
		return false
	}
	return true
}
