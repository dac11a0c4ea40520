#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Every event's stack of real programs equals what libdw's own unwinder gives for it, whether they
# were built with optimisation or without. Only the end of a thread has no stack, nor has the
# recorder's own exec that starts the program.
#
#     stacks.sh [NAME...]        leveldb and leveldb-O0, or programs of this folder that are named
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
need jq

if [ $# -eq 0 ]; then
    set -- leveldb leveldb-O0
fi
for name; do
    rm -rf "$data"
    mkdir "$data"
    began=$SECONDS
    run 0 "$FLOTSAM" record --verify-stacks -o "$session" --dir "$data" -- \
        "$O/tests/real/$name" "$data"
    says 'stacks: [0-9]+ equal to libdw.s, 0 different'
    equal=$(sed -nE 's/.*stacks: ([0-9]+) equal.*/\1/p' "$err")
    [ "$equal" -ge 1000 ] || fail "$name: no more than $equal stacks"
    has_events "$((equal - 1))" '(.stack | length) > 0'
    has_events 0 '(.stack | length) == 0 and .call != "exit" and .event != 1'
    echo "$name: $equal stacks are libdw's ($((SECONDS - began)) s)"
done
