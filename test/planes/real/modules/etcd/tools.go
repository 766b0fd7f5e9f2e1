//go:build tools

// Package tools pins the etcd that test planes of a real API server store their objects in.
package tools

import _ "go.etcd.io/etcd/server/v3"
