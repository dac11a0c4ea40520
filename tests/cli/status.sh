#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The program's own end is told, and does not make the recording fail.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
need sqlite3

record "$act" exit 0
record "$act" exit 3
says '(status|code) 3'
[ "$(sqlite3 "$session" "SELECT value FROM meta WHERE key = 'exit'")" = $((3 << 8)) ] ||
    fail "the session does not know the status"
record "$act" kill 11
says 'signal 11|SIGSEGV|Segmentation'
record "$act" kill 15
says 'signal 15|SIGTERM|Terminated'

# What the program prints goes where it would have gone, and nothing else does.
record "$act" write 3
[ "$(cat "$out")" = finished ] || fail "standard output is not the program's own"
cd "$data"
echo 'enough' | timeout 60 "$FLOTSAM" record -o "$session" --dir "$data" -- "$act" ask \
    >"$out" 2>"$err" || fail "record failed with a pipe as its input"
prints '^heard enough$'
prints 'input is no terminal, output is no terminal'
