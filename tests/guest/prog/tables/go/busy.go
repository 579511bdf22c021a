// SPDX-License-Identifier: GPL-2.0

// busy SECONDS: goroutines that sort, hash, format and pass values to each other. Go keeps frame
// pointers, and has no .eh_frame.
package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"sort"
	"strconv"
	"sync"
	"time"
)

type tree struct {
	left, right *tree
	key         int
}

func (t *tree) insert(key int) *tree {
	if t == nil {
		return &tree{key: key}
	}
	if key < t.key {
		t.left = t.left.insert(key)
	} else {
		t.right = t.right.insert(key)
	}
	return t
}

func (t *tree) sum() int {
	if t == nil {
		return 0
	}
	return t.left.sum() + t.key + t.right.sum()
}

func work(seed int) string {
	var t *tree
	v := make([]int, 2000)
	for i := range v {
		seed = seed*1103515245 + 12345
		v[i] = seed >> 16 & 0xffff
		t = t.insert(v[i])
	}
	sort.Slice(v, func(a, b int) bool { return v[a] < v[b] })
	return fmt.Sprintf("%x %d %d", sha256.Sum256([]byte(fmt.Sprint(v))), t.sum(), v[0])
}

func main() {
	seconds, _ := strconv.Atoi(os.Args[1])
	end := time.Now().Add(time.Duration(seconds) * time.Second)
	results := make(chan string)
	var all sync.WaitGroup
	for i := 0; i < 4; i++ {
		all.Add(1)
		go func(seed int) {
			defer all.Done()
			for ; time.Now().Before(end); seed++ {
				results <- work(seed)
			}
		}(i)
	}
	go func() {
		all.Wait()
		close(results)
	}()
	n := 0
	for r := range results {
		n += len(r)
	}
	fmt.Println(n)
}
