package style

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe/internal/text"
)

// names lists the colours of a theme as theme files call them, each with its place.
func (t *Theme) names() []named {
	return []named{
		{"primary", &t.Primary},
		{"secondary", &t.Secondary},
		{"accent", &t.Accent},
		{"error", &t.Error},
		{"warning", &t.Warning},
		{"success", &t.Success},
		{"info", &t.Info},
		{"text", &t.Text},
		{"textMuted", &t.TextMuted},
		{"selectedListItemText", &t.SelectedText},
		{"background", &t.Background},
		{"backgroundPanel", &t.BackgroundPanel},
		{"backgroundElement", &t.BackgroundElement},
		{"backgroundMenu", &t.BackgroundMenu},
		{"border", &t.Border},
		{"borderActive", &t.BorderActive},
		{"borderSubtle", &t.BorderSubtle},
		{"diffAdded", &t.DiffAdded},
		{"diffRemoved", &t.DiffRemoved},
		{"diffContext", &t.DiffContext},
		{"diffHunkHeader", &t.DiffHunkHeader},
		{"diffHighlightAdded", &t.DiffHighlightAdded},
		{"diffHighlightRemoved", &t.DiffHighlightRemoved},
		{"diffAddedBg", &t.DiffAddedBg},
		{"diffRemovedBg", &t.DiffRemovedBg},
		{"diffContextBg", &t.DiffContextBg},
		{"diffLineNumber", &t.DiffLineNumber},
		{"diffAddedLineNumberBg", &t.DiffAddedLineNumberBg},
		{"diffRemovedLineNumberBg", &t.DiffRemovedLineNumberBg},
		{"markdownText", &t.MarkdownText},
		{"markdownHeading", &t.MarkdownHeading},
		{"markdownLink", &t.MarkdownLink},
		{"markdownLinkText", &t.MarkdownLinkText},
		{"markdownCode", &t.MarkdownCode},
		{"markdownBlockQuote", &t.MarkdownBlockQuote},
		{"markdownEmph", &t.MarkdownEmph},
		{"markdownStrong", &t.MarkdownStrong},
		{"markdownHorizontalRule", &t.MarkdownHorizontalRule},
		{"markdownListItem", &t.MarkdownListItem},
		{"markdownListEnumeration", &t.MarkdownListEnumeration},
		{"markdownImage", &t.MarkdownImage},
		{"markdownImageText", &t.MarkdownImageText},
		{"markdownCodeBlock", &t.MarkdownCodeBlock},
		{"syntaxComment", &t.SyntaxComment},
		{"syntaxKeyword", &t.SyntaxKeyword},
		{"syntaxFunction", &t.SyntaxFunction},
		{"syntaxVariable", &t.SyntaxVariable},
		{"syntaxString", &t.SyntaxString},
		{"syntaxNumber", &t.SyntaxNumber},
		{"syntaxType", &t.SyntaxType},
		{"syntaxOperator", &t.SyntaxOperator},
		{"syntaxPunctuation", &t.SyntaxPunctuation},
	}
}

type named struct {
	name  string
	color *Color
}

// isName reports whether theme files may use this name for a colour.
func isName(s string) bool {
	return slices.ContainsFunc(new(Theme).names(), func(n named) bool { return n.name == s })
}

// checkNames finds names that are nearly right: those would have no effect and nobody would know why. Names
// that are like none of ours may be from a newer program and do no harm.
func (r *resolver) checkNames() error {
	for _, k := range slices.Sorted(maps.Keys(r.theme)) {
		if k == "thinkingOpacity" || isName(k) || len(k) > 40 {
			continue
		}
		for _, n := range new(Theme).names() {
			if strings.EqualFold(k, n.name) || text.Distance([]rune(k), []rune(n.name)) <= 2 {
				return fmt.Errorf("unknown key %q: did you mean %q?", Clean(k), n.name)
			}
		}
	}
	return nil
}
