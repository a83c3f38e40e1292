package install

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/cli/install/release"
	"github.com/lathe-agent/lathe/config/datadir"
	"github.com/lathe-agent/lathe/internal/atomicfile"
)

// When "autoupdate" looks for a newer version: not while the program starts, and once a day for all processes.
const (
	autoDelay    = time.Second
	autoInterval = 24 * time.Hour
	autoTimeout  = 20 * time.Minute
)

// lastCheck is the result of the last look at the releases.
type lastCheck struct {
	Checked lathe.Time `json:"checked"`
	Latest  string     `json:"latest"`
}

// StartAutoUpdate applies "autoupdate" of the config in the background. stop ends it and waits for it; a download
// that still runs is dropped, and nothing is installed by half.
func StartAutoUpdate(ctx context.Context, a *cli.App, publish func(...lathe.Event)) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() {
		for wait := autoDelay; ; wait = autoInterval {
			timer := time.NewTimer(wait)
			select {
			case <-ctx.Done():
				timer.Stop()
				return
			case <-timer.C:
			}
			if f, err := autoUpdate(ctx, a); err != nil {
				a.Log.Warn("the automatic upgrade failed", "error", err)
			} else if f != nil {
				publish(lathe.Event{Fact: f})
			}
		}
	})
	return func() { cancel(); running.Wait() }
}

// autoUpdate looks for a newer version and installs it, as the config says, and returns the event that tells it.
func autoUpdate(ctx context.Context, a *cli.App) (lathe.Fact, error) {
	ctx, cancel := context.WithTimeout(ctx, autoTimeout)
	defer cancel()
	l, err := a.Config()
	if err != nil {
		return nil, err
	}
	var chosen struct {
		AutoUpdate json.RawMessage `json:"autoupdate"` // true, false or "notify": the config is checked
	}
	if err := json.Unmarshal(l.Config.Raw, &chosen); err != nil {
		return nil, err
	}
	mode := string(chosen.AutoUpdate)
	if mode != "true" && mode != `"notify"` {
		return nil, nil
	}
	at, err := datadir.Find(a.Env)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(at.State, "upgrade.json")
	last := readLastCheck(path)
	if age := a.Now().Sub(last.Checked.Std()); age >= 0 && age < autoInterval {
		return updateNotice(a, last.Latest), nil
	}
	source, err := openReleases(a, "")
	if err != nil {
		return nil, err
	}
	found, err := source.Find(ctx, "")
	if err != nil {
		return nil, err
	}
	if err := writeLastCheck(path, lastCheck{Checked: lathe.TimeOf(a.Now()), Latest: found.Version}); err != nil {
		return nil, err
	}
	in := howInstalled(a, "")
	if mode != "true" || in.Method != byBinary || !release.IsNewer(found.Version, a.Version) {
		return updateNotice(a, found.Version), nil
	}
	if err := replaceProgram(ctx, a, source, found, in.Path); err != nil {
		return nil, err
	}
	return &lathe.UpdateInstalled{Version: found.Version}, nil
}

// updateNotice tells a newer version, or nothing.
func updateNotice(a *cli.App, latest string) lathe.Fact {
	if v, err := release.CheckVersion(latest); err == nil && release.IsNewer(v, a.Version) {
		return &lathe.UpdateAvailable{Version: v}
	}
	return nil
}

// readLastCheck reads the result of the last check; an unreadable one counts as none.
func readLastCheck(path string) (out lastCheck) {
	data, err := os.ReadFile(path)
	if err != nil || json.Unmarshal(data, &out) != nil {
		return lastCheck{}
	}
	return out
}

func writeLastCheck(path string, c lastCheck) error {
	data, err := json.Marshal(c)
	if err != nil {
		return err
	}
	return atomicfile.Write(path, data)
}

// UpgradeFor returns the upgrade that a server offers to its clients: to a version, or to the latest for "".
func UpgradeFor(a *cli.App) func(ctx context.Context, version string) (string, error) {
	return func(ctx context.Context, version string) (string, error) {
		if version == "latest" {
			version = ""
		}
		if version != "" {
			v, err := release.CheckVersion(version)
			if err != nil {
				return "", err
			}
			version = v
		}
		in := howInstalled(a, version)
		if in.Method != byBinary {
			return "", lathe.Errorf(lathe.Unavailable, "lathe is %s; upgrade it with: %s", methodWords(in.Method), in.Upgrade)
		}
		source, err := openReleases(a, "")
		if err != nil {
			return "", err
		}
		found, err := source.Find(ctx, version)
		if err != nil {
			return "", err
		}
		if !wanted(found.Version, a.Version, version) {
			return a.Version, nil
		}
		return found.Version, replaceProgram(ctx, a, source, found, in.Path)
	}
}
