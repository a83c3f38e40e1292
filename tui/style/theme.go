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

// Theme is a set of colors by purpose, named as in theme files; see names.
type Theme struct {
	Name string

	Primary, Secondary, Accent     Color
	Error, Warning, Success, Info  Color
	Text, TextMuted                Color
	SelectedText                   Color `name:"selectedListItemText"`
	Background                     Color
	BackgroundPanel                Color // panels and messages of the user
	BackgroundElement              Color // inputs, code, hovered elements
	BackgroundMenu                 Color
	Border, BorderActive           Color
	BorderSubtle                   Color
	DiffAdded, DiffRemoved         Color
	DiffContext, DiffHunkHeader    Color
	DiffHighlightAdded             Color
	DiffHighlightRemoved           Color
	DiffAddedBg, DiffRemovedBg     Color
	DiffContextBg, DiffLineNumber  Color
	DiffAddedLineNumberBg          Color
	DiffRemovedLineNumberBg        Color
	MarkdownText, MarkdownHeading  Color
	MarkdownLink, MarkdownLinkText Color
	MarkdownCode                   Color
	MarkdownBlockQuote             Color
	MarkdownEmph, MarkdownStrong   Color
	MarkdownHorizontalRule         Color
	MarkdownListItem               Color
	MarkdownListEnumeration        Color
	MarkdownImage                  Color
	MarkdownImageText              Color
	MarkdownCodeBlock              Color
	SyntaxComment, SyntaxKeyword   Color
	SyntaxFunction, SyntaxVariable Color
	SyntaxString, SyntaxNumber     Color
	SyntaxType, SyntaxOperator     Color
	SyntaxPunctuation              Color

	ThinkingOpacity float64 // how much of the text's color reasoning keeps, 0 to 1
}

// Hint is a key and its label.
func (t *Theme) Hint(key, does string) Line {
	return Of(key, Fg(t.Text)).Add(" "+does, Fg(t.TextMuted))
}

// UsageColor is the warning color of a usage in percent, none below 75.
func (t *Theme) UsageColor(percent int) Color {
	switch {
	case percent >= 90:
		return t.Error
	case percent >= 75:
		return t.Warning
	default:
		return Color{}
	}
}

// Todo is the box before something to do and how both look, by its status.
func (t *Theme) Todo(status string) (box string, a Attr) {
	switch status {
	case "completed":
		return "[✓] ", Fg(t.Success)
	case "in_progress":
		return "[•] ", Fg(t.Warning)
	case "cancelled":
		return "[–] ", Attr{FG: t.TextMuted, Strike: true}
	default:
		return "[ ] ", Fg(t.TextMuted)
	}
}

// Thinking is the color of reasoning.
func (t *Theme) Thinking() Color {
	share := t.ThinkingOpacity
	if share <= 0 || share > 1 {
		share = 0.6
	}
	if mixed := t.Text.Blend(t.Background, share); mixed != t.Text {
		return mixed
	}
	return t.TextMuted
}

// Dim makes a line recede behind something that lies over it.
func (t *Theme) Dim(l Line) Line {
	return l.With(func(a Attr) Attr {
		return Attr{FG: a.FG.Or(t.Text).Blend(a.BG.Or(t.Background), 0.35).Or(t.TextMuted), BG: a.BG.Blend(RGB(0, 0, 0), 0.6), Faint: a.FG.kind != trueColor}
	})
}

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

// checkNames reports misspelled names, which would silently have no effect. Other unknown names
// may come from a newer version and are ignored.
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
