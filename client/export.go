package client

import (
	"context"
	"io"
	"slices"

	"github.com/lathe-agent/lathe"
)

// exportPage is how many messages are asked for at a time.
const exportPage = 100

// Export writes a session as the engine does, but holds all of it in memory.
func (c *Client) Export(ctx context.Context, id lathe.SessionID, to io.Writer, change func(*lathe.Session, *lathe.Message)) error {
	s, err := c.Get(ctx, id)
	if err != nil {
		return err
	}
	x := lathe.Export{Info: s, Messages: []lathe.Message{}}
	seen := map[lathe.MessageID]bool{} // a prompt that waited moves to the end
	for page := (lathe.Page{More: true}); page.More; {
		if page, err = c.Messages(ctx, id, page.Next, exportPage); err != nil {
			return err
		}
		for _, m := range slices.Backward(page.Messages) {
			if !seen[m.ID] {
				seen[m.ID] = true
				x.Messages = append(x.Messages, m)
			}
		}
	}
	slices.Reverse(x.Messages)
	if change != nil {
		change(&x.Info, nil)
		for i := range x.Messages {
			change(nil, &x.Messages[i])
		}
	}
	data, _ := x.MarshalJSON() // it never fails
	if err := lathe.WriteIndented(to, data, ""); err != nil {
		return err
	}
	_, err = io.WriteString(to, "\n")
	return err
}
