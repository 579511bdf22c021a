// SPDX-License-Identifier: GPL-2.0
// Go: goroutines, a defer that recovers, and cgo: its C code has CFI, and Go's own code has no CFI
package main

// #include <stdlib.h>
// static int twice(int n) { return n > 1000 ? abort(), 0 : 2 * n; }
import "C"

import (
	"fmt"
	"sync"
)

func risky(n int) (ret int) {
	defer func() {
		if recover() != nil {
			ret = -1
		}
	}()
	values := []int{1, 2, 3}
	return values[n]
}

func main() {
	var group sync.WaitGroup
	for i := 0; i < 8; i++ {
		group.Add(1)
		go func(n int) {
			defer group.Done()
			fmt.Println(risky(n), C.twice(C.int(n)))
		}(i)
	}
	group.Wait()
}
