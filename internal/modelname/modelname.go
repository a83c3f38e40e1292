// Package modelname orders models by age and finds one by a part of its name, such as "sonnet". It is pure and knows
// only names: prices, limits and credentials are elsewhere.
//
// Start reading at Find.
package modelname

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe/internal/phrase"
)

// Model is the name of a model.
type Model struct {
	Provider, ID string
	Name         string // for people; "" means none
	Released     string // 2025-10-01; "" is not known
}

// Ref is the full name: provider/model.
func (m Model) Ref() string { return m.Provider + "/" + m.ID }

// Sort puts the newest first: by date if all have one, otherwise by the version in the ID. The built-in catalog has
// few dates, and comparing a date with a version would not be an order.
func Sort[T any](all []T, of func(T) Model) {
	dated := !slices.ContainsFunc(all, func(t T) bool { return of(t).Released == "" })
	slices.SortStableFunc(all, func(x, y T) int {
		a, b := of(x), of(y)
		return cmp.Or(compareAge(a, b, dated), strings.Compare(strings.ToLower(cmp.Or(a.Name, a.ID)), strings.ToLower(cmp.Or(b.Name, b.ID))), strings.Compare(a.ID, b.ID))
	})
}

// compareAge is negative if a is newer.
func compareAge(a, b Model, dated bool) int {
	if dated {
		return strings.Compare(b.Released, a.Released)
	}
	return slices.Compare(Version(b.ID), Version(a.ID))
}

// Version returns the numbers in an ID, without dates and sizes: 4, 5 for claude-opus-4-5-20251101 and 3 for
// qwen-3-70b.
func Version(id string) (out []int) {
	const mostDigits = 3 // longer numbers are dates
	if i := strings.LastIndexByte(id, '/'); i >= 0 {
		id = id[i+1:] // the vendor, on a provider of many
	}
	for i := 0; i < len(id); {
		if id[i] < '0' || id[i] > '9' {
			i++
			continue
		}
		n, from := 0, i
		for i < len(id) && id[i] >= '0' && id[i] <= '9' {
			n, i = min(n*10+int(id[i]-'0'), 1<<30), i+1
		}
		size := i < len(id) && (id[i] == 'b' || id[i] == 'B' || id[i] == 'k' || id[i] == 'm')
		if i-from <= mostDigits && !size {
			out = append(out, n)
		}
	}
	return out
}

// words splits a name at everything that is neither a letter nor a digit.
func words(s string) []string {
	return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r < 0x80
	})
}

// ErrNotFound is the error of a name that fits no model.
var ErrNotFound = errors.New("no such model")

// Ambiguous is the error of a name that fits several models equally.
type Ambiguous struct {
	Name       string
	Candidates []string // full names
}

func (e *Ambiguous) Error() string {
	return fmt.Sprintf("%q fits %s; write one of these names", phrase.Clip(e.Name), list(e.Candidates))
}

// list joins names, at most six.
func list(names []string) string {
	const most = 6
	if len(names) > most {
		return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", len(names)-most)
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// Find returns the model that a name means among those that can be used: the one with exactly this full name or ID,
// otherwise the newest whose ID or name contains its words one after the other, and of several with the same age the
// one with the shortest ID. Before a slash stands a provider. If the models of several providers fit, those of the
// first preferred one count.
func Find(name string, all []Model, prefer []string) (Model, error) {
	fit := matching(name, all)
	if len(fit) == 0 {
		return Model{}, notFound(name, all)
	}
	fit = byProvider(fit, prefer)
	Sort(fit, func(m Model) Model { return m })
	dated := !slices.ContainsFunc(fit, func(m Model) bool { return m.Released == "" })
	best := slices.DeleteFunc(slices.Clone(fit), func(m Model) bool { return compareAge(fit[0], m, dated) != 0 })
	least := slices.MinFunc(best, func(a, b Model) int { return len(words(a.ID)) - len(words(b.ID)) })
	best = slices.DeleteFunc(best, func(m Model) bool { return len(words(m.ID)) > len(words(least.ID)) })
	if len(best) == 1 {
		return best[0], nil
	}
	return Model{}, ambiguous(name, best)
}

func ambiguous(name string, fit []Model) error {
	e := &Ambiguous{Name: name}
	for _, m := range fit {
		e.Candidates = append(e.Candidates, m.Ref())
	}
	return e
}

// matching returns the models that fit, and only the exact ones if there are any.
func matching(name string, all []Model) (fit []Model) {
	provider, rest, within := strings.Cut(name, "/")
	within = within && slices.ContainsFunc(all, func(m Model) bool { return m.Provider == provider })
	if !within {
		rest = name
	}
	want := words(rest)
	for _, exact := range []bool{true, false} {
		for _, m := range all {
			switch {
			case within && m.Provider != provider, len(want) == 0:
			case exact && (strings.EqualFold(m.ID, rest) || strings.EqualFold(m.Name, rest)),
				!exact && (contains(words(m.ID), want) || contains(words(m.Name), want)):
				fit = append(fit, m)
			}
		}
		if len(fit) > 0 {
			return fit
		}
	}
	return nil
}

// contains reports whether the words of part stand in whole, one after the other.
func contains(whole, part []string) bool {
	for i := 0; len(part) > 0 && i+len(part) <= len(whole); i++ {
		if slices.Equal(whole[i:i+len(part)], part) {
			return true
		}
	}
	return false
}

// byProvider keeps the models of the first preferred provider, or all if none is preferred.
func byProvider(fit []Model, prefer []string) []Model {
	for _, p := range prefer {
		if own := slices.DeleteFunc(slices.Clone(fit), func(m Model) bool { return m.Provider != p }); len(own) > 0 {
			return own
		}
	}
	return fit
}

// notFound suggests similar names.
func notFound(name string, all []Model) error {
	names := map[string]string{} // by what a person may have meant
	for _, m := range all {
		names[m.Ref()], names[m.ID] = m.Ref(), m.Ref()
		for _, w := range words(m.ID) {
			if len(w) > 3 && w[0] > '9' && len(words(name)) == 1 {
				names[w] = w
			}
		}
	}
	keys := make([]string, 0, len(names))
	for k := range names {
		keys = append(keys, k)
	}
	var near []string
	for _, k := range phrase.Similar(name, keys) {
		if !slices.Contains(near, names[k]) {
			near = append(near, names[k])
		}
	}
	return fmt.Errorf("model %q not found%s \"lathe models\" lists the models%w", phrase.Clip(name), phrase.DidYouMean(near), hidden{ErrNotFound})
}

// hidden is an error to compare with, without a text.
type hidden struct{ error }

func (hidden) Error() string   { return "" }
func (h hidden) Unwrap() error { return h.error }
