package prompt

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/history"
	"github.com/lathe-agent/lathe/internal/picture"
	"github.com/lathe-agent/lathe/tool"
)

// Images bound the images that models are shown. Providers refuse larger ones, and with them every
// later request of the session. Zero fields mean the defaults.
type Images struct {
	Off           bool // leaves them as they are
	Width, Height int  // pixels
	Bytes         int  // as base64
}

const (
	imageSide  = 2000
	imageBytes = 5 << 20
)

func (i Images) limits() picture.Limits {
	return picture.Limits{
		Width: cmp.Or(max(i.Width, 0), imageSide), Height: cmp.Or(max(i.Height, 0), imageSide),
		Bytes: cmp.Or(max(i.Bytes, 0), imageBytes) / 4 * 3, // before it is base64
	}
}

// fit is a file with its image within the limits; nil where that cannot be. Other files stay.
func (i Images) fit(f *lathe.File) *lathe.File {
	head, data, ok := strings.Cut(f.URL, ";base64,")
	if i.Off || !ok || !strings.HasPrefix(f.Mime, "image/") || !strings.HasPrefix(head, "data:") {
		return f
	}
	raw, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		return f // the provider reports the bad image
	}
	small, mime, ok := picture.Fit(raw, f.Mime, i.limits())
	if !ok {
		return nil
	}
	if mime == f.Mime && len(small) == len(raw) {
		return f
	}
	out := *f
	out.Mime, out.URL = mime, "data:"+mime+";base64,"+base64.StdEncoding.EncodeToString(small)
	return &out
}

// FitPrompt fits the images of a prompt. A note replaces one that cannot be made to fit.
func (i Images) FitPrompt(parts []lathe.Part) {
	for n, p := range parts {
		f, ok := p.Body.(*lathe.File)
		if !ok {
			continue
		}
		if small := i.fit(f); small != nil {
			parts[n].Body = small
		} else {
			parts[n].Body = history.Synthetic(fmt.Sprintf("[The image %s was left out: it is too large to be shown and could not be made smaller.]", cmp.Or(f.Filename, f.Mime)))
		}
	}
}

// FitResult fits the images of a tool result. A note at the end of its output counts those that cannot be made to fit.
func (i Images) FitResult(r tool.Result) tool.Result {
	var accepted []*lathe.File
	for _, f := range r.Attachments {
		if small := i.fit(f); small != nil {
			accepted = append(accepted, small)
		}
	}
	if lost := len(r.Attachments) - len(accepted); lost > 0 {
		r.Output = strings.TrimLeft(fmt.Sprintf("%s\n\n[%d of %d attachments left out: too large to be shown, and they could not be made smaller.]", r.Output, lost, len(r.Attachments)), "\n")
	}
	r.Attachments = accepted
	return r
}
