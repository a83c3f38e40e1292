package web

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/strikethrough"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/table"
	"github.com/lathe-agent/lathe/internal/phrase"
	"github.com/lathe-agent/lathe/tool"
	"golang.org/x/net/html"
)

// markdown renders the page.
func (p page) markdown() (string, error) {
	conv := converter.NewConverter(converter.WithPlugins(
		base.NewBasePlugin(),
		commonmark.NewCommonmarkPlugin(
			commonmark.WithHorizontalRule("---"), commonmark.WithBulletListMarker("-"),
			commonmark.WithEmDelimiter("*"), commonmark.WithListEndComment(false),
		),
		strikethrough.NewStrikethroughPlugin(),
		table.NewTablePlugin(
			table.WithCellPaddingBehavior(table.CellPaddingBehaviorMinimal), table.WithHeaderPromotion(true),
			table.WithSkipEmptyRows(true),
		),
	))
	out, err := conv.ConvertNode(p.root)
	return strings.TrimSpace(strings.ToValidUTF8(string(out), "\ufffd")), err
}

// plain renders the page as its words, with a line for each block.
func (p page) plain() string {
	var w plainText
	w.node(p.root, false)
	return strings.TrimSpace(w.out.String())
}

// plainText is a text that is being put together.
type plainText struct {
	out   strings.Builder
	space bool // to be written before the next word
	lines int  // line ends at the end
}

func (w *plainText) node(n *html.Node, pre bool) {
	if n.Type == html.TextNode {
		w.text(n.Data, pre)
		return
	}
	breaks := 0
	switch n.Data {
	case "br", "li", "tr", "div":
		breaks = 1
	case "p", "h1", "h2", "h3", "h4", "h5", "h6", "pre", "blockquote", "ul", "ol", "table", "hr":
		breaks = 2
	case "td", "th":
		w.space = true
	}
	if n.Data != "br" {
		w.line(breaks)
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		w.node(c, pre || n.Data == "pre")
	}
	if n.Data == "br" {
		w.lines, w.space = 0, false // two of them are an empty line
	}
	w.line(breaks)
}

func (w *plainText) text(s string, pre bool) {
	if pre {
		w.out.WriteString(s)
		w.space, w.lines = false, len(s)-len(strings.TrimRight(s, "\n"))
		return
	}
	for i, word := range strings.Fields(s) {
		if i > 0 || startsWithSpace(s) {
			w.space = true
		}
		if w.space && w.lines == 0 && w.out.Len() > 0 {
			w.out.WriteByte(' ')
		}
		w.out.WriteString(word)
		w.space, w.lines = false, 0
	}
	if s != "" && strings.TrimRight(s, " \t\r\n\f") != s {
		w.space = true
	}
}

func startsWithSpace(s string) bool { return strings.TrimLeft(s, " \t\r\n\f") != s }

func (w *plainText) line(n int) {
	for ; w.lines < n && w.out.Len() > 0; w.lines++ {
		w.out.WriteByte('\n')
	}
	if n > 0 {
		w.space = false
	}
}

var (
	metaCharset = phrase.Regexp(`(?i)<meta[^>]{0,200}charset\s*=\s*["']?\s*([a-z0-9_:.-]{1,40})`)
	xmlCharset  = phrase.Regexp(`^\s*<\?xml[^>]{0,200}encoding\s*=\s*["']([A-Za-z0-9_:.-]{1,40})`)
	mdHeading   = phrase.Regexp(`^#{1,6} \S`)
)

// textFrom decodes a body. The charset is what the server said, "" if nothing; lost names one
// that is not known here, of which only what is ASCII is right.
func textFrom(body []byte, charset string) (text, lost string) {
	for _, mark := range []struct{ bom, charset string }{{phrase.BOM, "utf-8"}, {"\xff\xfe", "utf-16le"}, {"\xfe\xff", "utf-16be"}} {
		if rest, ok := bytes.CutPrefix(body, []byte(mark.bom)); ok {
			body, charset = rest, mark.charset
			break
		}
	}
	if charset == "" {
		charset = charsetWithin(body)
	}
	switch strings.ToLower(charset) {
	case "utf-16", "utf-16le":
		return utf16Text(body, 0), ""
	case "utf-16be":
		return utf16Text(body, 1), ""
	case "iso-8859-1", "latin1", "windows-1252", "cp1252", "us-ascii", "ascii":
		if !utf8.Valid(body) { // servers say it of all they have
			return latinText(body), ""
		}
	case "", "utf-8", "utf8":
	default:
		if !utf8.Valid(body) {
			lost = charset
		}
	}
	return strings.ToValidUTF8(string(body), "\ufffd"), lost
}

// charsetWithin is what a document says of itself. One that says nothing is UTF-8 if it can be.
func charsetWithin(body []byte) string {
	head := body[:min(len(body), 2048)]
	for _, re := range []*regexp.Regexp{metaCharset(), xmlCharset()} {
		if m := re.FindSubmatch(head); m != nil {
			if name := strings.ToLower(string(m[1])); !strings.HasPrefix(name, "utf-16") { // it could be read
				return name
			}
		}
	}
	if !utf8.Valid(body) && !bytes.Contains(head, []byte{0}) {
		return "windows-1252"
	}
	return ""
}

// utf16Text decodes UTF-16 whose lower byte is the first or the second of two.
func utf16Text(body []byte, low int) string {
	units := make([]uint16, len(body)/2)
	for i := range units {
		units[i] = uint16(body[2*i+low]) | uint16(body[2*i+1-low])<<8
	}
	return string(utf16.Decode(units))
}

func latinText(body []byte) string {
	// The only place where windows-1252, which is meant by all of these names, is not Latin-1.
	high := []rune("€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ")
	var out strings.Builder
	for _, b := range body {
		if b >= 0x80 && b < 0xa0 {
			out.WriteRune(high[b-0x80])
		} else {
			out.WriteRune(rune(b))
		}
	}
	return out.String()
}

// outline lists the headings of a Markdown text that is too long to be shown, with the lines
// they have in the whole output, which the text begins after so many lines; "" where it is
// short or has none.
func outline(text string, limits tool.Limits, before int) string {
	if _, _, cut := limits.Truncate(text, false); !cut {
		return ""
	}
	const most = 40
	type heading struct {
		line int
		text string
	}
	var all []heading
	fenced, is := false, mdHeading()
	n := 0
	for line := range strings.SplitSeq(text, "\n") {
		n++
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		}
		if !fenced && is.MatchString(line) && len(all) < most {
			all = append(all, heading{n, phrase.Clip(line)})
		}
	}
	if len(all) < 2 {
		return ""
	}
	var out strings.Builder
	out.WriteString("It is too long to be shown whole. Its headings, with their lines in the whole output:\n")
	for _, h := range all {
		fmt.Fprintf(&out, "%d: %s\n", before+1+len(all)+h.line, h.text)
	}
	return out.String()
}
