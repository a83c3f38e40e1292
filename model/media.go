package model

import (
	"encoding/base64"
	"net/url"
	"strings"

	"github.com/lathe-agent/lathe"
)

// Modality returns the catalog's word for what media of that type are: image, audio, video or
// pdf, and "" for everything else, which models are not asked about.
func Modality(mime string) string {
	kind, _, _ := strings.Cut(mime, "/")
	switch {
	case mime == "application/pdf":
		return "pdf"
	case kind == "image", kind == "audio", kind == "video":
		return kind
	}
	return ""
}

// file reads an attachment. What stands in a data address without being base64 becomes it.
func file(f *lathe.File) FileContent {
	out := FileContent{Mime: f.Mime, Name: f.Filename}
	head, data, ok := strings.Cut(f.URL, ",")
	switch {
	case !ok || !strings.HasPrefix(head, "data:"):
		out.URL = f.URL
	case strings.HasSuffix(head, ";base64"):
		out.Data = data
	default:
		if plain, err := url.PathUnescape(data); err == nil {
			data = plain
		}
		out.Data = base64.StdEncoding.EncodeToString([]byte(data))
	}
	return out
}

// UnreadableNotice is the text in place of a file that the model cannot read, so that the model can
// report it to the user.
func (f FileContent) UnreadableNotice() string {
	return "[The file " + f.title() + " of type " + f.Mime + " cannot be read by this model. Tell the user.]"
}

func (f FileContent) title() string {
	if f.Name == "" {
		return "without a name"
	}
	return `"` + f.Name + `"`
}

// Address is the URL of the media, or a data URL.
func (f FileContent) Address() string {
	if f.Data == "" {
		return f.URL
	}
	return "data:" + f.Mime + ";base64," + f.Data
}

// AsText returns the content of a text file, for wires without text files.
func (f FileContent) AsText() (string, bool) {
	isText := strings.HasPrefix(f.Mime, "text/")
	switch f.Mime {
	case "application/json", "application/xml", "application/yaml", "application/toml", "application/javascript":
		isText = true
	}
	if !isText || f.Data == "" {
		return "", false
	}
	words, err := base64.StdEncoding.DecodeString(f.Data)
	return clean(string(words)), err == nil
}
