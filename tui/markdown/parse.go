package markdown

import (
	"slices"
	"sync"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// leafParser reads what stands within one leaf. Lists, quotes and code are not among it: the scanner has
// taken them apart.
var leafParser = sync.OnceValue(func() parser.Parser {
	at := func(v any, priority int) util.PrioritizedValue { return util.Prioritized(v, priority) }
	return parser.NewParser(
		parser.WithBlockParsers(
			at(parser.NewSetextHeadingParser(), 100),
			at(parser.NewATXHeadingParser(), 600),
			at(parser.NewParagraphParser(), 1000),
		),
		parser.WithInlineParsers(
			at(parser.NewCodeSpanParser(), 100),
			at(parser.NewLinkParser(), 200),
			at(parser.NewAutoLinkParser(), 300),
			at(parser.NewRawHTMLParser(), 400),
			at(parser.NewEmphasisParser(), 500),
			at(extension.NewStrikethroughParser(), 500),
			at(extension.NewLinkifyParser(), 999),
		),
		parser.WithParagraphTransformers(
			at(parser.LinkReferenceParagraphTransformer, 100),
			at(extension.NewTableParagraphTransformer(), 200),
		),
		parser.WithASTTransformers(at(extension.NewTableASTTransformer(), 0)),
	)
})

// parse reads a leaf, with links that are defined elsewhere.
func parse(src []byte, refs []parser.Reference) (ast.Node, parser.Context) {
	pc := parser.NewContext()
	for _, r := range refs {
		pc.AddReference(r)
	}
	return leafParser().Parse(text.NewReader(src), parser.WithContext(pc)), pc
}

// definitions returns what a leaf defines, in an order that is always the same.
func definitions(pc parser.Context) []parser.Reference {
	out := pc.References()
	slices.SortFunc(out, func(a, b parser.Reference) int { return slices.Compare(a.Label(), b.Label()) })
	return out
}
