//go:build !linux

package main

// oldKernel is for Linux alone.
func oldKernel() { panic("no Linux") }
