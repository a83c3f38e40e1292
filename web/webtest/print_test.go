package webtest

import (
	"bytes"
	"context"
	"strconv"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// A printed session has all messages that are loaded, not only those on the screen, in dark on white and without controls.
func TestPrint(t *testing.T) {
	w := begin(t, "text \"Fine.\"\nfinish stop\n")
	id := w.imported(200)
	w.size(1280, 800)
	w.see(id)
	w.shows("Answer 199.")
	drawn := `[...document.querySelectorAll(".row")].filter(e => /^Answer \d+\./.test(e.innerText.trim())).length`
	w.do("note what is printed", chromedp.Evaluate[chromedp.Void](`document.documentElement.dataset.theme = "dark"; matchMedia("print").addEventListener("change", e => {
		if (!e.matches || window.printed) return
		const lum = e => { const c = getComputedStyle(e).color.match(/\d+/g).map(Number); return c[0] + c[1] + c[2] }
		window.printed = {
			answers: `+drawn+`,
			controls: [...document.querySelectorAll(".dock, .tabs, .side, .back, .menu")].filter(e => e.checkVisibility()).length,
			light: [...document.querySelectorAll(".row *, h1")].filter(e => e.checkVisibility() && lum(e) > 450).length,
		}
	})`))
	before := eval[int](w, drawn)
	pdf, err := chromedp.Run(w.ctx, func(ctx context.Context, t *chromedp.Target) ([]byte, error) {
		r, err := cdp.Call(ctx, t, page.PrintToPDF, page.PrintToPDFParams{})
		return r.Data, err
	})
	if err != nil || !bytes.HasPrefix(pdf, []byte("%PDF")) {
		t.Fatalf("%.20q %v", pdf, err)
	}
	printed := eval[struct{ Answers, Controls, Light int }](w, "window.printed")
	if printed.Answers < 25 || printed.Answers <= before || printed.Controls != 0 || printed.Light != 0 {
		t.Errorf("%d answers are on the screen, and the print has %+v", before, printed)
	}
	w.wait(drawn + " <= " + strconv.Itoa(before+5))
	w.quiet()
}
