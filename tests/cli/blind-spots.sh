#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# What a recorder of system calls cannot see is said: stores to shared mappings, with the advice
# that helps, and io_uring, which is refused so that programs fall back.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
need jq

for what in '' code; do
    record "$act" map ${what:+"$what"}
    says 'maps files of the data directory'
    says 'store tracer'
    run 0 "$FLOTSAM" trace "$session"
    cat "$err" >>"$out"
    prints 'mmap +mapped.*writable'
done

rm -f "$data"/*
record "$act" uring
[ "$(cat "$data/data")" = "fell back" ] || fail "io_uring was not refused with ENOSYS"
run 0 "$FLOTSAM" trace "$session"
cat "$err" >>"$out"
prints 'io_uring'
same_tree
