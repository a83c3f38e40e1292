// Command torture repeatedly kills a process that runs turns, and checks that nothing was lost,
// done twice or left open.
//
// The parent plays the models and starts a child, itself under the name "child", that opens one
// database with an engine and works on twenty sessions at a time: tools that leave marks in
// files, tools that start subagents, permissions granted and denied, cancels, retries, and
// prompts in between. The child is killed at a random instant and started again, which resumes
// interrupted turns. At the end a last child finishes everything, and the parent checks the
// result.
//
// The seed fixes the times of the kills and the prompts, but not the scheduling in between, so
// a failure reproduces often rather than always.
//
// Start reading at campaign.go, then child.go; check.go says what must hold.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"time"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == childName {
		os.Exit(childMain(os.Args[2:]))
	}
	kills := flag.Int("kills", 1000, "how many times to kill")
	seed := flag.Uint64("seed", 0, "repeat the campaign with this seed; 0 takes a new one")
	latest := flag.Duration("latest", 400*time.Millisecond, "kill at the latest so long after the start")
	keep := flag.String("keep", "", "work in this folder, which must be empty, and leave it behind")
	flag.Parse()
	if *seed == 0 {
		*seed = uint64(time.Now().UnixNano()) % 1_000_000_000
	}
	if err := torture(os.Stdout, *seed, *kills, *latest, *keep); err != nil {
		fmt.Fprintln(os.Stderr, "torture:", err)
		os.Exit(1)
	}
}

// torture runs a campaign and prints what it counted.
func torture(out io.Writer, seed uint64, kills int, latest time.Duration, dir string) error {
	if dir == "" {
		var err error
		if dir, err = os.MkdirTemp("", "torture-"); err != nil {
			return err
		}
		defer os.RemoveAll(dir)
	}
	fmt.Fprintf(out, "torture: %d kills, seed %d\n", kills, seed)
	c, err := newCampaign(out, seed, dir)
	if err != nil {
		return err
	}
	defer c.close()
	if err := c.run(kills, latest); err != nil {
		return fmt.Errorf("seed %d: %w", seed, err)
	}
	if err := c.check(); err != nil {
		return fmt.Errorf("seed %d: %w", seed, err)
	}
	if n := c.count; kills > 0 && (n.prompts == 0 || n.completed == 0 || n.cut == 0 || n.recovered == 0 || n.children == 0) {
		c.violation("nothing was cut off: the machine is too slow for the instants of the kills, or all is broken")
	}
	c.count.print(out, kills)
	if n := len(c.wrong); n > 0 {
		for _, w := range c.wrong[:min(n, 40)] {
			fmt.Fprintln(out, "VIOLATION", w)
		}
		return fmt.Errorf("seed %d: %d violations", seed, n)
	}
	fmt.Fprintln(out, "no violation")
	return nil
}
