// Command docs writes the parts of docs/settings.md that are lists of keys: what the tables of config say,
// which is what the program goes by.
//
//	go run ./scripts/docs           writes the page, in the folder of the module
//	go run ./scripts/docs -check    ends with 1 if it is not what the code says
//
// The prose of the page is written by hand; a list stands between two comments that name it.
//
// Start reading here; keys.go makes the lists.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"

	"github.com/lathe-agent/lathe/config"
)

func main() {
	check := flag.Bool("check", false, "only look")
	page := flag.String("page", "docs/settings.md", "the page")
	flag.Parse()
	if err := run(*page, *check); err != nil {
		fmt.Fprintln(os.Stderr, "docs:", err)
		os.Exit(1)
	}
}

func run(path string, check bool) error {
	src, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	page, err := filled(string(src))
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	switch {
	case page == string(src):
		return nil
	case check:
		return errors.New(path + " is not what the code says: run `make docs`")
	default:
		return os.WriteFile(path, []byte(page), 0o644)
	}
}

// filled is the page with every list as the code has it.
func filled(page string) (string, error) {
	for name, keys := range map[string][]config.Setting{"settings": config.Keys(), "tui": config.TUIKeys()} {
		begin, end := "<!-- keys of "+name+": written by make docs -->\n", "<!-- end of keys -->\n"
		before, rest, ok := strings.Cut(page, begin)
		if !ok {
			return "", fmt.Errorf("the line %q is missing", strings.TrimSpace(begin))
		}
		_, after, ok := strings.Cut(rest, end)
		if !ok {
			return "", fmt.Errorf("the line %q is missing", strings.TrimSpace(end))
		}
		page = before + begin + lists(name, keys) + end + after
	}
	return page, nil
}
