// SPDX-License-Identifier: GPL-2.0
//
// calls: system calls of a Go program, 12 functions deep, in two threads
package main

import (
	"runtime"
	"syscall"
)

//go:noinline
func callAt(depth int) int {
	if depth > 0 {
		return callAt(depth-1) + 1
	}
	return syscall.Getppid()
}

func main() {
	done := make(chan bool)

	go func() {
		runtime.LockOSThread()
		for i := 0; i < 20; i++ {
			callAt(10)
		}
		done <- true
	}()
	for i := 0; i < 20; i++ {
		callAt(10)
	}
	<-done
}
