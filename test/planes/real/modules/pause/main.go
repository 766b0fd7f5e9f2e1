// Command pause waits for SIGTERM or SIGINT, or as long as its argument says. Containers of test planes run it.
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
	// The process with id 1 ends at a signal only if it handles it.
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	fmt.Println("waiting")
	select {
	case <-over:
	case <-signals:
	}
}
