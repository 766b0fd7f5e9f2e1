//go:build tools

// Package tools pins the kwok that simulates the nodes of test planes.
package tools

import _ "sigs.k8s.io/kwok/cmd/kwok"
