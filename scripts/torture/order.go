package main

import (
	"fmt"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/model/modeltest"
	"github.com/lathe-agent/lathe/scripts/turncheck"
)

const (
	slots      = 20 // sessions that receive prompts at the same time
	perSession = 8  // prompts, then the slot continues with a new session
)

// childSlot stands in the tokens of prompts that a tool sends to a session below its own,
// with the key of the call as their number.
const childSlot = 9000

func childToken(key string) string { return fmt.Sprintf("prompt-%d-%s;", childSlot, key[1:]) }

func childSession(key string) lathe.SessionID {
	return lathe.SessionID(fmt.Sprintf("ses_torturechild%08s", key[1:]))
}

func childMessage(key string) lathe.MessageID {
	return lathe.MessageID(fmt.Sprintf("msg_torturechild%08s", key[1:]))
}

// order is what the user of one slot says, fixed by the seed: parent and child know it both.
type order struct {
	seed uint64
	slot int
}

func (o order) session(n int) lathe.SessionID {
	return lathe.SessionID(fmt.Sprintf("ses_torture%02dx%05d", o.slot, n/perSession))
}

func (o order) message(n int) lathe.MessageID {
	return lathe.MessageID(fmt.Sprintf("msg_torture%02dx%05d", o.slot, n))
}

// token is the word by which a prompt is found again.
func (o order) token(n int) string { return turncheck.Token(o.slot, n) }

func (o order) prompt(n int) lathe.Prompt {
	p := lathe.Prompt{
		ID: o.message(n), Model: &lathe.ModelRef{Provider: "test", Model: string(o.protocol())},
		Parts: []lathe.Part{{Body: &lathe.Text{Text: "Please do " + o.token(n)}}},
	}
	if o.dice("queue", n)%3 == 0 {
		p.Delivery = lathe.Queue
	}
	return p
}

func (o order) protocol() modeltest.Protocol {
	all := modeltest.Protocols()
	return all[o.slot%len(all)]
}

// cancels says that the turn of this prompt is canceled after a moment.
func (o order) cancels(n int) bool { return o.dice("cancel", n)%10 == 0 }

// mayCancel says that one of the prompts of a session is canceled.
func (o order) mayCancel(session lathe.SessionID) bool {
	for n := 0; ; n++ {
		if id := o.session(n * perSession); id == session {
			for i := range perSession {
				if o.cancels(n*perSession + i) {
					return true
				}
			}
			return false
		} else if id > session {
			return false
		}
	}
}

// slotOf is the slot that a session belongs to.
func slotOf(id lathe.SessionID) (slot int, ok bool) {
	_, err := fmt.Sscanf(string(id), "ses_torture%02dx", &slot)
	return slot, err == nil
}

// hurries says that the next prompt does not wait for the answer to this one.
func (o order) hurries(n int) bool { return o.dice("hurry", n)%4 == 0 }

// dice is a number that only depends on the seed and what it is for.
func (o order) dice(what string, n int) uint64 { return turncheck.Dice(o.seed, what, o.slot, n) }
