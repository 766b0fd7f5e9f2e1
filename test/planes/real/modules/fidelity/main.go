// Command fidelity answers what kube-scheduler's own plugins say about pods: one case a line on standard input, one answer a
// line on standard output, in the same order. What a case and an answer are is in test/fidelity/oracle.ts.
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
	// Everything that a case makes is garbage at once; memory is plenty.
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
		var asked question
		if err := json.Unmarshal(line, &asked); err != nil {
			return fmt.Errorf("case %d cannot be read: %w", number, err)
		}
		said, err := oracle.answer(ctx, &asked)
		if err != nil {
			said = &answer{Error: err.Error()}
		}
		if err := encoder.Encode(said); err != nil {
			return err
		}
		// Whoever asks one by one is not kept waiting; whoever asks for many is answered in large pieces.
		if lines.Buffered() == 0 {
			if err := answers.Flush(); err != nil {
				return err
			}
		}
	}
}
