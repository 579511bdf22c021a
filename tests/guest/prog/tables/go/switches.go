// SPDX-License-Identifier: GPL-2.0

// switches TURNS: goroutines at a known depth of calls that make Go's runtime return memory to the
// kernel (madvise) and get memory from it (mmap). The runtime does that on the stack of the thread.
package main

import (
	"os"
	"runtime/debug"
	"strconv"
	"sync"
)

var sink []byte

//go:noinline
func level(n int) int {
	if n > 0 {
		return level(n-1) + 1
	}
	sink = make([]byte, 8<<20)
	for i := 0; i < len(sink); i += 4096 {
		sink[i] = 1
	}
	sink = nil
	debug.FreeOSMemory()
	return 0
}

//go:noinline
func turns(n int) {
	for i := 0; i < n; i++ {
		level(7)
	}
}

func main() {
	var all sync.WaitGroup

	n, _ := strconv.Atoi(os.Args[1])
	all.Add(1)
	go func() {
		defer all.Done()
		turns(n)
	}()
	all.Wait()
}
