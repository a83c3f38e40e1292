//go:build !linux

package main

// languageServer plays a language server for tests that need Linux.
func languageServer() { panic("no Linux") }
