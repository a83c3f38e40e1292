package openai

import (
	"encoding/base64"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/model"
)

// part is a piece of content. Words are kept as they are as long as they may become a plain
// string; anything else is encoded.
type part struct {
	text    string
	isText  bool
	encoded []byte // an object, if it is no text
}

func textPart(s string) part { return part{text: s, isText: true} }

// form is how a protocol writes media.
type form struct {
	image, url, file, end string // what stands before the address of an image, the address of a file, the data of one; and after it
	audio                 bool
}

var (
	chatForm      = form{image: `{"type":"image_url","image_url":{"url":`, file: `{"type":"file","file":{"filename":`, end: "}}", audio: true}
	responsesForm = form{image: `{"type":"input_image","image_url":`, url: `{"type":"input_file","file_url":`, file: `{"type":"input_file","filename":`, end: "}"}
)

// media encodes a file in the way the server takes, or says that it cannot be read: the model
// can then tell the user.
func (d Dialect) media(f model.FileContent, how form) part {
	isImage := strings.HasPrefix(f.Mime, "image/")
	switch {
	case isImage && f.Data == "" && (f.URL == "" || strings.HasPrefix(f.URL, "data:")):
		return textPart("[The image " + fileName(f) + " is empty or damaged. Tell the user and ask for it again.]")
	case isImage && !d.NoImages:
		b := lathe.AppendJSONString([]byte(how.image), address(f))
		return part{encoded: append(b, how.end...)}
	case f.Mime == "application/pdf" && !d.NoPDF && f.Data == "" && f.URL != "" && how.url != "":
		b := lathe.AppendJSONString([]byte(how.url), f.URL)
		return part{encoded: append(b, how.end...)}
	case f.Mime == "application/pdf" && !d.NoPDF && f.Data != "":
		b := lathe.AppendJSONString([]byte(how.file), or(f.Name, "document.pdf"))
		b = lathe.AppendJSONString(append(b, `,"file_data":`...), address(f))
		return part{encoded: append(b, how.end...)}
	case how.audio && audioFormat(f.Mime) != "" && f.Data != "":
		b := lathe.AppendJSONString([]byte(`{"type":"input_audio","input_audio":{"data":`), f.Data)
		b = lathe.AppendJSONString(append(b, `,"format":`...), audioFormat(f.Mime))
		return part{encoded: append(b, '}', '}')}
	case isWords(f.Mime) && f.Data != "":
		if words, err := base64.StdEncoding.DecodeString(f.Data); err == nil {
			return textPart(string(words))
		}
	}
	return textPart("[The file " + fileName(f) + " of type " + f.Mime + " cannot be read by this model. Tell the user.]")
}

func fileName(f model.FileContent) string { return `"` + or(f.Name, "without a name") + `"` }

// address is where media are: somewhere, or in the address itself.
func address(f model.FileContent) string {
	if f.Data == "" {
		return f.URL
	}
	return "data:" + f.Mime + ";base64," + f.Data
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

func isWords(mime string) bool {
	switch mime {
	case "application/json", "application/xml", "application/yaml", "application/toml", "application/javascript":
		return true
	}
	return strings.HasPrefix(mime, "text/")
}
