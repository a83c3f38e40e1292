package style

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe/internal/phrase"
)

// names lists the colors of a theme as theme files call them, each with its place: the fields of Theme in small letters at
// the beginning.
func (t *Theme) names() []named {
	var out []named
	for field, value := range reflect.ValueOf(t).Elem().Fields() {
		if color, ok := value.Addr().Interface().(*Color); ok {
			name := strings.ToLower(field.Name[:1]) + field.Name[1:]
			out = append(out, named{cmp.Or(field.Tag.Get("name"), name), color})
		}
	}
	return out
}

type named struct {
	name  string
	color *Color
}

// checkNames finds names that are nearly right: those would have no effect and nobody would know why. Names
// that are like none of ours may be from a newer program and do no harm.
func (r *resolver) checkNames() error {
	for _, k := range slices.Sorted(maps.Keys(r.theme)) {
		if k == "thinkingOpacity" || slices.ContainsFunc(new(Theme).names(), func(n named) bool { return n.name == k }) || len(k) > 40 {
			continue
		}
		for _, n := range new(Theme).names() {
			if strings.EqualFold(k, n.name) || phrase.Distance([]rune(k), []rune(n.name)) <= 2 {
				return fmt.Errorf("unknown key %q: did you mean %q?", Clean(k), n.name)
			}
		}
	}
	return nil
}
