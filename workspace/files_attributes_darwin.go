package workspace

import "strings"

// vouches is false: signatures of programs are in their content here.
func vouches(string) bool { return false }

// mustKeep says that an attribute is the user's; the system sets some of its own by itself.
func mustKeep(name string) bool { return !strings.HasPrefix(name, "com.apple.") }

func dropForeign(int, []string) error { return nil }
