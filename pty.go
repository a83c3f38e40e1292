package lathe

// Pty is a terminal that runs a command for a client.
type Pty struct {
	ID             PtyID
	Title, Command string
	Args           []string
	Cwd, Status    string // running or exited
	PID            int
	ExitCode       *int
	Extra          Extra
}

// MarshalJSON writes the terminal as the wire has it.
func (p Pty) MarshalJSON() ([]byte, error) { return encode(nil, &p), nil }

func (p *Pty) fields(c *codec) {
	str(c, "id", &p.ID)
	str(c, "title", &p.Title)
	str(c, "command", &p.Command)
	strList(c, "args", &p.Args)
	str(c, "cwd", &p.Cwd)
	str(c, "status", &p.Status)
	integer(c, "pid", &p.PID)
	optional(c, "exitCode", &p.ExitCode, integer)
	c.rest(&p.Extra)
}
