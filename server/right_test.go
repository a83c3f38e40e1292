package server

import (
	"strings"
	"testing"

	"github.com/lathe-agent/lathe/server/device"
)

// Every route names the right that it needs, and routes that change anything never need only the right to read.
func TestTable_Rights(t *testing.T) {
	s := New(Backend{}, Options{})
	defer s.Close()
	changes := map[string]device.Right{ // what devices without all rights may do beyond reading
		"permission.reply": device.Answer, "permission.respond": device.Answer, "question.reply": device.Answer,
		"question.reject": device.Answer, "session.abort": device.Answer, "lathe.session.wait": device.Read,
		"lathe.pair": device.Anyone, "lathe.login": device.Anyone, "lathe.device.revoke": device.Read,
		"lathe.push.set": device.Read, "lathe.push.remove": device.Read, // they check more themselves
	}
	seen := 0
	for _, r := range s.table(Backend{}, publisher{}) {
		where := r.method + " " + r.path
		if r.right < device.Anyone || r.right > device.Full {
			t.Errorf("%s has no right", where)
		}
		if want, ok := changes[r.name]; ok {
			if seen++; r.right != want {
				t.Errorf("%s needs the right %s, not %s", where, want, r.right)
			}
			continue
		}
		if r.method != "GET" && r.right != device.Full {
			t.Errorf("%s needs only the right %s", where, r.right)
		}
		for _, secret := range []string{"/pty", "/file", "/find", "/config", "/global/config", "/lathe/settings", "/lathe/memory", "/auth", "/provider/auth", "/tui"} {
			own := r.path == secret || strings.HasPrefix(r.path, secret+"/")
			if own && r.right != device.Full && r.name != "pty.connect" && r.name != "config.providers" {
				t.Errorf("%s needs only the right %s", where, r.right)
			}
		}
	}
	if seen != len(changes) {
		t.Errorf("%d of %d exceptions are in the table", seen, len(changes))
	}
}
