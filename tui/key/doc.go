// Package key owns what keys do: the names that settings know, their defaults, how keys are written, and
// whether a key that a terminal sent is one of them.
//
// Terminals differ. One with the Kitty protocol tells every modifier; an old one sends the same byte for
// several keys and cannot send others at all. Match knows the usual differences, so that nobody else has to.
//
// A Map does not change once it is made and may be used by many at once. Start with New in map.go; keys.txt has
// the defaults.
package key
