package server

import (
	"context"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/server/device"
	"github.com/lathe-agent/lathe/server/push"
)

// pushAPI switches notifications on and off for the device that asks.
type pushAPI struct {
	devices  *device.Store
	notifier *push.Notifier // nil sends none
}

func (a pushAPI) routes() []row {
	return []row{
		answer(route("GET /lathe/push", "lathe.push.get", "lathe", mayRead,
			"Get the public key for Web Push, and whether this device gets notifications", nil, withoutDirectory), a.get),
		answer(route("PUT /lathe/push", "lathe.push.set", "lathe", mayRead,
			"Send notifications to this device", []failure{failsBad}, withoutDirectory), a.set),
		answer(route("DELETE /lathe/push", "lathe.push.remove", "lathe", mayRead,
			"Send no notifications to this device", nil, withoutDirectory), a.remove),
	}
}

type (
	pushReply struct {
		Key   string   `json:"key" doc:"the applicationServerKey of a subscription"`
		Kinds []string `json:"kinds" doc:"what this device gets notifications of; empty if it gets none"`
	}
	pushBody struct {
		Endpoint string   `json:"endpoint"`
		Keys     pushKeys `json:"keys"`
		Kinds    []string `json:"kinds" doc:"needs, done, failed, budget"`
	}
	pushKeys struct {
		P256dh string `json:"p256dh"`
		Auth   string `json:"auth"`
	}
)

func (pushReply) schemaName() string { return "LathePush" }

func (a pushAPI) get(c *call, _, _ none) (out pushReply, err error) {
	if a.notifier == nil {
		return out, errNoPush
	}
	out.Kinds = []string{}
	if c.device.Push != nil {
		out.Kinds = c.device.Push.Kinds
	}
	out.Key, err = a.notifier.Key(context.WithoutCancel(c.Context()))
	return out, err
}

var (
	errNoPush = lathe.Errorf(lathe.Unavailable, "this server sends no notifications; start it with `lathe serve`")
	errNobody = lathe.Errorf(lathe.Invalid, "only a paired device gets notifications; log in on the page first")
)

func (a pushAPI) set(c *call, _ none, in pushBody) (none, error) {
	switch {
	case a.notifier == nil:
		return none{}, errNoPush
	case c.device.ID == "":
		return none{}, errNobody
	}
	s := device.Subscription{Endpoint: in.Endpoint, Key: in.Keys.P256dh, Auth: in.Keys.Auth, Kinds: in.Kinds}
	return none{}, a.notifier.Subscribe(context.WithoutCancel(c.Context()), c.device.ID, s)
}

func (a pushAPI) remove(c *call, _, _ none) (none, error) {
	switch {
	case a.notifier == nil:
		return none{}, errNoPush
	case c.device.ID == "":
		return none{}, errNobody
	}
	return none{}, a.devices.Subscribe(context.WithoutCancel(c.Context()), c.device.ID, nil)
}
