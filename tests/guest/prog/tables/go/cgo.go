// SPDX-License-Identifier: GPL-2.0
//
// cgo: goroutines that call C, which sleeps and calls Go. As a library, it is goRun().
package main

/*
#include <unistd.h>

extern void goBack(void);

static void rest(int calls)
{
	usleep(1000);
	if (calls)
		goBack();
}
*/
import "C"

import (
	"sync"
	"syscall"
	"time"
)

//export goBack
func goBack() {
	syscall.Getppid()
	time.Sleep(time.Millisecond)
}

//go:noinline
func callC(calls int) {
	C.rest(C.int(calls))
}

//export goRun
func goRun() {
	var all sync.WaitGroup

	for i := 0; i < 4; i++ {
		all.Add(1)
		go func(n int) {
			defer all.Done()
			for j := 0; j < 50; j++ {
				callC(n & 1)
				syscall.Getppid()
			}
		}(i)
	}
	all.Wait()
}

func main() {
	goRun()
}
