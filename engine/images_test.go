package engine_test

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe"
)

// large is an image that providers refuse for its sides.
func large(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 9000, 300))); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// sizeOf is how large the image of a data URL is.
func sizeOf(t *testing.T, f *lathe.File) image.Point {
	t.Helper()
	_, data, _ := strings.Cut(f.URL, ",")
	raw, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		t.Fatal(err)
	}
	c, format, err := image.DecodeConfig(bytes.NewReader(raw))
	if err != nil || f.Mime != "image/"+format {
		t.Fatalf("%s is %s: %v", f.Mime, format, err)
	}
	return image.Pt(c.Width, c.Height)
}

// An image that is too large becomes smaller before it is kept, whether the user attaches it or a
// tool reads it: a provider that refused it would refuse the session from then on. (§6.8, §4.3)
func TestImages_AreMadeSmaller(t *testing.T) {
	t.Parallel()
	d := newDesk(t, `call read {"filePath":"big.png"}
finish tool-calls
--
text "Seen."
finish stop`)
	d.ok(os.WriteFile(filepath.Join(d.dir, "big.png"), large(t), 0o644))
	whole := "data:image/png;base64," + base64.StdEncoding.EncodeToString(large(t))
	said, err := d.Submit(t.Context(), d.session, lathe.Prompt{Parts: []lathe.Part{
		{Body: &lathe.Text{Text: "look"}}, {ID: "prt_own", Body: &lathe.File{Mime: "image/png", Filename: "a.png", URL: whole}},
	}})
	d.ok(err)
	if got := sizeOf(t, said.Parts[1].Body.(*lathe.File)); got != image.Pt(2000, 66) || said.Parts[1].ID != "prt_own" {
		t.Errorf("the prompt holds %v, %s", got, said.Parts[1].ID)
	}
	_, err = d.Wait(t.Context(), d.session)
	d.ok(err)
	page, err := d.Messages(t.Context(), d.session, lathe.Position{}, 0)
	d.ok(err)
	var seen []image.Point
	for _, m := range page.Messages {
		for _, p := range m.Parts {
			if c, ok := p.Body.(*lathe.ToolCall); ok {
				for _, a := range c.State.(*lathe.Completed).Attachments {
					seen = append(seen, sizeOf(t, a.Body.(*lathe.File)))
				}
			}
		}
	}
	if len(seen) != 1 || seen[0] != image.Pt(2000, 66) {
		t.Errorf("the tool has shown %v", seen)
	}
}

// What cannot be made smaller is said instead; what the user wants left alone is.
func TestImages_LeftOut(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "")
	long := &lathe.File{Mime: "image/webp", Filename: "b.webp", URL: "data:image/webp;base64," + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte("RIFF"), 1<<20))}
	submit := func() lathe.Body {
		m, err := d.Submit(t.Context(), d.session, lathe.Prompt{NoReply: true, Parts: []lathe.Part{{Body: long}}})
		d.ok(err)
		return m.Parts[0].Body
	}
	if text, ok := submit().(*lathe.Text); !ok || !strings.Contains(text.Text, "b.webp was left out") {
		t.Error("it was not said")
	}
	d.images.Off = true
	if _, ok := submit().(*lathe.File); !ok {
		t.Error("it was not left alone")
	}
}
