//go:build tools

// Package tools pins the etcd that stores the objects of real API servers on test planes.
package tools

import _ "go.etcd.io/etcd/server/v3"
