package openai

import (
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/model"
)

// part is a piece of content. Text stays as it is while it may become a plain string; anything
// else is encoded.
type part struct {
	text    string
	isText  bool
	encoded []byte // an object, if it is no text
}

func textPart(s string) part { return part{text: s, isText: true} }

// userParts is the content of a user message: text and files.
func userParts(m model.Message, how form) (out []part) {
	for _, c := range m.Content {
		switch c := c.(type) {
		case model.TextContent:
			out = append(out, textPart(c.Text))
		case model.FileContent:
			out = append(out, media(c, how))
		default:
		}
	}
	return out
}

// appendParts writes pieces with commas between them; text is what is before words.
func appendParts(b []byte, parts []part, text string) []byte {
	for i, p := range parts {
		if i > 0 {
			b = append(b, ',')
		}
		if p.isText {
			b = append(lathe.AppendJSONString(append(b, text...), p.text), '}')
		} else {
			b = append(b, p.encoded...)
		}
	}
	return b
}

// form is how a protocol writes media.
type form struct {
	image, url, file, end string // JSON before an image URL, a file URL and file data, and after each
	audio                 bool
}

var (
	chatForm      = form{image: `{"type":"image_url","image_url":{"url":`, file: `{"type":"file","file":{"filename":`, end: "}}", audio: true}
	responsesForm = form{image: `{"type":"input_image","image_url":`, url: `{"type":"input_file","file_url":`, file: `{"type":"input_file","filename":`, end: "}"}
)

// media encodes a file in the way the server takes, or says that it cannot be read: the model
// can then tell the user.
func media(f model.FileContent, how form) part {
	isImage := strings.HasPrefix(f.Mime, "image/")
	switch {
	case isImage:
		b := lathe.AppendJSONString([]byte(how.image), f.Address())
		return part{encoded: append(b, how.end...)}
	case f.Mime == "application/pdf" && f.Data == "" && f.URL != "" && how.url != "":
		b := lathe.AppendJSONString([]byte(how.url), f.URL)
		return part{encoded: append(b, how.end...)}
	case f.Mime == "application/pdf" && f.Data != "":
		b := lathe.AppendJSONString([]byte(how.file), or(f.Name, "document.pdf"))
		b = lathe.AppendJSONString(append(b, `,"file_data":`...), f.Address())
		return part{encoded: append(b, how.end...)}
	case how.audio && audioFormat(f.Mime) != "" && f.Data != "":
		b := lathe.AppendJSONString([]byte(`{"type":"input_audio","input_audio":{"data":`), f.Data)
		b = lathe.AppendJSONString(append(b, `,"format":`...), audioFormat(f.Mime))
		return part{encoded: append(b, '}', '}')}
	}
	if words, ok := f.AsText(); ok {
		return textPart(words)
	}
	return textPart(f.UnreadableNotice())
}

func audioFormat(mime string) string {
	switch mime {
	case "audio/wav", "audio/x-wav", "audio/wave":
		return "wav"
	case "audio/mpeg", "audio/mp3":
		return "mp3"
	}
	return ""
}
