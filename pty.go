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
	if c.reading && c.find("exitCode") != nil {
		p.ExitCode = new(int)
	}
	if p.ExitCode != nil {
		integer(c, "exitCode", p.ExitCode)
	}
	c.rest(&p.Extra)
}
