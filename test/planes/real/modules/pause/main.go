// Command pause waits until it is told to end, or as long as its argument says: what containers of test planes run.
package main

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	var over <-chan time.Time
	if len(os.Args) > 1 {
		duration, err := time.ParseDuration(os.Args[1])
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		over = time.After(duration)
	}
	// A process with the number 1 ends by a signal only if it asks for it.
	told := make(chan os.Signal, 1)
	signal.Notify(told, syscall.SIGTERM, syscall.SIGINT)
	fmt.Println("waiting")
	select {
	case <-over:
	case <-told:
	}
}
