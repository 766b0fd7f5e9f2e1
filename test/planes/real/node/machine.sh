#!/bin/sh
# The first process of a machine that is namespaces: `machine.sh <file to make when it is set up> <address>...`. All others end with
# it, and with them every mount and every interface.
set -eu
ready=$1
shift
# What programs of a node put at fixed places stays in here.
for folder in /run /var/lib /var/log; do mount -t tmpfs -o mode=755 tmpfs "$folder"; done
ip link set lo up
for address in "$@"; do ip address add "$address/32" dev lo; done
touch "$ready"
# It also gathers what processes leave behind when their parents end.
while :; do
  sleep 3600 &
  wait
done
