#!/bin/sh
# The first process of a machine made of namespaces: `machine.sh <file to create when ready> <address>...`. When it ends, all other
# processes end, and all mounts and interfaces disappear.
set -eu
ready=$1
shift
# Programs of a node write to these fixed places; keep that inside.
for folder in /run /var/lib /var/log; do mount -t tmpfs -o mode=755 tmpfs "$folder"; done
ip link set lo up
for address in "$@"; do ip address add "$address/32" dev lo; done
touch "$ready"
# It also reaps orphaned processes.
while :; do
  sleep 3600 &
  wait
done
