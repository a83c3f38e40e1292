package webtest

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/chromedp/chromedp"
)

// attached are the names and types of the files of the newest prompt of a session.
func (w *world) attached(id string) (out []string) {
	w.Helper()
	var all []struct {
		Info  struct{ Role string }
		Parts []struct{ Type, Mime, Filename string }
	}
	w.ask("GET", "/session/"+id+"/message", "", &all)
	for _, m := range slices.Backward(all) {
		if m.Info.Role != "user" {
			continue
		}
		for _, p := range m.Parts {
			if p.Type == "file" {
				out = append(out, p.Filename+" "+p.Mime)
			}
		}
		slices.Sort(out)
		return out
	}
	return nil
}

// A prompt has the files that it names, whatever is in their names. Other words with an @ name none.
func TestFiles_Named(t *testing.T) {
	w := begin(t, "text \"Read.\"\nfinish stop\n")
	id := w.session("Names")
	for _, name := range []string{"Makefile", "größe.md", "my notes.txt", "50% #1?.md", "docs/a.md"} {
		path := filepath.Join(w.project, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("Text.\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	w.size(1280, 800)
	w.see(id)
	for _, begun := range []string{"Read @my", "and @50"} {
		w.do("type "+begun, chromedp.SendKeys("#prompt", begun))
		w.wait(`document.querySelectorAll(".offers li").length === 1`)
		w.do("take it", chromedp.SendKeys("#prompt", "\t"))
		w.wait(`!document.querySelector(".offers")`)
	}
	w.prompt("(not @types/node, not a@b.c) but @größe.md, @docs and @Makefile.")
	w.shows("Read.")
	want := []string{"50% #1?.md text/plain", "Makefile text/plain", "docs/ application/x-directory", "größe.md text/plain", "my notes.txt text/plain"}
	if got := w.attached(id); !slices.Equal(got, want) {
		t.Errorf("the prompt %q has %q, not %q", eval[string](w, `document.querySelector("article.user").innerText`), got, want)
	}
	if eval[bool](w, `document.body.innerText.includes("could not be read")`) {
		t.Error("the prompt names files that are not there")
	}
	w.quiet()
}

// Files that are dropped and pasted have the types that models know, whatever the browser calls them.
func TestFiles_Types(t *testing.T) {
	w := begin(t, "text \"Seen.\"\nfinish stop\n")
	id := w.session("Types")
	w.size(390, 800)
	w.see(id)
	w.do("drop and paste", chromedp.Evaluate[chromedp.Void](`{
		const give = (event, files) => {
			const data = new DataTransfer()
			for (const f of files) data.items.add(f)
			document.querySelector("#prompt").dispatchEvent(new (event === "drop" ? DragEvent : ClipboardEvent)(event, {bubbles: true, cancelable: true, dataTransfer: data, clipboardData: data}))
		}
		give("drop", [new File(["let a = 1"], "a.ts", {type: "video/mp2t"}), new File(["echo"], "b.sh", {type: "application/x-sh"}), new File(["{}"], "c")])
		give("paste", [new File([new Uint8Array([137, 80, 78, 71, 0])], "d.png", {type: "image/png"}), new File([new Uint8Array([80, 75, 0])], "e.zip", {type: "application/zip"})])
		give("drop", [new File([new Uint8Array(15 << 20)], "large"), new File([new Uint8Array(15 << 20)], "larger")])
	}`))
	w.shows("larger is too large")
	w.wait(`document.querySelectorAll(".files li").length === 6`)
	w.click("Remove large")
	w.wait(`document.querySelectorAll(".files li").length === 5`)
	w.prompt("See these.")
	w.shows("Seen.")
	want := []string{"a.ts text/plain", "b.sh text/plain", "c text/plain", "d.png image/png", "e.zip application/zip"}
	if got := w.attached(id); !slices.Equal(got, want) {
		t.Errorf("the prompt %q has %q, not %q", eval[string](w, `document.querySelector("article.user").innerText`), got, want)
	}
	w.quiet()
}
