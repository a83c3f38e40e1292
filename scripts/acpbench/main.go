// Command acpbench measures `lathe acp` as an editor sees it: the time from the start of the process to the answer to
// initialize, the time of session/new, and the memory at rest. It prints the best of several runs.
//
//	go run ./scripts/acpbench -lathe bin/lathe
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/lathe-agent/lathe/scripts/procstat"
)

func main() {
	lathe := flag.String("lathe", "bin/lathe", "the program")
	runs := flag.Int("runs", 10, "how often")
	flag.Parse()
	if err := run(*lathe, *runs); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// figures are the results of one run.
type figures struct {
	initialize, newSession time.Duration
	rest                   float64 // MB
}

func run(lathe string, runs int) error {
	home, err := os.MkdirTemp("", "acpbench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(home)
	var best figures
	for i := range runs {
		f, err := measure(lathe, home)
		if err != nil {
			return err
		}
		if i == 0 {
			continue // it makes the database
		}
		if i == 1 {
			best = f
		}
		best = figures{min(best.initialize, f.initialize), min(best.newSession, f.newSession), min(best.rest, f.rest)}
	}
	fmt.Printf("acp:initialize 1 %.2f ms\nacp:new 1 %.2f ms\nacp:rest 1 %.1f MB\n",
		float64(best.initialize.Microseconds())/1000, float64(best.newSession.Microseconds())/1000, best.rest)
	return nil
}

func measure(lathe, home string) (f figures, err error) {
	cmd := exec.Command(lathe, "acp")
	cmd.Env = append(cmd.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+home, "XDG_DATA_HOME="+home, "LATHE_DATA="+filepath.Join(home, "data"))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return f, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return f, err
	}
	r := bufio.NewReaderSize(out, 1<<20)
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return f, err
	}
	defer func() {
		_ = in.Close()
		_ = cmd.Wait()
	}()
	ask := func(line string) error {
		if _, err := fmt.Fprintln(in, line); err != nil {
			return err
		}
		for {
			text, err := r.ReadBytes('\n')
			if err != nil {
				return err
			}
			var m struct {
				ID     int
				Result json.RawMessage
			}
			if json.Unmarshal(text, &m) == nil && m.ID != 0 {
				if m.Result == nil {
					return fmt.Errorf("%s", text)
				}
				return nil
			}
		}
	}
	if err := ask(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}`); err != nil {
		return f, err
	}
	f.initialize = time.Since(began)
	time.Sleep(100 * time.Millisecond) // an editor makes its window in this time
	began = time.Now()
	if err := ask(`{"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":"` + home + `","mcpServers":[]}}`); err != nil {
		return f, err
	}
	f.newSession = time.Since(began)
	time.Sleep(200 * time.Millisecond)
	f.rest = procstat.Memory(cmd.Process.Pid)
	return f, nil
}
