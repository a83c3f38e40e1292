package device_test

import (
	"encoding/json"
	"testing"

	"github.com/lathe-agent/lathe/server/device"
)

func TestRight(t *testing.T) {
	for _, name := range []string{"read", "answer", "full"} {
		r, err := device.ParseRight(name)
		text, encoding := json.Marshal(r)
		if err != nil || encoding != nil || string(text) != `"`+name+`"` {
			t.Errorf("%s: %s, %v, %v", name, text, err, encoding)
		}
	}
	for _, name := range []string{"", "anyone", "Full", "Right(0)"} {
		if r, err := device.ParseRight(name); err == nil {
			t.Errorf("%q is the right %s", name, r)
		}
	}
	if !(device.Anyone < device.Read && device.Read < device.Answer && device.Answer < device.Full) {
		t.Error("rights do not include those before them")
	}
}
