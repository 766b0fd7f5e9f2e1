//go:build tools

// Package tools pins the promtool that tests the alerts of the chart.
package tools

import _ "github.com/prometheus/prometheus/cmd/promtool"
