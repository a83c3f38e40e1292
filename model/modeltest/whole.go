package modeltest

// wholeAnswer waits for the end of an answer and sends it as one piece.
type wholeAnswer struct {
	answering
	player *player
}

func (w *wholeAnswer) start()            {}
func (w *wholeAnswer) text(string)       {}
func (w *wholeAnswer) reason(Reasoning)  {}
func (w *wholeAnswer) calls([]Call)      {}
func (w *wholeAnswer) executed(Executed) {}
func (w *wholeAnswer) source(Source)     {}

func (w *wholeAnswer) finish() {
	w.emit(string(w.whole(merged(w.player.script))))
}

// fail has no stream to stand in: it is a refusal.
func (w *wholeAnswer) fail(f Fail) {
	body, status := f.body(w.req.Protocol)
	w.player.status(Status{Code: status, Body: string(body)}, nil)
}
