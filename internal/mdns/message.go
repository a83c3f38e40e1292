package mdns

import (
	"fmt"
	"net/netip"
	"regexp"
	"strings"

	"golang.org/x/net/dns/dnsmessage"
)

const (
	lifetime = 120 // seconds that others may remember a record
	briefly  = 10  // for listeners that miss a change
)

// Check refuses names that are none.
func (s Service) Check() error {
	host, local := strings.CutSuffix(s.Host, ".local")
	if !local || !regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?$`).MatchString(host) {
		return fmt.Errorf("%q is not a local network name: use letters, digits and dashes, then .local, as in opencode.local", s.Host)
	}
	return nil
}

// records are all records announced on a link.
func (s Service) records(addrs []netip.Addr, ttl uint32) (out []dnsmessage.Resource) {
	add := func(owner string, kind dnsmessage.Type, body dnsmessage.ResourceBody) {
		head := dnsmessage.ResourceHeader{Name: dnsmessage.MustNewName(owner), Type: kind, Class: dnsmessage.ClassINET, TTL: ttl}
		out = append(out, dnsmessage.Resource{Header: head, Body: body})
	}
	kind, name, host := "_http._tcp.local.", s.Instance+"._http._tcp.local.", s.Host+"."
	add(kind, dnsmessage.TypePTR, &dnsmessage.PTRResource{PTR: dnsmessage.MustNewName(name)})
	add(name, dnsmessage.TypeSRV, &dnsmessage.SRVResource{Port: uint16(s.Port), Target: dnsmessage.MustNewName(host)})
	add(name, dnsmessage.TypeTXT, &dnsmessage.TXTResource{TXT: []string{"path=/"}})
	for _, a := range addrs {
		add(host, dnsmessage.TypeA, &dnsmessage.AResource{A: a.As4()})
	}
	return out
}

// notice is an unsolicited message.
func (s Service) notice(addrs []netip.Addr, ttl uint32) []byte {
	m := dnsmessage.Message{Header: dnsmessage.Header{Response: true, Authoritative: true}, Answers: s.records(addrs, ttl)}
	out, _ := m.Pack() // it never fails: the names are checked
	return out
}

// reply is the answer to a message, nil if there is none. One for the asker alone repeats the question.
func (s Service) reply(query []byte, addrs []netip.Addr, alone bool) []byte {
	var p dnsmessage.Parser
	head, err := p.Start(query)
	if err != nil || head.Response || head.OpCode != 0 || len(addrs) == 0 {
		return nil
	}
	m, ttl := dnsmessage.Message{Header: dnsmessage.Header{Response: true, Authoritative: true}}, uint32(lifetime)
	if alone {
		m.ID, ttl = head.ID, briefly
	}
	all := s.records(addrs, ttl)
	said := make([]bool, len(all))
	for {
		q, err := p.Question()
		if err != nil {
			break
		}
		if alone {
			m.Questions = append(m.Questions, q)
		}
		for i, r := range all {
			if !said[i] && isAnswer(q, r) {
				said[i] = true
				m.Answers = append(m.Answers, r)
			}
		}
	}
	for i, r := range all { // a client that finds the service needs the rest
		if !said[i] {
			m.Additionals = append(m.Additionals, r)
		}
	}
	if out, err := m.Pack(); err == nil && len(m.Answers) > 0 {
		return out
	}
	return nil
}

func isAnswer(q dnsmessage.Question, r dnsmessage.Resource) bool {
	const unicast = 1 << 15 // a preference that may be ignored
	return q.Class&^unicast == dnsmessage.ClassINET && strings.EqualFold(q.Name.String(), r.Header.Name.String()) &&
		(q.Type == dnsmessage.TypeALL || q.Type == r.Header.Type)
}
