// Package key owns the keybinds: the names in the config, their defaults, the notation of keys, and
// the matching of keys from the terminal.
//
// Terminals differ. One with the Kitty protocol tells every modifier; an old one sends the same byte for
// several keys and cannot send others at all. Match knows the usual differences, so that its callers need not.
//
// A Map does not change once it is made and may be used by many at once. Start with New in map.go; keys.txt has
// the defaults.
package key
