package modeltest

// responsesWhole is the response without a stream: the items a stream would have closed.
func (a answering) responsesWhole(steps []Step) js {
	var items []js
	var notes []js
	text, open := "", false
	closeMessage := func() {
		if open {
			items = append(items, responsesMessage(a.item("msg_", len(items)), "completed", responsesPart(text, notes)))
		}
		text, notes, open = "", nil, false
	}
	for _, s := range steps {
		switch s := s.(type) {
		case Text:
			text, open = text+s[0], true
			continue
		case Source:
			notes, open = append(notes, s.responses()), true
			continue
		default:
			closeMessage()
		}
		n := len(items)
		switch s := s.(type) {
		case Reasoning:
			items = append(items, a.reasoning(a.item("rs_", n), s.Chunks[0], s.Signature))
		case Call:
			items = append(items, callForm{"function_call", "", "arguments", s.Args}.item(s, a.item("fc_", n), "completed", s.Args))
		case Executed:
			items = append(items, s.responses(a.item("ws_", n)))
		default:
		}
	}
	closeMessage()
	_, response := a.ended(items)
	return response
}
