// Command fidelity runs kube-scheduler's own plugins: it reads one question per line from standard input and writes one answer
// per line to standard output, in the same order. test/fidelity/question.ts defines questions and answers.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime/debug"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
)

func main() {
	// Everything that a question allocates is garbage at once, and there is plenty of memory.
	debug.SetGCPercent(800)
	logger := logr.Discard()
	klog.SetLogger(logger)
	ctx := klog.NewContext(context.Background(), logger)
	if err := run(ctx, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, input io.Reader, output io.Writer) error {
	oracle, err := newOracle(ctx)
	if err != nil {
		return err
	}
	lines := bufio.NewReaderSize(input, 1<<20)
	answers := bufio.NewWriterSize(output, 1<<20)
	encoder := json.NewEncoder(answers)
	for number := 1; ; number++ {
		line, err := lines.ReadBytes('\n')
		if err == io.EOF && len(line) == 0 {
			return answers.Flush()
		}
		if err != nil && err != io.EOF {
			return err
		}
		var q question
		if err := json.Unmarshal(line, &q); err != nil {
			return fmt.Errorf("cannot parse question %d: %w", number, err)
		}
		ans, err := oracle.answer(ctx, &q)
		if err != nil {
			ans = &answer{Error: err.Error()}
		}
		if err := encoder.Encode(ans); err != nil {
			return err
		}
		// Answer single questions at once, and batches of questions in large writes.
		if lines.Buffered() == 0 {
			if err := answers.Flush(); err != nil {
				return err
			}
		}
	}
}
