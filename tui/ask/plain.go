package ask

import "github.com/lathe-agent/lathe/tui/style"

// Body returns everything that the request is about, for a front end that prints it instead of drawing a region.
func (p *Permission) Body(th *style.Theme, width int) []style.Line { return p.rows(th, width) }
