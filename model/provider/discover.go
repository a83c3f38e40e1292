package provider

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/lathe-agent/lathe/model/catalog"
)

// Limits for the response of a local server.
const (
	probeTime = time.Second
	probeSize = 4 << 20
)

// Found is a server on this machine and the models it has.
type Found struct {
	Vendor catalog.Vendor
	Models []string
}

// Discover asks local servers for their models; [catalog.LocalVendors] has the usual ones. It takes
// a second at most and runs only on request: a mere start of the program must not probe ports.
func Discover(ctx context.Context, c *http.Client, servers []catalog.Vendor) []Found {
	if c == nil {
		c = http.DefaultClient
	}
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	found := make([]Found, len(servers))
	var wg sync.WaitGroup
	for i, v := range servers {
		wg.Go(func() { found[i] = Found{v, probe(ctx, c, v.API)} })
	}
	wg.Wait()
	return slices.DeleteFunc(found, func(f Found) bool { return len(f.Models) == 0 })
}

// probe lists the models of a server, none if it is not there or another sort of server.
func probe(ctx context.Context, c *http.Client, base string) (ids []string) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, trimBase(base)+"/models", nil)
	if err != nil {
		return nil
	}
	resp, err := c.Do(req)
	if err != nil {
		return nil
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(resp.Body, probeSize))
	var list struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if err != nil || resp.StatusCode != http.StatusOK || json.Unmarshal(body, &list) != nil {
		return nil
	}
	for _, m := range list.Data {
		if m.ID != "" && !slices.Contains(ids, m.ID) {
			ids = append(ids, m.ID)
		}
	}
	slices.Sort(ids)
	return ids
}

// ConfigSection returns what was found as a provider section of the config, for [catalog.Config].
func ConfigSection(found []Found) json.RawMessage {
	type entry struct {
		Name   string              `json:"name"`
		NPM    string              `json:"npm"`
		API    string              `json:"api"`
		Models map[string]struct{} `json:"models"`
	}
	section := map[string]entry{}
	for _, f := range found {
		e := entry{f.Vendor.Name, catalog.Compatible, f.Vendor.API, map[string]struct{}{}}
		for _, id := range f.Models {
			e.Models[id] = struct{}{}
		}
		section[f.Vendor.ID] = e
	}
	out, _ := json.Marshal(section) // such maps always can be
	return out
}
