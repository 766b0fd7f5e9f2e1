//go:build tools

// Package tools pins the scheduler and the PodGroup controller of scheduler-plugins, the peers of the benchmarks.
package tools

import (
	_ "sigs.k8s.io/scheduler-plugins/cmd/controller"
	_ "sigs.k8s.io/scheduler-plugins/cmd/scheduler"
)
