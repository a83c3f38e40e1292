package acp

import (
	"encoding/base64"
	"fmt"
	"mime"
	"net/url"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/acp/wire"
	"github.com/lathe-agent/lathe/internal/phrase"
)

// promptBuilder makes the parts of a prompt from content blocks. Texts are joined to one, in which a mention stands for
// each file, as in prompts that are typed.
type promptBuilder struct {
	text  strings.Builder
	units int // of text, in UTF-16
	files []lathe.Part
}

// promptParts translates the content of a prompt. The text comes first.
func promptParts(blocks []wire.ContentBlock) ([]lathe.Part, error) {
	var b promptBuilder
	for i, block := range blocks {
		if err := b.add(block); err != nil {
			return nil, invalidf("prompt[%d]: %w", i, err)
		}
	}
	if strings.TrimSpace(b.text.String()) == "" && len(b.files) == 0 {
		return nil, invalidf("the prompt is empty")
	}
	parts := []lathe.Part{}
	if b.text.Len() > 0 {
		parts = append(parts, lathe.Part{Body: &lathe.Text{Text: b.text.String()}})
	}
	return append(parts, b.files...), nil
}

// write adds to the text and counts its units, because mentions have their places in UTF-16.
func (b *promptBuilder) write(text string) {
	b.text.WriteString(text)
	b.units += lathe.UTF16Len(text)
}

// add adds one block. A kind of content that is unknown is an error: the user would not notice that it is missing.
func (b *promptBuilder) add(block wire.ContentBlock) error {
	switch {
	case block.Text != nil:
		b.write(block.Text.Text)
	case block.Image != nil:
		return b.data(block.Image.MimeType, block.Image.Data, block.Image.URI)
	case block.Audio != nil:
		return b.data(block.Audio.MimeType, block.Audio.Data, "")
	case block.ResourceLink != nil:
		b.link(block.ResourceLink)
	case block.Resource != nil:
		return b.resource(block.Resource.Resource)
	default:
		return invalidf("unknown type of content; use text, image, audio, resource_link or resource")
	}
	return nil
}

// data attaches an image or a recording.
func (b *promptBuilder) data(kind, data, uri string) error {
	if _, _, err := mime.ParseMediaType(kind); err != nil || !strings.Contains(kind, "/") {
		return invalidf("%q is not a media type", oneLine(kind, 60))
	}
	if _, err := base64.StdEncoding.DecodeString(data); err != nil {
		return invalidf("the data is not base64: %w", err)
	}
	b.files = append(b.files, lathe.Part{Body: &lathe.File{Mime: kind, Filename: uriName(uri), URL: "data:" + kind + ";base64," + data}})
	return nil
}

// link attaches a file that the user mentioned, or writes the address of anything else.
func (b *promptBuilder) link(l *wire.ResourceLink) {
	file, first, last, ok := filePath(l.URI)
	if !ok {
		b.write(fmt.Sprintf("[%s](%s)", l.Name, l.URI))
		return
	}
	u := url.URL{Scheme: "file", Path: fileURLPath(file)}
	if first > 0 {
		u.RawQuery = fmt.Sprintf("start=%d&end=%d", first, last)
	}
	b.mention(&lathe.File{Mime: linkType(file, l.MimeType), URL: u.String(), Filename: path.Base(filepath.ToSlash(file))}, file, first, last)
}

// linkType is the type of a linked file. Texts of all kinds are read as lines.
func linkType(file, given string) string {
	kind := given
	if kind == "" {
		kind = mime.TypeByExtension(filepath.Ext(file))
	}
	kind, _, _ = mime.ParseMediaType(kind)
	switch {
	case strings.HasPrefix(kind, "image/") && kind != "image/svg+xml", strings.HasPrefix(kind, "audio/"), kind == "application/pdf":
		return kind
	default:
		return "text/plain"
	}
}

// resource attaches the content that the editor sent: the text of a selection or of an unsaved file.
func (b *promptBuilder) resource(r wire.EmbeddedResourceResource) error {
	file, first, last, isFile := filePath(r.URI)
	if !isFile {
		file = r.URI
	}
	name := file
	if first > 0 {
		name = fmt.Sprintf("%s (lines %d-%d)", file, first, last)
	}
	if r.Blob != "" {
		kind := r.MimeType
		if kind == "" {
			kind = "application/octet-stream"
		}
		if _, err := base64.StdEncoding.DecodeString(r.Blob); err != nil {
			return invalidf("the blob is not base64: %w", err)
		}
		b.mention(&lathe.File{Mime: kind, Filename: name, URL: "data:" + kind + ";base64," + r.Blob}, file, first, last)
		return nil
	}
	data := "data:text/plain;base64," + base64.StdEncoding.EncodeToString([]byte(r.Text))
	b.mention(&lathe.File{Mime: "text/plain", Filename: name, URL: data}, file, first, last)
	return nil
}

// mention writes the name of a file into the text and attaches the file with the place of its name.
func (b *promptBuilder) mention(f *lathe.File, file string, first, last int) {
	word := "@" + path.Base(filepath.ToSlash(file))
	if first > 0 {
		word += fmt.Sprintf("#%d-%d", first, last)
	}
	if t := b.text.String(); t != "" && !strings.HasSuffix(t, " ") && !strings.HasSuffix(t, "\n") {
		b.write(" ")
	}
	start := b.units
	b.write(word)
	f.Source = &lathe.FileSource{Type: "file", Path: file, Text: lathe.Mention{Value: word, Start: start, End: b.units}}
	b.files = append(b.files, lathe.Part{Body: f})
}

// lineFragment is the range of lines in the fragment of a URI: #L10, #L10-20, #L10:20 or #10-20.
var lineFragment = phrase.Regexp(`^L?(\d{1,9})(?:[-:,]L?(\d{1,9}))?$`)

// filePath is the file that a URI names, with the first and last line if it names them.
func filePath(uri string) (file string, first, last int, ok bool) {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.Host != "" && u.Host != "localhost" || u.Path == "" {
		return "", 0, 0, false
	}
	file = u.Path
	if len(file) > 2 && file[0] == '/' && file[2] == ':' && filepath.Separator == '\\' {
		file = file[1:]
	}
	if m := lineFragment().FindStringSubmatch(u.Fragment); m != nil {
		first, _ = strconv.Atoi(m[1]) // at most nine digits
		last = first
		if m[2] != "" {
			last, _ = strconv.Atoi(m[2])
		}
		if first < 1 || last < first {
			first, last = 0, 0
		}
	}
	return filepath.FromSlash(file), first, last, true
}

// fileURLPath is the path of a file URL. A path with a drive has a slash before it there.
func fileURLPath(file string) string {
	p := filepath.ToSlash(file)
	if !strings.HasPrefix(p, "/") {
		p = "/" + p
	}
	return p
}

// uriName is the last element of a URI, as a name for people.
func uriName(uri string) string {
	if uri == "" {
		return ""
	}
	if file, _, _, ok := filePath(uri); ok {
		return path.Base(filepath.ToSlash(file))
	}
	return path.Base(uri)
}

// fileBlock is an attachment as content for a client. It is not ok if a client could not show it.
func fileBlock(f *lathe.File) (wire.ContentBlock, bool) {
	kind, data, isData := splitData(f.URL)
	switch {
	case !isData && f.URL != "":
		name := f.Filename
		if name == "" {
			name = uriName(f.URL)
		}
		return wire.ContentBlock{ResourceLink: &wire.ResourceLink{Name: name, URI: f.URL, MimeType: f.Mime}}, true
	case strings.HasPrefix(kind, "image/"):
		return wire.ContentBlock{Image: &wire.ImageContent{MimeType: kind, Data: data}}, true
	case strings.HasPrefix(kind, "audio/"):
		return wire.ContentBlock{Audio: &wire.AudioContent{MimeType: kind, Data: data}}, true
	case strings.HasPrefix(kind, "text/"):
		text, err := base64.StdEncoding.DecodeString(data)
		r := wire.EmbeddedResourceResource{URI: attachmentURI(f), MimeType: kind, Text: string(text)}
		return wire.ContentBlock{Resource: &wire.EmbeddedResource{Resource: r}}, err == nil && len(text) > 0
	case data != "":
		r := wire.EmbeddedResourceResource{URI: attachmentURI(f), MimeType: kind, Blob: data}
		return wire.ContentBlock{Resource: &wire.EmbeddedResource{Resource: r}}, true
	default:
		return wire.ContentBlock{}, false
	}
}

// attachmentURI names an attachment, by its file if it has one.
func attachmentURI(f *lathe.File) string {
	if f.Source != nil && filepath.IsAbs(f.Source.Path) {
		return (&url.URL{Scheme: "file", Path: fileURLPath(f.Source.Path)}).String()
	}
	return "attachment:" + url.PathEscape(f.Filename)
}

// splitData takes a base64 data URL apart.
func splitData(u string) (kind, data string, ok bool) {
	rest, ok := strings.CutPrefix(u, "data:")
	if !ok {
		return "", "", false
	}
	head, data, ok := strings.Cut(rest, ",")
	if !ok || !strings.HasSuffix(head, ";base64") {
		return "", "", ok
	}
	kind, _, _ = strings.Cut(head, ";")
	return kind, data, true
}
