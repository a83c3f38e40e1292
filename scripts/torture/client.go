package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/scripts/turncheck"
)

// takeLine adds an event to the reader from a line: number, last, feed, event.
func takeLine(c *turncheck.Reader, line string) error {
	var ev lathe.Event
	var last int
	head := strings.SplitN(line, " ", 4)
	if len(head) != 4 {
		return fmt.Errorf("not an event: %q", line)
	}
	if _, err := fmt.Sscan(head[0]+" "+head[1], &ev.Seq, &last); err != nil {
		return err
	}
	seq := ev.Seq
	if err := json.Unmarshal([]byte(head[3]), &ev); err != nil {
		return fmt.Errorf("%w in %s", err, head[3])
	}
	ev.Seq, ev.Last = seq, last == 1
	return c.Take(ev, head[2])
}
