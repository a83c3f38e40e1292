package main
type view struct{}
func startView(a *app) *view { return nil }
func (r *runner) isLive() bool { return false }
func (r *runner) closeView() {}
