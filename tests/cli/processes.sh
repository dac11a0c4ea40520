#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Many processes, threads, children that die, and a program that goes on as a daemon.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
need jq

record "$act" many 60
has_events 72 '.call == "write" and .path == "all"'
same_tree

rm -f "$data"/*
record "$act" threads
has_events 200 '.call == "write" and .path == "data"'
same_tree

rm -f "$data"/*
record "$act" killed-child
has_events 2 '.call == "write" and .path == "data"'
same_tree

# The recording lasts as long as anything that the program started.
rm -f "$data"/*
record "$act" daemon
nothing_left_running
grep -q 'by the daemon' "$data/data" || fail "the recorder did not wait for the daemon"
same_tree
