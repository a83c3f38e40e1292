package engine

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/lathe-agent/lathe"
)

// resourceBytes is how large a picture or document of a resource may be.
const resourceBytes = 10 << 20

// Resource is one content of what a server of tools offers under an address.
type Resource struct {
	URI, Mime string
	Text      string
	Blob      []byte // where it is no text
}

// resourceOf are the server and the address that a part of a prompt stands for.
func resourceOf(f *lathe.File) (server, uri string, ok bool) {
	if f.Source == nil || f.Source.Type != "resource" {
		return "", "", false
	}
	var at struct {
		ClientName string `json:"clientName"`
		URI        string `json:"uri"`
	}
	err := json.Unmarshal([]byte("{"+string(f.Source.Extra)+"}"), &at)
	return at.ClientName, at.URI, err == nil && at.URI != ""
}

// expandResource reads a resource the user has named.
func (e *Engine) expandResource(ctx context.Context, rec lathe.Session, f *lathe.File, server, uri string) ([]lathe.Body, error) {
	name := cmp.Or(f.Filename, uri)
	settings, err := e.settingsOf(ctx, rec.Directory)
	if err == nil && settings.Resource == nil {
		err = lathe.Errorf(lathe.NotFound, "there is no server of resources here")
	}
	if err != nil {
		return unreadable(f, name, err)
	}
	contents, err := settings.Resource(ctx, server, uri)
	if err != nil {
		return unreadable(f, name, err)
	}
	out := []lathe.Body{synthetic(fmt.Sprintf("The user attached the MCP resource %s (%s):", name, uri))}
	for _, c := range contents {
		out = append(out, resourceBodies(c, name)...)
	}
	return append(out, f), nil
}

// resourceBodies are the parts a content becomes.
func resourceBodies(c Resource, name string) []lathe.Body {
	shown := slices.Contains([]string{"application/pdf", "image/gif", "image/jpeg", "image/png", "image/webp"}, c.Mime)
	switch {
	case len(c.Blob) == 0:
		return []lathe.Body{synthetic(c.Text)}
	case !shown:
		return []lathe.Body{synthetic(fmt.Sprintf("[Binary content of type %s left out: models are not shown such.]", cmp.Or(c.Mime, "unknown")))}
	case len(c.Blob) > resourceBytes:
		return []lathe.Body{synthetic(fmt.Sprintf("[Binary content of type %s left out: it has %d bytes, at most %d are shown.]", c.Mime, len(c.Blob), resourceBytes))}
	}
	return []lathe.Body{
		synthetic(fmt.Sprintf("[Binary content of type %s, attached.]", c.Mime)),
		&lathe.File{Mime: c.Mime, Filename: cmp.Or(c.URI, name), URL: "data:" + c.Mime + ";base64," + base64.StdEncoding.EncodeToString(c.Blob)},
	}
}
