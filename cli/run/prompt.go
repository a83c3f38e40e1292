package run

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/client"
	"github.com/lathe-agent/lathe/internal/termtext"
	"github.com/lathe-agent/lathe/model/catalog"
)

// runText joins the arguments, quoted where they contain spaces, and appends piped input.
func runText(ctx context.Context, a *cli.App, args []string, mayBeEmpty bool) (string, error) {
	words := make([]string, len(args))
	for i, w := range args {
		if words[i] = w; len(args) > 1 && strings.ContainsAny(w, " \t\n") {
			words[i] = `"` + strings.ReplaceAll(w, `"`, `\"`) + `"`
		}
	}
	text, err := a.AppendStdin(ctx, strings.Join(words, " "))
	if err == nil && text == "" && !mayBeEmpty {
		err = cli.Usagef("the prompt is empty: run `lathe run \"Why does the build fail?\"`, or pipe it in")
	}
	return text, err
}

// runPrompt builds the prompt from text, files, model and output schema.
func runPrompt(a *cli.App, f runFlags, text string) (lathe.Prompt, error) {
	p := lathe.Prompt{Agent: f.agent, Variant: f.variant}
	if f.schema != "" {
		p.Format = formatOf(f.schema)
	}
	if f.model != "" {
		vendor, name, err := catalog.Split(f.model)
		if err != nil {
			return p, cli.Usagef("-m %s: %v", termtext.Plain(f.model), err)
		}
		p.Model = &lathe.ModelRef{Provider: vendor, Model: name}
	}
	for _, name := range f.files {
		part, err := attachment(a, name)
		if err != nil {
			return p, err
		}
		p.Parts = append(p.Parts, part)
	}
	if f.command == "" { // a command has its own text
		p.Parts = append(p.Parts, lathe.Part{Body: &lathe.Text{Text: text}})
	}
	return p, nil
}

// attachment converts a local file to a part of the prompt.
func attachment(a *cli.App, name string) (lathe.Part, error) {
	path := name
	if !filepath.IsAbs(path) {
		path = filepath.Join(a.Dir, name)
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return lathe.Part{}, err
	}
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return lathe.Part{}, lathe.Errorf(lathe.NotFound, "File not found: %s", termtext.Plain(name))
	}
	if err != nil {
		return lathe.Part{}, err
	}
	mime := "text/plain"
	switch {
	case info.IsDir():
		mime = "application/x-directory"
	case !info.Mode().IsRegular(): // <(…) of a shell can be read only once
		return lathe.Part{}, lathe.Errorf(lathe.Invalid, "%s is not a regular file: save it to a file, or pipe it in: `… | lathe run PROMPT`", termtext.Plain(name))
	default:
		mime = cmp.Or(media[strings.ToLower(filepath.Ext(path))], mime)
	}
	u := url.URL{Scheme: "file", Path: filepath.ToSlash(path)}
	if !strings.HasPrefix(u.Path, "/") { // a drive
		u.Path = "/" + u.Path
	}
	return lathe.Part{Body: &lathe.File{Mime: mime, URL: u.String(), Filename: filepath.Base(path)}}, nil
}

// media are the file types sent as they are; all others are sent as text.
var media = map[string]string{
	".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif", ".webp": "image/webp", ".pdf": "application/pdf",
}

// embedFiles puts the contents of files into the prompt, for a server that cannot read them.
func embedFiles(c *client.Client, p lathe.Prompt) (lathe.Prompt, error) {
	if c.IsLocal() {
		return p, nil
	}
	for i, one := range p.Parts {
		f, ok := one.Body.(*lathe.File)
		if !ok {
			continue
		}
		path := filepath.FromSlash(strings.TrimPrefix(f.URL, "file://"))
		info, err := os.Stat(path)
		switch {
		case err != nil:
			return p, err
		case info.IsDir():
			return p, cli.Usagef("-f %s: a folder cannot be sent to a remote server; attach its files", termtext.Plain(f.Filename))
		case info.Size() > cli.MaxAttachment:
			return p, cli.Usagef("-f %s: a file sent to a server can have at most %s", termtext.Plain(f.Filename), termtext.ByteSize(cli.MaxAttachment))
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return p, err
		}
		own := *f
		own.URL = "data:" + f.Mime + ";base64," + base64.StdEncoding.EncodeToString(data)
		p.Parts[i].Body = &own
	}
	return p, nil
}
