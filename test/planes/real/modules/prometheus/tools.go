//go:build tools

// Package tools pins the promtool that the alerts of the chart are tested with.
package tools

import _ "github.com/prometheus/prometheus/cmd/promtool"
