// Command ends exits while another goroutine prints.
package main

import (
	"fmt"
	"os"
	"time"
)

func main() {
	go func() {
		time.Sleep(5 * time.Millisecond)
		os.Exit(3)
	}()
	for {
		fmt.Println("on the way")
	}
}
