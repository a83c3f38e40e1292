package release

import (
	"errors"
	"os"
	"strconv"
	"time"
)

// keepOld renames the old program, which may run, and puts the new one into its place; if that fails, it renames
// the old one back.
func keepOld(program, fresh, _, before string) error {
	if err := os.Remove(before); err != nil && !errors.Is(err, os.ErrNotExist) {
		// A process still runs it: it can be renamed, and a later upgrade removes nothing of it.
		if err := os.Rename(before, before+"."+strconv.FormatInt(time.Now().UnixNano(), 36)); err != nil {
			return err
		}
	}
	if err := os.Rename(program, before); err != nil {
		return err
	}
	if err := os.Rename(fresh, program); err != nil {
		return errors.Join(err, os.Rename(before, program))
	}
	return nil
}
